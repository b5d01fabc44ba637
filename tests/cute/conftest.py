"""Fixtures of the Python tests that test_cute.py uses."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
