"""Operations that Triton kernels do not have, and why: for errors, and for docs/kernels.md
(kernel_coverage.py).
"""

from __future__ import annotations

WHY = {
    **dict.fromkeys(
        ("THREAD", "WARP", "BLOCK", "GRID"), "Triton has no scopes: a program calls as one; leave scope out"
    ),
    **dict.fromkeys(("local_set", "local_wait_until"), 'Triton\'s own atomics take `scope="gpu"`'),
    "async_put": "a program's data are in registers, and Triton's own stores stage them",
    **dict.fromkeys(
        ("outbox", "inbox"), "Triton keeps no counters of messages over a loop; call post and receive"
    ),
    "meeting": "Triton keeps no counters of meetings over a loop; call sync",
}
