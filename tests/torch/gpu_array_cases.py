"""Cases of distributed arrays on GPUs, which go to DTensor and back."""

from __future__ import annotations

import importlib.util

import atoll
import numpy as np
import torch.distributed as dist
from atoll import arrays
from ranks import Ranks, case


@case
def distributed_arrays_of_gpus_to_dtensors_and_back(ranks: Ranks) -> None:
    texts = [atoll.get_unique_id() if ranks.rank == 0 else None]
    dist.broadcast_object_list(texts, 0, group=ranks.gloo)
    atoll.init(uid=texts[0], pe=ranks.rank, n_pes=ranks.size)
    whole = np.arange(12 * ranks.size, dtype="f4").reshape(4 * ranks.size, 3)
    for xp in filter(importlib.util.find_spec, ("torch", "cupy")):
        for shares, distribution in ((True, {}), (False, {"halo": 1}), (False, {"dist": "cyclic"})):
            a = arrays.from_array(whole, device="cuda", xp=xp, **distribution)
            tensor = arrays.to_dtensor(a)
            local = tensor.to_local()
            where = a.local.data_ptr() if xp == "torch" else a.local.data.ptr
            assert local.is_cuda and (local.data_ptr() == where) == shares, (xp, distribution)
            assert np.array_equal(tensor.full_tensor().cpu().numpy(), whole), (xp, distribution)
            b = arrays.from_dtensor(tensor * 2, device="cuda", xp=xp)
            assert np.array_equal(b.to_numpy(), 2 * whole), (xp, distribution)
    atoll.finalize()
