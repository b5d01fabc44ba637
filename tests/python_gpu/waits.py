"""Waits and tests for words in tensors and CuPy arrays: by the host, on streams, captured and replayed."""

import atoll
import cupy
import torch

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n
device = atoll.zeros(1, device="cuda").device
torch.cuda.set_device(device)
cupy.cuda.Device(device).use()
ROUNDS = 50
passed = []


def check(what, found, expected):
    found = found.tolist()
    assert found == expected, (me, what, found, expected)
    passed.append(what)


def arrays(xp):
    """Return symmetric words, and any memory of the GPU beside them: status, values and results."""
    words = atoll.zeros(4, "int64", device="cuda", xp=xp)
    if xp is torch:
        on_gpu = {"device": "cuda"}
        return (
            words,
            torch.tensor([1, 1, 0, 1], dtype=torch.int32, **on_gpu),
            torch.zeros(4, dtype=torch.int64, **on_gpu),
            torch.full((5,), -7, dtype=torch.int64, **on_gpu),
        )
    return words, cupy.array([1, 1, 0, 1], "int32"), cupy.zeros(4, "int64"), cupy.full(5, -7, "int64")


def one_round(words, status, values, out):
    """In each round the left neighbour adds to word 2; `values` tells the graph which round it is."""
    values += 1
    atoll.atomic_add(words, 1, right, index=2, stream="current")
    atoll.wait_until_all_vector(words, ">=", values, status, stream="current")
    atoll.wait_until_some_vector(words, ">=", values, status, out=out, stream="current")
    atoll.test_any(words, ">", 0, out=out[2:], stream="current")
    atoll.test(words, ">", 0, 2, out=out[3:], stream="current")


def by_torch(step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        atoll.sync_all(stream=side)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()
    for _ in range(ROUNDS):
        graph.replay()
    torch.cuda.synchronize()


def by_cupy(step):
    side = cupy.cuda.Stream(non_blocking=True)
    atoll.sync_all(stream=side)
    side.synchronize()
    with side:
        side.begin_capture()
        step()
        graph = side.end_capture()
    for _ in range(ROUNDS):
        graph.launch(side)
    side.synchronize()


for xp, replay in ((torch, by_torch), (cupy, by_cupy)):
    name = xp.__name__
    words, status, values, out = arrays(xp)
    (torch.cuda.synchronize if xp is torch else cupy.cuda.runtime.deviceSynchronize)()
    atoll.barrier_all()
    # `values` is not symmetric, so the graph sees only its changes in place.
    replay(lambda words=words, status=status, values=values, out=out: one_round(words, status, values, out))
    atoll.barrier_all()
    check(f"{name}: words", words, [0, 0, ROUNDS, 0])
    check(f"{name}: values", values, [ROUNDS] * 4)
    check(f"{name}: out", out, [1, 2, 2, 1, -7])
    # The host tests the same words.
    assert atoll.test_any(words, "==", ROUNDS) == 2 and atoll.test(words, "==", ROUNDS, index=2)
    assert atoll.wait_until_some(words, ">=", 1).tolist() == [2]
    assert atoll.test_all_vector(words, "==", [0, 0, ROUNDS, 0])
    # Slices, which have their own offset and length.
    atoll.test_some(words[1:3], ">", 0, out=out[:3], stream="current")
    (torch.cuda.synchronize if xp is torch else cupy.cuda.runtime.deviceSynchronize)()
    check(f"{name}: slice", out, [1, 1, 2, 1, -7])
    # Arrays that the GPU cannot reach are refused.
    wrong = out.cpu().numpy() if xp is torch else out.get()
    try:
        atoll.test_any(words, ">", 0, out=wrong, stream="current")
    except atoll.InvalidArgument as error:
        assert "pinned" in str(error), error
        passed.append(f"{name}: refused")
    else:
        raise AssertionError("ordinary memory of the host was taken")
    atoll.barrier_all()

atoll.finalize()
print(f"PE {me}: {len(passed)} checks")
