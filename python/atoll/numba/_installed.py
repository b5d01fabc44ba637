"""Checks that Numba is installed, in a supported version."""

from .._versions import need

need("atoll.numba", "numba")
