"""Compiles the kernels of the conformance programs for a GPU on a machine without one; needs Triton, not PyTorch."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import triton
from atoll._kernels.documentation import table as operations_table
from atoll.triton._host import _in_short
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.errors import TritonError
from triton_compiling import TEAM, load

# The arguments of each kernel after the team; N is a constant.
ARGUMENTS = {
    "moves": {**dict.fromkeys(("a", "b", "c", "src", "out", "one"), "*fp32"), "N": "constexpr"},
    "signals": {"x": "*fp32", "src": "*fp32", "flags": "*i64", "out": "*fp32", "N": "constexpr"},
    "waits": {
        "words": "*i32",
        "status": "*i32",
        "values": "*i32",
        "indices": "*i64",
        "out": "*i64",
        "N": "constexpr",
    },
    "atomics": {"x": "*i64", "floats": "*fp32", "out": "*i64"},
    "collectives": {**dict.fromkeys(("src", "all_src", "dst", "all_dst"), "*fp32"), "N": "constexpr"},
    "bits": {"src": "*i32", "dst": "*i32", "N": "constexpr"},
    "tiles": {"x": "*fp32", "y": "*fp32", "N": "constexpr"},
    "messages": {
        "box": "*u8",
        "room": "i32",
        "src": "*i32",
        "dst": "*i32",
        "wrong": "*i32",
        "N": "constexpr",
    },
}

WRITTEN = """
@triton.jit
def written(state, x, flags, N: tl.constexpr):
    team = team_at(state)
    right = (team.my_pe + 1) % team.n_pes
    put_signal(team, x + N, x, N, flags, 1, SET, right, BLOCK=256)
    signal_wait_until(team, flags, GE, 1)
    wait_until_some(team, flags, N, None, None, GE, 1)
