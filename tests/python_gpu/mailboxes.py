"""atoll.Mailbox(device="cuda") with CuPy and PyTorch: their arrays and streams, and kernels of CuPy in the
same mailbox.

Also a ping-pong in a graph that is replayed.
"""

import atoll
import atoll.cupy
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
device = atoll.zeros(1, device="cuda").device

try:
    import torch

    torch.cuda.set_device(device)
except ImportError:
    torch = None
try:
    import cupy

    cupy.cuda.Device(device).use()
except ImportError:
    cupy = None
print(
    f"PE {me}: CuPy {cupy.__version__ if cupy else 'missing'}, PyTorch {torch.__version__ if torch else 'missing'}"
)

if cupy is None and torch is None:
    raise SystemExit("neither CuPy nor PyTorch is installed: nothing was tested")

box = atoll.Mailbox(65536, slots=4, device="cuda")
SIZES = (8, 64, 1024, 4096, 65536)


def rings(make, numpy_of, stream, finish):
    """Send messages of every size, more than there are slots, in a library's arrays, symmetric or its own."""
    count = make(1, "int64")
    for nbytes in SIZES:
        x, y = make(nbytes // 8, "float64"), make(nbytes // 8, "float64")
        for round in range(20):
            x[:] = 1000.0 * round + me
            finish()
            box.post(x, right, stream=stream)
            box.receive(y, left, stream=stream, count=count)
            finish()
            assert (numpy_of(y) == 1000.0 * round + left).all(), (me, nbytes, round)
            assert int(numpy_of(count)[0]) == nbytes // 8
            box.post(x, right)
            assert box.receive(y, left) == nbytes // 8


if cupy is not None:
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        rings(cupy.zeros, cupy.asnumpy, stream, stream.synchronize)
        rings(cupy.zeros, cupy.asnumpy, "current", stream.synchronize)

    code = r"""
    #include <atoll/device/device.hpp>
    namespace dev = atl::device;
    extern "C" __global__ void send(dev::Team team, dev::Mailbox box, const double* src, long long n, long long pe) {
        dev::post(team, box, src, n, (int)pe, dev::Block{});
    }
    extern "C" __global__ void take(dev::Team team, dev::Mailbox box, double* dst, long long n, long long pe) {
        dev::receive(team, box, dst, n, (int)pe, dev::Block{});
    }
    """
    module = atoll.cupy.RawModule(code)
    send, take, in_kernels = module.get_function("send"), module.get_function("take"), atoll.cupy.mailbox(box)
    with stream:
        for nbytes in SIZES:
            x, y = cupy.zeros(nbytes // 8), cupy.zeros(nbytes // 8)
            for round in range(24):
                x[:] = 1000.0 * round + me
                if round % 2 == 0:
                    atoll.cupy.launch(send, 1, 128, atoll.WORLD, in_kernels, x, len(x), right)
                else:
                    box.post(x, right, stream=stream)
                if round % 3 == 0:
                    atoll.cupy.launch(take, 1, 128, atoll.WORLD, in_kernels, y, len(y), left)
                else:
                    box.receive(y, left, stream=stream if round % 3 == 1 else None)
                stream.synchronize()
                assert (y.get() == 1000.0 * round + left).all(), (me, nbytes, round)
    # Kernels take all slots: the host finds none free until kernels read.
    with atoll.Mailbox(64, device="cuda") as narrow, stream:
        in_kernels, x, y = atoll.cupy.mailbox(narrow), cupy.full(8, me + 1.0), cupy.zeros(8)
        for _ in range(8):
            atoll.cupy.launch(send, 1, 32, atoll.WORLD, in_kernels, x, len(x), right)
        stream.synchronize()
        try:
            narrow.post(x, right, timeout=0.02)
            raise AssertionError("posted where there is no room")
        except atoll.Timeout as error:
            assert "mailbox post" in str(error) and f"waiting for PE {right}" in str(error), error
        atoll.barrier_all()
        for _ in range(8):
            atoll.cupy.launch(take, 1, 32, atoll.WORLD, in_kernels, y, len(y), left)
        narrow.post(x[:4], right, timeout=600)
        stream.synchronize()
        assert narrow.receive(y, left) == 4 and (y.get() == left + 1).all()
    print(f"PE {me}: CuPy's kernels, streams and the host in one mailbox")


def ping_pong(x, add, stream):
    other = me ^ 1
    if other >= n:
        return
    if me % 2 == 0:
        add(x)
        box.post(x, other, stream=stream)
        box.receive(x, other, stream=stream)
    else:
        box.receive(x, other, stream=stream)
        add(x)
        box.post(x, other, stream=stream)


def expected(rounds):
    return 0 if (me ^ 1) >= n else 2 * rounds


if cupy is not None and (me ^ 1) < n:
    x = cupy.zeros(512)
    add = cupy.ElementwiseKernel("", "float64 x", "x = x + 1", "plus_one")
    add(x)  # compiled before the capture
    x[:] = 0
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture()
        ping_pong(x, add, stream)
        graph = stream.end_capture()
    for _ in range(40):
        graph.launch(stream)
    stream.synchronize()
    assert (x.get() == expected(40)).all(), x.get()
    print(f"PE {me}: 40 replays of CuPy's graph")
atoll.barrier_all()

if torch is not None:

    def make(size, dtype):
        return torch.zeros(size, dtype=getattr(torch, dtype), device="cuda")

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        rings(make, lambda t: t.cpu().numpy(), stream, stream.synchronize)
    symmetric = atoll.zeros(512, np.float64, device="cuda", xp=torch)
    if (me ^ 1) < n:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            ping_pong(symmetric, lambda t: t.add_(1), "current")
        for _ in range(40):
            graph.replay()
        torch.cuda.synchronize()
        assert (symmetric.cpu().numpy() == expected(40)).all()
        print(f"PE {me}: 40 replays of PyTorch's graph")
    atoll.barrier_all()
box.free()
atoll.finalize()
print("PE", me, "done")
