"""The kernels of in_cute.py, compiled by that program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atoll
import atoll.cupy as dev
import cupy
import numpy as np


def launches(arrays: Any, folder: str) -> Callable[[Any], Callable[[int, int], None] | None]:
    cupy.cuda.Device(arrays.gpu).use()
    entries = json.loads((Path(folder) / "entries.json").read_text())
    fields = dev.team(atoll.WORLD)
    team = [fields[name][()] for name in fields.dtype.names]  # CuTe's kernels take a team's fields one by one
    memory = atoll.zeros(dev.mailbox_bytes(atoll.n_pes(), arrays.room), np.uint8, device="cuda")
    stream = cupy.cuda.ExternalStream(arrays.stream)

    def launch_of(row: Any) -> Callable[[int, int], None] | None:
        if row.key not in entries:
            return None
        module = cupy.RawModule(path=str(Path(folder) / f"{row.key}.bin"))
        kernel = module.get_function(entries[row.key])
        addresses = [x.__cuda_array_interface__["data"][0] for x in (memory, *arrays.of(row), arrays.flag)]
        box, *moved, flag = (np.uint64(address) for address in addresses)
        first_of = (box, arrays.room) if row.kernel in ("messages", "ways") else ()

        def launch(first: int, rounds: int) -> None:
            last = (flag, first, np.int32(rounds)) if row.is_numbered else (np.int32(rounds),)
            with stream:
                kernel((1,), (row.threads,), (*team, *first_of, *moved, *last))

        return launch

    return launch_of
