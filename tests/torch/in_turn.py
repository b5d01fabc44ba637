"""Runs programs one after another in each PE, which imports PyTorch once.

    atoll run -n N python in_turn.py PROGRAM...

Each program makes and destroys its world. A line "== NAME" of PE 0 comes before its output.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

for program in sys.argv[1:]:
    if os.environ["RANK"] == "0":
        print("==", Path(program).name, flush=True)
    sys.argv, sys.path[0] = [program], str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")
