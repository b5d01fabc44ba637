"""CuPy, PyTorch, Numba and DLPack on symmetric memory: library x dtype x view, both ways; streams and graphs."""

import atoll
import numpy as np

np.vstack = np.vstack  # for numba-cuda 0.30 with NumPy 2.5

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right, left = (me + 1) % n, (me - 1) % n
device = atoll.zeros(1, device="cuda").device

checks = {}


def check(what, found, expected):
    found = found.numpy() if isinstance(found, atoll.DeviceArray) else found
    assert np.array_equal(found, expected), (me, what, found, expected)
    checks[what.split(":")[0]] = checks.get(what.split(":")[0], 0) + 1


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
try:
    from numba import cuda

    cuda.select_device(device)
except ImportError:
    cuda = None
print(
    "PE",
    me,
    "GPU",
    device,
    "torch",
    torch and torch.__version__,
    "cupy",
    cupy and cupy.__version__,
    "numba",
    bool(cuda),
)

VIEWS = [np.s_[...], np.s_[1:3], np.s_[:, 2], np.s_[::2, 1::2], np.s_[1:2, 3:4]]
BACKWARDS = [np.s_[::-1], np.s_[1:, ::-2]]  # PyTorch and Numba refuse negative steps
DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "complex64",
    "complex128",
    "bool",
]


def host(dtype, shift):
    return (
        (np.arange(24).reshape(4, 6) + shift).astype(dtype)
        if dtype != "bool"
        else (np.arange(24).reshape(4, 6) + shift) % 2 == 0
    )


def to_host(x):
    if cupy is not None and isinstance(x, cupy.ndarray):
        return x.get()
    if torch is not None and isinstance(x, torch.Tensor):
        return x.cpu().numpy()
    return x.copy_to_host() if hasattr(x, "copy_to_host") else x.numpy()


def through(library, make, views=VIEWS):
    """Put from the library's views into the library's views, on the next PE."""
    for dtype in DTYPES:
        for view in views:
            try:
                x, y = make(dtype), make(dtype)
            except atoll.Unsupported as error:
                print("skipped", library, dtype, error)
                continue
            atoll.put(x, host(dtype, me), me)
            atoll.put(y, np.zeros((4, 6), dtype), me)
            atoll.barrier_all()
            assert atoll.is_symmetric(x[view]), (library, dtype, view)
            atoll.put(y[view], x[view], right)
            atoll.barrier_all()
            expected = np.zeros((4, 6), dtype)
            expected[view] = host(dtype, left)[view]
            check(f"{library}:{dtype}:{view}", to_host(y), expected)
            into = np.zeros_like(expected[view])
            atoll.get(into, x[view], right)
            check(f"{library}:{dtype}:{view}", into, host(dtype, right)[view])
            atoll.barrier_all()
            if not library.startswith("Numba"):
                atoll.put(x.T, host(dtype, me + 5).T.copy(), right)
                atoll.barrier_all()
                check(f"{library}:{dtype}:T", to_host(x), host(dtype, left + 5))
                atoll.barrier_all()
            atoll.free(x)
            atoll.free(y)


def taken(library, from_dlpack, views):
    """Check a DLPack consumer's views of a DeviceArray: the same elements, symmetric in symmetric memory."""
    for dtype in DTYPES:
        x = atoll.empty((4, 6), dtype, device="cuda")
        for view in views:
            x[...] = host(dtype, me)
            atoll.barrier_all()
            theirs = from_dlpack(x[view])
            check(f"{library}:{dtype}:{view}", to_host(theirs), host(dtype, me)[view])
            assert atoll.is_symmetric(theirs), (library, dtype, view)
            atoll.barrier_all()  # all have read
            atoll.put(theirs, host(dtype, me + 7)[view], right)
            atoll.barrier_all()
            expected = host(dtype, me)
            expected[view] = host(dtype, left + 7)[view]
            check(f"{library}:{dtype}:{view}", x, expected)
            atoll.barrier_all()
        atoll.free(x)


through("DeviceArray", lambda dtype: atoll.empty((4, 6), dtype, device="cuda"), VIEWS + BACKWARDS)
if cupy:
    through("CuPy", lambda dtype: atoll.empty((4, 6), dtype, device="cuda", xp=cupy), VIEWS + BACKWARDS)
    taken("CuPy by DLPack", cupy.from_dlpack, VIEWS + BACKWARDS)
