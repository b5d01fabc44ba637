"""Counts the checks of addresses and of waits' own bounds in Triton's kernels.

ATOLL_CHECK enables the former, a call's argument the latter; otherwise there is no such code. Kernels are
compiled for a GPU on a machine without one. The argument is a folder for Triton's cache, which the next such
process uses.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

folder = Path(sys.argv[1])
os.environ["TRITON_CACHE_DIR"] = str(folder)
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"

import triton  # noqa: E402 (Triton reads it then)
from atoll._kernels.ptx import AT  # noqa: E402 (Triton reads it then)
from triton.backends.compiler import GPUTarget  # noqa: E402 (Triton reads it then)
from triton.compiler import ASTSource  # noqa: E402 (Triton reads it then)
from triton_compiling import TEAM, load  # noqa: E402

# A call with float32 (x), int64 (w) and bytes (b), and the operations whose addresses are checked.
PLACES = {
    "dev.put(team, x, x, n, 0)": {"put"},
    "dev.get_nbi(team, x, x, n, 0)": {"get_nbi"},
    "dev.put_nbi(team, x, x, n, 0)": {"put_nbi"},
    "dev.tile_put(team, x, x, 8, 8, 4, 4, 0)": {"tile_put"},
    "dev.p(team, x + tl.arange(0, 64), 1.5, 0)": {"p"},
    "tl.store(dev.ptr(team, x + tl.arange(0, 64), 0), 1.0, mask=tl.arange(0, 64) < n)": {"peer"},
    "dev.atomic_inc(team, w, 0)": {"atomic"},
    "dev.put_signal(team, x, x, n, w, 1, dev.SET, 0)": {"put_signal"},
    "dev.put_signal_nbi(team, x, x, n, w, 1, dev.ADD, 0)": {"put_signal_nbi"},
    "dev.tile_allgather(team, x, x, 8, 8, 4, 4)": {"tile_allgather"},
    "dev.wait_until(team, w, dev.GE, 1)": set(),
}
# The same for waits; more arguments follow.
WAITS = {
    "dev.sync(team": set(),
    "dev.sync(team, dev.RELAXED": set(),
    "dev.reduce(team, x, x, n, dev.SUM": {"reduce"},
    "dev.post(team, b, 64, x, n, 0": {"post"},
    "dev.receive(team, b, 64, x, n, 0": {"receive"},
}
# The same for calls that only load words. A CPU may write these meanwhile.
POLLS = {
    "tl.store(x, dev.signal_fetch(team, w))": set(),
    "tl.store(x, dev.test(team, w, dev.GE, 1))": set(),
    "tl.store(x, dev.test_all(team, w, n, None, dev.GE, 1))": set(),
    "tl.store(x, dev.test_any(team, w, n, None, dev.GE, 1))": set(),
    "tl.store(x, dev.test_some_vector(team, w, n, None, None, dev.GE, w))": set(),
    "tl.store(x, dev.try_receive(team, b, 64, x, n, 0))": {"receive"},
}
BOUNDS = {"none": ")", "left out": ", tag=0, bound_ns=0)", "given": ", tag=7, bound_ns=500)"}

calls = PLACES | POLLS | {call + end: named for call, named in WAITS.items() for end in BOUNDS.values()}
module = folder / "calls.py"
module.write_text(
    "import atoll.triton as dev\nimport triton.language as tl\n\n\n"
    + "\n\n\n".join(
        f"@dev.kernel\ndef call{k:02}(team, x, w, b, n):\n    {call}\n" for k, call in enumerate(calls)
    )
)
loaded = load(module)
SIGNATURE = {"team": TEAM, "x": "*fp32", "w": "*i64", "b": "*u8", "n": "i32"}
ptx = {}
for k, call in enumerate(calls):
    source = ASTSource(getattr(loaded, f"call{k:02}"), signature=SIGNATURE)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    ptx[call] = made.asm["ptx"].replace(f"call{k:02}", "call")

# The stores of a report: its operation, and the kind of error.
operation, subject = (AT["report"] + AT[f"report_{field}"] for field in ("operation", "subject"))
REPORTED = re.compile(rf"\[w\+{operation}\], (\d+);[^\n]*\[w\+{subject}\], {AT['subject wrong_address']};")
is_checked = os.environ["ATOLL_CHECK"] == "all"
for call, named in calls.items():
    found = set(map(int, REPORTED.findall(ptx[call])))
    assert found == {AT[name] for name in named if is_checked}, (call, found, named)

# Updates of memory, except those that write a report.
UPDATE = re.compile(r"\b(?:atom|red)\.(?!relaxed\.sys\.global\.cas\.b32 x, \[w\+)")
for call in POLLS:
    assert not UPDATE.search(ptx[call]) and "ld.acquire.sys.global.b64" in ptx[call], call
assert UPDATE.search(ptx["dev.atomic_inc(team, w, 0)"])

for call in WAITS:
    none, left_out, given = (ptx[call + end] for end in BOUNDS.values())
    assert none == left_out and "BOUND:" not in none, call
    waits = given.count("PRESENT:")
    assert waits > 0 and given.count("BOUND:") == waits, (call, waits)
print(len(ptx), "kernels", "that look at addresses" if is_checked else "that do not look")
