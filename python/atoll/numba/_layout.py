"""Where the words of a team's control block stand (atoll/device/control.hpp), as the library says."""

from __future__ import annotations

from .._atoll import _kernel_layout

AT = _kernel_layout()