if torch:
    through("PyTorch", lambda dtype: atoll.empty((4, 6), dtype, device="cuda", xp=torch))
    taken("PyTorch by DLPack", torch.from_dlpack, VIEWS)
    FLOAT8 = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
    for name in ["bfloat16", *(name for name in FLOAT8 if hasattr(torch, name))]:
        kind, codes = getattr(torch, name), torch.uint8 if name.startswith("float8") else torch.int16
        for view in VIEWS:
            x = atoll.zeros((4, 6), kind, device="cuda", xp=torch)
            source = (torch.arange(24, device="cuda").reshape(4, 6) + 30 * me).to(codes)
            atoll.put(x[view], source.view(kind)[view], right)
            atoll.barrier_all()
            expected = np.zeros((4, 6), int)
            expected[view] = (np.arange(24).reshape(4, 6) + 30 * left)[view]
            check(f"PyTorch:{name}:{view}", x.view(codes).cpu().numpy(), expected)
            atoll.barrier_all()
            atoll.free(x)
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        kind = getattr(torch, name)
        x = (
            atoll.full((4, 6), 1.5, "bfloat16", device="cuda", xp=torch)
            if name == "bfloat16"
            else atoll.zeros((4, 6), kind, device="cuda", xp=torch)
        )
        assert x.dtype == kind, x.dtype
        source = (torch.arange(24, device="cuda").reshape(4, 6) % 7 + me).to(kind)
        atoll.put(x[1:, ::2], source[1:, ::2], right)
        atoll.barrier_all()
        expected = (torch.arange(24, device="cuda").reshape(4, 6) % 7 + left).to(kind)
        check(f"PyTorch:{name}", x[1:, ::2].float().cpu().numpy(), expected[1:, ::2].float().cpu().numpy())
        atoll.barrier_all()
        if name == "bfloat16":
            total = torch.zeros_like(x)
            total = atoll.zeros_like(x)
            x[...] = me + 1
            atoll.sum_reduce(total, x)
            check("PyTorch:bfloat16 sum", total.float().cpu().numpy(), np.full((4, 6), n * (n + 1) / 2))
if cuda:
    VIEWS[0] = np.s_[:]  # Numba's device arrays take no ...
    through("Numba", lambda dtype: cuda.as_cuda_array(atoll.empty((4, 6), dtype, device="cuda")))

# ---- other PEs' copies in the array's own library
for library in filter(None, (cupy, torch)):
    x = atoll.zeros((4, 6), "float32", device="cuda", xp=library)
    x += me
    everyone = atoll.global_view(x)
    assert type(everyone) is type(x), type(everyone)
    library.cuda.Device(device).synchronize() if library is cupy else torch.cuda.synchronize()
    atoll.barrier_all()
    check(f"{library.__name__} global_view", to_host(everyone[:, 1, 2]), np.arange(n))
    theirs = atoll.peer(x, right)
    check(f"{library.__name__} peer", to_host(theirs), np.full((4, 6), right))
    atoll.barrier_all()
    theirs += 10
    library.cuda.Device(device).synchronize() if library is cupy else torch.cuda.synchronize()
    atoll.barrier_all()
    check(f"{library.__name__} peer", to_host(x), np.full((4, 6), me + 10))
    atoll.barrier_all()

# ---- streams of every library
x, y = atoll.zeros(1024, "float32", device="cuda"), atoll.zeros(1024, "float32", device="cuda")
flags = atoll.signal(1, device="cuda")
streams = {"int": 0}
if cupy:
    streams["CuPy"] = cupy.cuda.Stream(non_blocking=True)
    streams["CuPy null"] = cupy.cuda.Stream.null
if torch:
    streams["PyTorch"] = torch.cuda.Stream()
    streams["PyTorch current"] = torch.cuda.current_stream()
if cuda:
    streams["Numba"] = cuda.stream()
try:
    from cuda.core import Device as CoreDevice
except ImportError:
    try:
        from cuda.core.experimental import Device as CoreDevice
    except ImportError:
        CoreDevice = None
if CoreDevice:
    core = CoreDevice(device)
    core.set_current()
    streams["cuda.core"] = core.create_stream()
for turn, (name, stream) in enumerate(streams.items(), 1):
    x[...] = me + turn
    atoll.barrier_all()
    atoll.put_signal(y, x, flags, 1, "add", right, stream=stream)
    atoll.signal_consume(flags, 1, stream=stream)
    atoll.barrier_all(stream=stream)
    stream.synchronize() if hasattr(stream, "synchronize") else stream.sync() if hasattr(
        stream, "sync"
    ) else torch.cuda.synchronize()
    check(f"stream {name}", y, np.full(1024, left + turn))
    atoll.barrier_all()

# ---- graphs
if torch:
    a = atoll.zeros(256, torch.float32, device="cuda", xp=torch)
    b = atoll.zeros(256, torch.float32, device="cuda", xp=torch)
    tsum = atoll.zeros(256, torch.float32, device="cuda", xp=torch)
    words = atoll.signal(1, device="cuda", xp=torch)

    def work(stream):
        a.add_(1)
        atoll.put_signal(b, a, words, 1, "add", right, stream=stream)
        atoll.signal_consume(words, 1, stream=stream)
        atoll.sum_reduce(tsum, b, stream=stream)

    work("current")
    torch.cuda.synchronize()
    atoll.barrier_all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work("current")
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    check("torch.cuda.graph", to_host(tsum), np.full(256, 21.0 * n))
    atoll.barrier_all()
