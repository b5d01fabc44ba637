"""Parts that only Triton needs: functions of its interpreter in place of PTX, None in compiled kernels."""

# mypy: ignore-errors
from __future__ import annotations

from .._types import INTERPRETED

if INTERPRETED:
    from ._interpreted import begin_event, end_event, pause, refuse_address, refuse_pe
else:  # Triton resolves every name in a function that it compiles
    begin_event = end_event = pause = refuse_pe = refuse_address = None

__all__ = ["begin_event", "end_event", "pause", "refuse_address", "refuse_pe"]
