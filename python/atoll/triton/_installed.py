"""Whether Triton is there, and new enough."""

from .._versions import need

need("atoll.triton", "triton")
