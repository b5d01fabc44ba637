"""python -m atoll._top, which `atoll top` starts."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
