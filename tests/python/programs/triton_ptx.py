"""Compiles the kernels of triton_kernels.py for a GPU on a machine without one; needs Triton, not PyTorch."""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton
from atoll._device import DeviceTeam
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# What each kernel takes after the team; N is a constant.
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
TEAM = DeviceTeam("i32", "i32", "i64", "i64", "i32", "i32", "i32", "i64", "i64")  # type: ignore[arg-type]

WRITTEN = """
@triton.jit
def written(state, x, flags, N: tl.constexpr):
    team = team_at(state)
    right = (team.my_pe + 1) % team.n_pes
    put_signal(team, x + N, x, N, flags, 1, SET, right, BLOCK=256)
    signal_wait_until(team, flags, GE, 1)
    wait_until_some(team, flags, N, None, None, GE, 1)
"""


def load(module: Path) -> Any:
    spec = importlib.util.spec_from_file_location(module.stem, module)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


text = Path(__file__).with_name("triton_kernels.py").read_text()
kernels = re.findall(r"@dev\.kernel\ndef .*?(?=\n\n\ndef )", text, re.S)
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
    # As Inductor writes a kernel down: its source, and each name it has from atoll.triton.inductor as that is printed.
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
