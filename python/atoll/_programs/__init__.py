"""Comforts for programs: output in order, phases, progress bars, pdb and NVTX."""
