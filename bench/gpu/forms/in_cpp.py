"""The kernels of kernels.cu, compiled by nvcc to a cubin, or by NVRTC as CuPy does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import atoll
import atoll.cupy as dev
import cupy
import numpy as np

SOURCE = Path(__file__).with_name("kernels.cu")


def launches(arrays: Any, cubin: str | None = None) -> Callable[[Any], Callable[[int, int], None] | None]:
    cupy.cuda.Device(arrays.gpu).use()
    module = cupy.RawModule(path=cubin) if cubin else dev.RawModule(SOURCE.read_text())
    team = dev.team(atoll.WORLD)
    memory = atoll.zeros(dev.mailbox_bytes(atoll.n_pes(), arrays.room), np.uint8, device="cuda")
    box = dev.mailbox(memory, arrays.room)
    stream = cupy.cuda.ExternalStream(arrays.stream)
    flag = arrays.flag.cupy()

    def launch_of(row: Any) -> Callable[[int, int], None] | None:
        try:
            kernel = module.get_function(row.kernel)
        except cupy.cuda.driver.CUDADriverError:  # this cubin has no kernel of the row
            return None
        values: list[Any] = [x.cupy() for x in arrays.of(row)]
        if row.is_tiled:
            values.append(np.int32(row.rows))
        elif values:
            values.append(row.nbytes // 4)
        if row.kernel in ("messages", "ways"):
            values.insert(0, box)

        def launch(first: int, rounds: int) -> None:
            last = (flag, first, np.int32(rounds)) if row.is_numbered else (np.int32(rounds),)
            with stream:
                kernel((1,), (row.threads,), (team, *values, *last))

        launch.keeps = memory  # type: ignore[attr-defined]
        return launch

    return launch_of
