"""tests/python/programs/compiled.py on tensors of GPUs."""

import runpy
import sys
from pathlib import Path

sys.argv = ["compiled.py", "cuda"]
runpy.run_path(str(Path(__file__).parents[1] / "python/programs/compiled.py"), run_name="__main__")
