"""The functions of NumPy for distributed arrays, and the reductions of their parts."""
