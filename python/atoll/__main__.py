"""python -m atoll ARGUMENTS: the program `atoll` with this Python's package."""

import os
import sys

from ._launching.launch import launcher_path


def main() -> None:
    path = launcher_path()
    os.environ.setdefault("ATOLL_PYTHON", sys.executable)
    os.execv(path, [path, *sys.argv[1:]])


main()
