"""Triton's kernels compiled for a GPU on a machine without one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from atoll._device import DeviceTeam

TEAM = DeviceTeam("i32", "i32", "i64", "i64", "i32", "i32", "i32", "i64", "i64", "i64")  # type: ignore[arg-type]


def load(module: Path) -> Any:
    """Import a file: Triton reads the source of what it compiles, so generated kernels must be in a file."""
    spec = importlib.util.spec_from_file_location(module.stem, module)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
