"""Runs programs one after another in each PE, which imports PyTorch once.

    atoll run -n N python in_turn.py PROGRAM...

Each program makes and destroys its world. A line "== PROGRAM" of PE 0 comes before its output.
"""

from __future__ import annotations

import os
import sys

from forked import run_in_turn

run_in_turn(sys.argv[1:], int(os.environ["RANK"]))
