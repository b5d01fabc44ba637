"""Waits and tests of words in the memory of a GPU, by the host and on streams; with tests/simulated if there
is no GPU.
"""

import sys
import threading
import time

import atoll
import numpy as np
from checks import says

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n
REAL = "--real" in sys.argv
FORMS = [kind + more for kind in ("all", "any", "some") for more in ("", "_vector")]


def on_gpu(values, dtype):
    return atoll.array(np.array(values, dtype), device="cuda")


BUFFERS: dict[tuple[str, str], atoll.DeviceArray] = {}


def buffer(purpose, dtype, size):
    """Return an array of the GPU, allocated at the first call: every allocation meets all PEs."""
    key = purpose, np.dtype(dtype).name
    if key not in BUFFERS:
        BUFFERS[key] = atoll.zeros(71, dtype, device="cuda")
    return BUFFERS[key][:size]


def filled(purpose, values, dtype):
    array = buffer(purpose, dtype, len(values))
    array[...] = np.array(values, dtype)
    return array


def by_host(name, words, cmp, value, status=None):
    """Return the result of a call that blocks the host, as a list or a number."""
    found = getattr(atoll, name)(words, cmp, value, status)
    return found.tolist() if isinstance(found, np.ndarray) else found


def on_stream(name, words, cmp, value, status=None):
    """Return the same from a stream, with every array on the GPU."""
    call = getattr(atoll, name)
    if name.endswith("_vector"):
        value = filled("values", value, words.dtype)
    if status is not None:
        status = filled("status", status, np.int32)
    if name.startswith("wait_until_all"):
        assert call(words, cmp, value, status, stream=0) is None
        atoll.check_kernels(stream=0)  # waits for it
        return None
    out = filled("out", [-7] * (words.size + 1 if "some" in name else 1), np.int64)
    assert call(words, cmp, value, status, out=out, stream=0) is None
    atoll.check_kernels(stream=0)
    found = out.numpy()
    if "some" in name:
        assert (found[1 + found[0] :] == -7).all(), found  # nothing is written behind the indices
        return found[1 : 1 + found[0]].tolist()
    return bool(found[0]) if "all" in name else None if found[0] == -1 else int(found[0])


def finished(out):
    if REAL:
        cupy.cuda.runtime.deviceSynchronize()
    return out.numpy()


if REAL:
    import cupy

    cupy.cuda.Device(int(atoll.zeros(1, device="cuda").device)).use()

# ---- every form and integer type, against NumPy, without a wait of the host
random = np.random.default_rng(7)
OPERATORS = {
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
}


def expected(kind, met, counted):
    indices = np.flatnonzero(met & counted).tolist()
    if kind == "all":
        return bool((met | ~counted).all())
    return indices if kind == "some" else indices[0] if indices else None