if cupy:
    c = atoll.zeros(256, "float64", device="cuda", xp=cupy)
    d = atoll.zeros(256, "float64", device="cuda", xp=cupy)
    stream = cupy.cuda.Stream(non_blocking=True)
    atoll.sum_reduce(d, c, stream=stream)
    stream.synchronize()
    atoll.barrier_all()
    with stream:
        c += 1
        stream.synchronize()
        stream.begin_capture()
        c += 1
        atoll.put(d, c, right, stream="current")
        atoll.barrier_all(stream=stream)
        atoll.sum_reduce(c, d, stream=stream)
        graph = stream.end_capture()
    value = 1.0
    for _ in range(5):
        graph.launch(stream)
        value = (value + 1) * n
    stream.synchronize()
    check("CuPy capture", to_host(c), np.full(256, value))
    atoll.barrier_all()

# ---- a call that blocks the host sees a kernel's writes
if torch:
    big = atoll.zeros(1 << 24, torch.float32, device="cuda", xp=torch)
    out = atoll.zeros(1 << 24, torch.float32, device="cuda", xp=torch)
    for turn in range(5):
        for _ in range(20):
            big.add_(1)
        atoll.put(out, big, right)
        atoll.barrier_all()
        check("host-blocking after kernels", out[-8:].cpu().numpy(), np.full(8, 20.0 * (turn + 1)))
        atoll.barrier_all()


# ---- refused calls, and their errors
def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        checks["refused"] = checks.get("refused", 0) + 1
    else:
        raise AssertionError(f"{words!r} was not said")


if torch:
    t = atoll.zeros(8, "float32", device="cuda", xp=torch)
    refused(atoll.NotSymmetric, "memory of the host", lambda: atoll.put(t, torch.zeros(8), right))
    z = atoll.zeros(8, "complex64", device="cuda", xp=torch)
    refused(atoll.InvalidArgument, "resolve_conj", lambda: atoll.put(z, z.conj(), right))
    refused(atoll.InvalidArgument, "is_neg()", lambda: atoll.put(t, z.conj().imag, right))
    refused(atoll.InvalidArgument, "is_neg()", lambda: atoll.put(t, z.conj().imag, right, stream="current"))
    refused(
        atoll.NotSymmetric,
        "not in this PE's symmetric memory",
        lambda: atoll.put(torch.zeros(8, device="cuda"), t, right),
    )
    refused(atoll.DtypeMismatch, "nothing is cast", lambda: atoll.put(t, t.double(), right))
    weight = torch.nn.Parameter(torch.full((8,), 3.0, device="cuda"))
    atoll.put(t, weight, right)
    atoll.barrier_all()
    check("torch Parameter", t.cpu().numpy(), np.full(8, 3.0))
    if torch.cuda.device_count() > 1:
        other = (device + 1) % torch.cuda.device_count()
        elsewhere = torch.zeros(8, device=f"cuda:{other}")
        refused(atoll.NotSymmetric, "another GPU", lambda: atoll.put(t, elsewhere, right))
        strange = torch.cuda.Stream(device=other)
        refused(atoll.InvalidArgument, "not of GPU", lambda: atoll.put(t, t, right, stream=strange))
    refused(
        atoll.InvalidArgument,
        "local memory that the GPU reaches",
        lambda: atoll.put(t, np.zeros(8, np.float32), right, stream=0),
    )
    pinned = torch.full((8,), 2.0).pin_memory().numpy()
    atoll.barrier_all()
    atoll.put(t, pinned, right, stream="current")
    torch.cuda.synchronize()
    atoll.barrier_all()
    check("pinned source", t.cpu().numpy(), np.full(8, 2.0))

    # Views keep the memory alive; memory that all dropped is reused.
    import gc

    gone = atoll.empty(1 << 20, "uint8", device="cuda", xp=torch)
    place, part = gone.data_ptr(), gone[100:200].reshape(10, 10)
    del gone
    gc.collect()
    held = atoll.empty(1 << 20, "uint8", device="cuda", xp=torch)
    assert held.data_ptr() != place and atoll.is_symmetric(part)
    del part
    gc.collect()
    back = atoll.empty(1 << 20, "uint8", device="cuda", xp=cupy or torch)
    assert (back.data.ptr if cupy else back.data_ptr()) == place
    checks["lifetime"] = 1
    atoll.free(held)
    refused(atoll.UseAfterFree, "freed", lambda: atoll.put(held, 0, me))

# ---- buffers of cuda.core
if CoreDevice:
    buffer = x.buffer()
    assert int(buffer.handle) == x.ptr and buffer.size == x.nbytes
    atoll.put(buffer, np.full(x.nbytes, 7, np.uint8), right)
    atoll.barrier_all()
    check("cuda.core.Buffer: put", x.view(np.uint8)[:5], [7] * 5)
else:
    print("cuda.core is not installed: Buffer was not tried")

atoll.barrier_all()
atoll.finalize()
print("PE", me, "passed", sum(checks.values()), "checks:", checks)
