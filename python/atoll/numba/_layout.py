"""Offsets in a team's control block (atoll/device/control.hpp), from the library."""

from __future__ import annotations

from .._atoll import _kernel_layout

AT = _kernel_layout()
