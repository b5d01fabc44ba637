"""Whether Numba is there, and new enough."""

from .._versions import need

need("atoll.numba", "numba")
