"""Distributed arrays in files: raw and NumPy's, containers, checkpoints."""
