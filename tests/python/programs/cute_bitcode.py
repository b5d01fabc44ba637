"""A kernel in CuTe DSL that calls NVSHMEM's functions by its bitcode, declared with `@cute.extern` as NVSHMEM4Py does.

    cute_bitcode.py [ptx FILE]

Without a word it runs on the GPUs of a job. With `ptx` it is compiled with the bitcode in FILE, which needs no GPU but
CUTE_DSL_ARCH and CUTE_DSL_KEEP=ptx.
"""

import sys
from typing import Any

import atoll.compat

atoll.compat.install("nvshmem")

import cutlass.cute as cute  # noqa: E402
import nvshmem.core  # noqa: E402
from cutlass import Int32, Int64, Uint64  # noqa: E402

PTX = sys.argv[1:2] == ["ptx"]
BITCODE = cute.BitCode(sys.argv[2] if PTX else nvshmem.core.find_device_bitcode_library())
COUNT = 1024
SIGNAL_SET, CMP_EQ = 9, 0


@cute.extern(name="nvshmem_my_pe", source=BITCODE)
def my_pe() -> Int32: ...


@cute.extern(name="nvshmem_n_pes", source=BITCODE)
def n_pes() -> Int32: ...


@cute.extern(name="nvshmemx_putmem_signal_block", source=BITCODE)
def putmem_signal_block(
    dst: Int64, src: Int64, size: Uint64, signal: Int64, value: Uint64, op: Int32, pe: Int32
) -> None: ...


@cute.extern(name="nvshmem_signal_wait_until", source=BITCODE)
def signal_wait_until(signal: Int64, comparison: Int32, value: Uint64) -> Uint64: ...


@cute.kernel
def shift(dst: cute.Tensor, src: cute.Tensor, signal: cute.Tensor, size: Int32):
    right = (my_pe() + 1) % n_pes()
    where = signal.iterator.toint()
    putmem_signal_block(
        dst.iterator.toint(), src.iterator.toint(), Uint64(size), where, Uint64(1), Int32(SIGNAL_SET), right
    )
    signal_wait_until(where, Int32(CMP_EQ), Uint64(1))


@cute.jit
def launch(dst: cute.Tensor, src: cute.Tensor, signal: cute.Tensor, size: Int32):
    shift(dst, src, signal, size).launch(grid=[1, 1, 1], block=[128, 1, 1])


def compiled() -> Any:
    from cutlass.cute.runtime import make_fake_compact_tensor

    tensors = [
        make_fake_compact_tensor(kind, (n,)) for kind, n in ((Int32, COUNT), (Int32, COUNT), (Int64, 1))
    ]
    return cute.compile(launch, *tensors, Int32(4 * COUNT))


def run() -> None:
    import cupy
    from cutlass.cute.runtime import from_dlpack
    from nvshmem.core.interop.cute import cute_compile_helper

    nvshmem.core.init(initializer_method="mpi")
    me, n = nvshmem.core.my_pe(), nvshmem.core.n_pes()
    dst, src = (nvshmem.core.array((COUNT,), dtype="int32") for _ in range(2))
    signal = nvshmem.core.array((1,), dtype="int64")
    cupy.cuda.Device(dst.device.id).use()
    src[:] = cupy.arange(COUNT, dtype="int32") + 1000 * me
    cupy.cuda.runtime.deviceSynchronize()
    arguments = [*(from_dlpack(x) for x in (dst, src, signal)), Int32(4 * COUNT)]
    kernel, made = cute_compile_helper(launch, *arguments)
    nvshmem.core.barrier_all()
    kernel(*arguments)
    cupy.cuda.runtime.deviceSynchronize()
    assert (dst == cupy.arange(COUNT) + 1000 * ((me - 1) % n)).all(), dst
    nvshmem.core.barrier_all()
    nvshmem.core.library_finalize(made)
    nvshmem.core.finalize()


if PTX:
    text = compiled().__ptx__
    print(
        ".visible .const .align 8 .b8 nvshmemi_device_state_d[4160]" in text,
        "call.uni nvshmemx_putmem_signal_block" in text,
    )
else:
    run()
