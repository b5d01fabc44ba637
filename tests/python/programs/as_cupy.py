"""Runs a program with NumPy in the place of CuPy, for arrays on the host: as_cupy.py PROGRAM."""

import runpy
import sys

import numpy

sys.modules["cupy"] = numpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
