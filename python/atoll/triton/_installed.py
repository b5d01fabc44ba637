"""Checks that Triton is installed, in a supported version."""

from .._versions import need

need("atoll.triton", "triton")
