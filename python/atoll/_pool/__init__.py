"""Pools of PEs that stay alive between calls: the caller's side, and the program of a PE (pe.py)."""
