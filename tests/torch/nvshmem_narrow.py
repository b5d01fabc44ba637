"""Reductions by nvshmem.core of tensors on the host whose types NumPy has not."""

import nvshmem.core as nvshmem
import torch
from nvshmem.core import Teams

nvshmem.init()
me, n = nvshmem.my_pe(), nvshmem.n_pes()
for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
    x, y = nvshmem.tensor((2 * n,), dtype=dtype), nvshmem.tensor((2 * n,), dtype=dtype)
    x.copy_(torch.arange(2 * n) % 3 + me)
    for op, expected in (("sum", n * (n - 1) / 2), ("max", n - 1), ("min", 0)):
        nvshmem.reduce(Teams.TEAM_WORLD, y, x, op)
        base = torch.arange(2 * n) % 3 * (n if op == "sum" else 1)
        assert torch.equal(y.float(), (base + float(expected)).to(dtype).float()), (dtype, op, y)
    part = nvshmem.tensor((2,), dtype=dtype)
    nvshmem.reducescatter(Teams.TEAM_WORLD, part, x, "sum")
    nvshmem.reduce(Teams.TEAM_WORLD, y, x, "sum")
    assert torch.equal(part.float(), y[2 * me : 2 * me + 2].float())
    for kind in ("float32", "int16", "uint8"):  # integers of the same size, too
        other = nvshmem.tensor((2 * n,), dtype=kind)
        for dst, src in ((y, other), (other, y)):
            try:
                nvshmem.reduce(Teams.TEAM_WORLD, dst, src, "sum")
            except nvshmem.NvshmemInvalid as error:
                assert "they must be the same" in error.msg
            else:
                raise AssertionError(f"{dtype} and {kind} were accepted")
nvshmem.barrier_all()
nvshmem.finalize()
print("done", flush=True)
