"""Parts that only Numba needs: its compilers and targets, and the primitives of hosts and GPUs."""