for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
    limits = np.iinfo(dtype)
    pool = np.array([limits.min, limits.max, limits.max // 2 + 1, 0, 1, limits.max - 1], dtype)
    for size in (1, 3, 33, 70):
        host = random.choice(pool, size)
        words = filled("words", host, dtype)
        for cmp, operator in OPERATORS.items():
            status = random.integers(0, 2, size, np.int32) * random.integers(-3, 4, size, np.int32)
            values = random.choice(pool, size)
            for form in FORMS:
                value = values if form.endswith("_vector") else values[0]
                for left_out in (None, status):
                    counted = np.ones(size, bool) if left_out is None else status == 0
                    kind = form.split("_")[0]
                    want = expected(kind, operator(host, value), counted)
                    given = value if isinstance(value, np.ndarray) else int(value)
                    name = "test_" + form
                    arguments = (words, cmp, given, None if left_out is None else status.tolist())
                    found = by_host(name, *arguments)
                    if kind == "any" and found is not None:  # one of several words, alternately
                        assert found in expected("some", operator(host, value), counted)
                    else:
                        assert found == want, (name, dtype, host, arguments, found, want)
                    assert on_stream(name, *arguments) == want, (name, dtype, host, arguments, want)
                    # A wait whose condition holds already, or for no word at all.
                    name = "wait_until_" + form
                    if want is True if kind == "all" else want or want == 0 or not counted.any():
                        found = by_host(name, *arguments)
                        if kind == "all":
                            assert found is None and on_stream(name, *arguments) is None
                        else:
                            assert (kind == "any" and found is not None) or found == want, (name, found, want)
                            assert on_stream(name, *arguments) == want, (name, arguments, want)

# ---- turns: among several words the host reports each in turn, a stream the lowest
words = on_gpu([1] * 4, np.int32)
assert {atoll.wait_until_any(words, "==", 1) for _ in range(32)} == set(range(4))
assert {atoll.test_any(words, "==", 1) for _ in range(32)} == set(range(4))
assert {on_stream("wait_until_any", words, "==", 1) for _ in range(8)} == {0}

# ---- no words
empty = atoll.zeros(0, np.int32, device="cuda")
for form, want in (("all", True), ("any", None), ("some", [])):
    assert by_host("test_" + form, empty, "==", 1) == want
    assert on_stream("test_" + form, empty, "==", 1) == want
    assert by_host("wait_until_" + form, empty, "==", 1) == (None if form == "all" else want)
    assert on_stream("wait_until_" + form, empty, "==", 1) == (None if form == "all" else want)

# ---- one word
word = on_gpu([5, -6], np.int16)
assert atoll.test(word, "<", 0, index=1) and not atoll.test(word, "<", 0, 0)
for index, want in ((0, 0), (1, 1), (-1, 1)):
    out = atoll.full(3, -7, np.int64, device="cuda")
    assert atoll.test(word, "<", 0, index, out=out[1:], stream=0) is None
    assert finished(out).tolist() == [-7, want, -7]

# ---- across PEs: each stores into its own word everywhere; by host, and by streams
for stream in (None, 0):
    words = atoll.zeros(n, np.int64, device="cuda")

    def tell(value, words=words, stream=stream):
        for pe in range(n):
            atoll.p(words, value, pe, index=me, stream=stream)

    tell(1)
    assert atoll.wait_until_all(words, "==", 1, stream=stream) is None
    atoll.barrier_all(stream=stream)  # no PE gets the next number before all have seen the last
    tell(2)
    status = np.zeros(n, np.int32)
    find = by_host if stream is None else on_stream
    for _ in range(n):
        k = find("wait_until_any", words, "==", 2, status.tolist())
        assert status[k] == 0
        status[k] = 1
    assert find("wait_until_any", words, "==", 2, status.tolist()) is None
    atoll.barrier_all(stream=stream)
    tell(3)
    seen: list[int] = []
    if stream is None:
        while len(seen) < n:
            seen += by_host(
                "wait_until_some", words, ">=", 3, np.isin(np.arange(n), seen).astype(int).tolist()
            )
    else:
        atoll.wait_until_all(words, ">=", 3, stream=stream)
        seen = on_stream("wait_until_some", words, ">=", 3)
    assert sorted(seen) == list(range(n))
    atoll.barrier_all()

# ---- one after another on a stream: operations after a wait can use its result
flags, out = atoll.zeros(3, np.uint64, device="cuda"), atoll.zeros(4, np.int64, device="cuda")
copy = atoll.zeros(4, np.int64, device="cuda")
atoll.p(flags, 9, right, index=2, stream=0)
atoll.wait_until_some(flags, ">", 0, out=out, stream=0)
atoll.put(copy, out, me, stream=0)
assert finished(copy)[:2].tolist() == [1, 2]
atoll.barrier_all()

# ---- pinned words of the host heap, and pinned arrays beside them
shared = atoll.zeros(4, np.int32)
status, found = atoll.zeros(4, np.int32), atoll.zeros(5, np.int64)
pinned = atoll.pin(shared)
atoll.pin(status)
atoll.pin(found)
status[1] = 1
atoll.barrier_all()
atoll.p(shared, 4, right, index=1)
atoll.p(shared, 4, right, index=3)
atoll.wait_until_all(shared, "==", 4, status=[1, 0, 1, 0])
atoll.test_some(shared, "==", 4, status, out=found, stream=0)
if REAL:
    cupy.cuda.runtime.deviceSynchronize()
assert found[:2].tolist() == [1, 3], found
assert atoll.test_some(pinned, "==", 4).tolist() == [1, 3]
atoll.barrier_all()

# ---- wrong arguments
words = on_gpu([1, 2, 3], np.int32)
out, int32 = atoll.zeros(4, np.int64, device="cuda"), atoll.zeros(4, np.int32, device="cuda")
with says(atoll.Timeout, "wait_until_all", "found 1", "== 9"):
    atoll.wait_until_all(words, "==", 9, timeout=0.01)
with says(atoll.Timeout, "wait_until_any", "found 2", "> 7"):
    atoll.wait_until_any(words, ">", 7, [1, 0, 0], timeout=0.01)
with says(atoll.Timeout, "wait_until_some_vector", "found 1", "== 4"):
    atoll.wait_until_some_vector(words, "==", [4, 5, 6], timeout=0)
with says(atoll.Unsupported, "wait_until_any()", "no timeout"):
    atoll.wait_until_any(words, "==", 1, timeout=1.0, out=out, stream=0)
with says(atoll.InvalidArgument, "test_any()", "out=", "int64 array of 1"):
    atoll.test_any(words, "==", 1, stream=0)
with says(atoll.InvalidArgument, "wait_until_some()", "int64 array of 4"):
    atoll.wait_until_some(words, "==", 1, stream=0)
with says(atoll.InvalidArgument, "test()", "int64 array of 1"):
    atoll.test(words, "==", 1, stream=0, index=0)
with says(atoll.InvalidArgument, "out= is for calls on a stream"):
    atoll.test_any(words, "==", 1, out=out)
with says(atoll.InvalidArgument, "out= is for calls on a stream"):
    atoll.test(words, "==", 1, out=out, index=0)
with says(atoll.DtypeMismatch, "out has dtype int32", "int64"):
    atoll.test_any(words, "==", 1, out=int32, stream=0)
with says(atoll.ShapeMismatch, "out has 3 elements; 4 are needed"):
    atoll.test_some(words, "==", 1, out=out[:3], stream=0)
with says(atoll.InvalidArgument, "out must be contiguous"):
    atoll.test_some(words[:1], "==", 1, out=out[::2], stream=0)
with says(atoll.DtypeMismatch, "status has dtype int64", "int32"):
    atoll.test_any(words, "==", 1, out, out=out, stream=0)
for many in (2, 4):  # the same errors come without a stream
    with says(atoll.ShapeMismatch, f"status has {many} elements; 3 are needed, one for each word"):
        atoll.test_any(words, "==", 1, int32[:many], out=out, stream=0)
    with says(atoll.ShapeMismatch, f"values has {many} elements; 3 are needed, one for each word"):
        atoll.wait_until_any_vector(words, "==", int32[:many], out=out, stream=0)
    with says(atoll.ShapeMismatch, f"status has {many} entries for 3 words"):
        atoll.test_any(words, "==", 1, [0] * many)
with says(atoll.DtypeMismatch, "ivars", "int32", "int64"):
    atoll.test_any_vector(words, "==", out[:3], out=out, stream=0)
with says(atoll.InvalidArgument, "status is in the memory of a GPU", "status.numpy()"):
    atoll.test_any(words, "==", 1, int32[:3])
with says(atoll.InvalidArgument, "values is in the memory of a GPU", "values.numpy()"):
    atoll.test_any_vector(words, "==", words)
with says(TypeError, "status"):
    atoll.test_any(words, "==", 1, [0, 0, 0], out=out, stream=0)
with says(atoll.InvalidArgument, "contiguous"):
    atoll.test_all(words[::2], "==", 1)
with says(atoll.DtypeMismatch, "dtype float64"):
    atoll.test_all(atoll.zeros(2, device="cuda"), "==", 1, out=out, stream=0)
with says(atoll.NotSymmetric, "ivars"):
    atoll.test_all(np.zeros(2, np.int32), "==", 1)
with says(atoll.InvalidArgument, "does not fit"):
    atoll.test_any(on_gpu([1], np.int8), "==", 300, out=out, stream=0)
if not REAL:
    with says(atoll.InvalidArgument, "not of GPU"):
        atoll.test_any(words, "==", 1, out=out, stream=0xDEAD)
gone = atoll.zeros(2, np.int32, device="cuda")
atoll.barrier_all()
atoll.free(gone)
for call in (lambda: atoll.test_all(gone, "==", 0), lambda: atoll.test_all(gone, "==", 0, out=out, stream=0)):
    with says(atoll.UseAfterFree):
        call()

# ---- a wait of the host lets Python's other threads run; one of them ends it
flag = atoll.zeros(2, np.int64, device="cuda")


def later():
    time.sleep(0.05)
    atoll.p(flag, 1, me, index=1)


thread = threading.Thread(target=later)
thread.start()
assert atoll.wait_until_any(flag, "==", 1) == 1
thread.join()
atoll.barrier_all()
atoll.finalize()
print("PE", me, "done")
