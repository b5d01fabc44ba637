"""Arrays of CuPy and tensors of PyTorch in memory for windows."""