"""


# A wrong call on pointers to halves (h), int64 (w), int32 (v), float32 (x) and int8 (b), and its error.
MISTAKES = {
    "dev.p(team, 5, 1, 0)": "p: dst is int; it must be a pointer",
    "dev.g(team, n, 0)": "g: src is int32; it must be a pointer",
    "dev.put(team, x, w, 4, 0)": "put: dst is of fp32, src of int64; they must have one type",
    "dev.get_nbi(team, h, x, 4, 0)": "get_nbi: dst is of fp16, src of fp32; they must have one type",
    "dev.tile_put(team, x, h, 4, 4, 4, 4, 0)": "tile_put: dst is of fp32, src of fp16",
    "dev.put_signal(team, x, x, 4, h, 1, dev.SET, 0)": "put_signal: signal is of fp16; it must be of int32, uint32, int64",
    "dev.signal_set(team, x, 1, 0)": "signal_set: signal is of fp32; it must be of int32, uint32, int64, uint64",
    "dev.signal_fetch(team, b)": "signal_fetch: signal is of int8",
    "dev.signal_wait_until(team, x, dev.GE, 1)": "signal_wait_until: signal is of fp32",
    "tl.store(w, dev.signal_fetch(team, w + tl.arange(0, 32)))": "signal_fetch: signal is a block of pointers; it must be one pointer",
    "dev.signal_consume(team, b, 1)": "signal_consume: signal is of int8",
    "dev.wait_until(team, h, dev.GE, 1)": "wait_until: ivar is of fp16",
    "dev.wait_until_all(team, x, 4, None, dev.GE, 1)": "wait_until_all: ivars is of fp32",
    "dev.test_some(team, x, 4, w, None, dev.GE, 1)": "test_some: ivars is of fp32",
    "dev.atomic_add(team, b, 1, 0)": "atomic_add: dst is of int8; it must be of int32, uint32, int64, uint64, fp32, fp64, fp16, bf16",
    "dev.atomic_swap(team, h, 1, 0)": "atomic_swap: dst is of fp16; it must be of int32, uint32, int64, uint64, fp32, fp64",
    "dev.atomic_fetch_xor(team, x, 1, 0)": "atomic_fetch_xor: dst is of fp32",
    "dev.atomic_compare_swap(team, x, 1, 2, 0)": "atomic_compare_swap: dst is of fp32",
    "dev.broadcast(team, x, w, 4, 0)": "broadcast: dst is of fp32, src of int64",
    "dev.reduce(team, x, x, 4, dev.XOR)": "reduce: XOR of fp32; it takes integers",
    "dev.post(team, w, 64, 7, 1, 0)": "post: src is int; it must be a pointer",
    "dev.put_signal(team, x, x, 4, w, 1, 77, 0)": "put_signal: op is 77; it must be one of dev.SET, dev.ADD",
    "dev.put_signal_nbi(team, x, x, 4, w, 1, 'add', 0)": "put_signal_nbi: op is 'add'; it must be one of dev.SET, dev.ADD",
    "dev.wait_until(team, w, '>=', 1)": "wait_until: cmp is '>='; it must be one of dev.EQ, dev.NE, dev.GT, dev.GE, dev.LT, dev.LE",
    # First compiled for dev.EQ, because dev.EQ and dev.SUM are both the number 0.
    "dev.wait_until(team, w, dev.EQ, 1); dev.wait_until(team, w, dev.SUM, 1)": "wait_until: cmp is dev.SUM; it must be one of dev.EQ",
    "dev.signal_wait_until(team, w, n, 1)": "signal_wait_until: cmp is int32; it must be one of dev.EQ",
    "dev.test(team, w, True, 1)": "test: cmp is True; it must be one of dev.EQ",
    "dev.wait_until_any_vector(team, w, 4, None, 6, w)": "wait_until_any_vector: cmp is 6; it must be one of dev.EQ",
    "dev.reduce(team, x, x, 4, 'sum')": "reduce: op is 'sum'; it must be one of dev.SUM, dev.PROD, dev.MIN, dev.MAX, dev.AND, dev.OR, dev.XOR",
    "dev.tile_reduce(team, x, x, 4, 4, 4, 4, 7)": "tile_reduce: op is 7; it must be one of dev.SUM",
    "dev.sync(team, 5)": "sync: order is 5; it must be one of dev.ACQUIRE_RELEASE, dev.RELAXED",
    "dev.p(team, w, 1.5, 0)": "p: value is 1.5; it must be an integer, since dst is of int64",
    "dev.p(team, b, 128, 0)": "p: value is 128; it must fit int8, of which dst is",
    "dev.atomic_add(team, w, 1 << 63, 0)": "atomic_add: value is 9223372036854775808; it must fit int64",
    # A number known to have 64 bits, for a word of 32.
    "dev.wait_until(team, v, dev.GE, tl.load(w))": "wait_until: value is int64; it must fit int32, of which ivar is: pass value.to(tl.int32)",
    "dev.p(team, v, n.to(tl.uint64), 0)": "p: value is uint64; it must fit int32, of which dst is",
    "dev.atomic_compare_swap(team, w, tl.load(x), 1, 0)": "atomic_compare_swap: condition is fp32; it must be an integer",
    "dev.signal_add(team, w, x, 0)": "signal_add: value is pointer<fp32>; it must be a number",
    "dev.signal_consume(team, w, 0.5)": "signal_consume: n is 0.5; it must be an integer",
    "dev.test_all(team, w, 4, None, dev.GE, 0.5)": "test_all: value is 0.5; it must be an integer, since ivars is of int64",
}
# Errors without the function's name.
MISTAKES_OF_PES = {
    "dev.p(team, w, 1, 0.7)": "pe is 0.7; it must be an integer",
    "dev.put(team, x, x, 4, tl.load(x))": "pe is fp32; it must be an integer",
    "dev.broadcast(team, x, x, 4, None)": "pe is None; it must be an integer",
}


def check_mistakes(folder: Path) -> None:
    mistakes = {call: f"atoll.triton.{words}" for call, words in MISTAKES.items()}
    mistakes |= {call: f"atoll.triton: {words}" for call, words in MISTAKES_OF_PES.items()}
    lines = [
        f"@dev.kernel\ndef mistake{k}(team, h, w, v, x, b, n):\n    {call}\n"
        for k, call in enumerate(mistakes)
    ]
    module = folder / "mistakes.py"
    module.write_text("import atoll.triton as dev\nimport triton.language as tl\n\n" + "\n\n".join(lines))
    loaded = load(module)
    signature = {"team": TEAM, "h": "*fp16", "w": "*i64", "v": "*i32", "x": "*fp32", "b": "*i8", "n": "i32"}
    for k, words in enumerate(mistakes.values()):
        kernel = getattr(loaded, f"mistake{k}")
        try:
            triton.compile(ASTSource(kernel, signature=signature), target=GPUTarget("cuda", 90, 32))
        except TritonError as error:
            short = _in_short(kernel, error)
            assert isinstance(short, TypeError), error
            text = str(short)
            assert text.startswith(f"mistake{k}: {words}"), (words, text)
            assert text.endswith(f" ({module}, line {6 + 5 * k})") and "\n" not in text, text
        else:
            raise AssertionError(f"{words}: it compiled")


def check_absent(folder: Path) -> None:
    """Operations that only other languages have are refused with the reason, in kernels too."""
    absent = {
        "dev.sync(team, scope=dev.BLOCK)": "atoll.triton.BLOCK: Triton has no scopes",
        "dev.local_set(team, w, 1)": 'atoll.triton.local_set: Triton\'s own atomics take `scope="gpu"`',
        "dev.nonsense(team)": "module 'atoll.triton' has no attribute 'nonsense'",
    }
    module = folder / "absent.py"
    module.write_text(
        "import atoll.triton as dev\n\n\n"
        + "\n\n\n".join(
            f"@dev.kernel\ndef absent{k}(team, w):\n    {call}\n" for k, call in enumerate(absent)
        )
    )
    loaded = load(module)
    for k, words in enumerate(absent.values()):
        source = ASTSource(getattr(loaded, f"absent{k}"), signature={"team": TEAM, "w": "*i64"})
        try:
            triton.compile(source, target=GPUTarget("cuda", 90, 32))
        except AttributeError as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{words}: it compiled")


kernels = [
    kernel
    for program in operations_table()["languages"]["triton"]["programs"]
    for kernel in re.findall(
        r"@dev\.kernel\ndef .*?(?=\n\n\ndef )", Path(__file__).with_name(program).read_text(), re.S
    )
]
with tempfile.TemporaryDirectory() as folder:  # Triton reads the source of what it compiles
    module = Path(folder) / "kernels.py"
    module.write_text(
        "import atoll.triton as dev\nimport triton.language as tl\n\n\n" + "\n\n\n".join(kernels)
    )
    loaded = load(module)
    for name, arguments in ARGUMENTS.items():
        signature = {"team": TEAM, **arguments}
        constants = {(list(signature).index("N"),): 100} if "N" in signature else {}
        source = ASTSource(getattr(loaded, name), signature=signature, constexprs=constants)
        ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        assert ".sys" in ptx, name
    check_mistakes(Path(folder))
    check_absent(Path(folder))
    # A kernel as Inductor writes it: its source, and the printed form of each name from atoll.triton.inductor.
    from atoll.triton import inductor

    calls = ("team_at", "put_signal", "signal_wait_until", "wait_until_some", "SET", "GE")
    module = Path(folder) / "written.py"
    names = "".join(f"{name} = tl.constexpr({getattr(inductor, name).value!r})\n" for name in calls)
    module.write_text(f"import triton\nimport triton.language as tl\n{names}\n{WRITTEN}")
    signature = {"state": "*i64", "x": "*fp32", "flags": "*i64", "N": "constexpr"}
    source = ASTSource(load(module).written, signature=signature, constexprs={(3,): 100})
    assert ".sys" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
assert len(kernels) == len(ARGUMENTS), "a kernel of triton_kernels.py is not listed here"
print(len(kernels), "kernels, and one of Inductor's")
sys.exit(0)
