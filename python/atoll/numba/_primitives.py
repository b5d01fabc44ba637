"""The operations that each target implements: _cpu.py and _cuda.py. All other functions are written once,
over these.

Addresses, counters and bits are int64: Numba makes a float of int64 and uint64 together.
"""

from __future__ import annotations

from typing import Any

# ---- words in memory: _cpu.py (LLVM), _cuda.py (PTX)


def address(array: Any) -> Any:
    """The address of the first element."""


def load_acquire(kind: Any, address: Any) -> Any: ...
def load_relaxed(kind: Any, address: Any) -> Any: ...
def store_release(kind: Any, address: Any, value: Any) -> Any: ...
def load_acquire_local(kind: Any, address: Any) -> Any:
    """Load with acquire among the threads of this PE."""


def store_release_local(kind: Any, address: Any, value: Any) -> Any: ...
def store_relaxed(kind: Any, address: Any, value: Any) -> Any: ...
def swap(kind: Any, address: Any, value: Any) -> Any: ...
def compare_swap(kind: Any, address: Any, condition: Any, value: Any) -> Any: ...
def fetch_add(kind: Any, address: Any, value: Any) -> Any: ...
def fetch_and(kind: Any, address: Any, value: Any) -> Any: ...
def fetch_or(kind: Any, address: Any, value: Any) -> Any: ...
def fetch_xor(kind: Any, address: Any, value: Any) -> Any: ...
def add_release(kind: Any, address: Any, value: Any) -> Any: ...


def load(kind: Any, address: Any) -> Any:
    """Load as an array's element is loaded."""


def store(kind: Any, address: Any, value: Any) -> Any: ...


def load_own(kind: Any, address: Any) -> Any:
    """Load a word of the team's control block, its table, or a mailbox: other PEs do not write it meanwhile."""


def store_own(kind: Any, address: Any, value: Any) -> Any: ...


def quotient(a: Any, b: Any) -> Any:
    """a // b for operands from 0 to below 2^32, which avoids a 64-bit division."""


def to_bits(kind: Any, value: Any) -> Any:
    """The value's bits, zero-extended."""


def from_bits(kind: Any, bits: Any) -> Any: ...


def load_pair(address: Any) -> Any:
    """Load two words of 8 bytes, neither torn."""


def load_two(address: Any) -> Any:
    """Load sixteen bytes as an array's elements are loaded, from a multiple of 16."""


def store_two(address: Any, first: Any, second: Any) -> Any: ...


def load_wide(kind: Any, address: Any) -> Any:
    """Load sixteen bytes as a tuple of elements."""


def store_wide(kind: Any, address: Any, values: Any) -> Any: ...


def load_flagged(address: Any, flag: Any) -> Any:
    """Load the data of two flagged words, and 1 if both carry the flag."""


def store_flagged(address: Any, data: Any, flag: Any) -> Any:
    """Store eight bytes of data in two flagged words."""


def load_part(source: Any, nbytes: Any, i: Any) -> Any:
    """Load bytes 8 * i … of an array of any alignment; bytes past its end are 0."""


def store_part(to: Any, nbytes: Any, i: Any, data: Any) -> Any: ...


# ---- checks, copies, and the threads of a scope: _cpu.py, _cuda.py


def check_pe(control: Any, n_pes: Any, operation: Any, pe: Any) -> Any:
    """With checks on, end the kernel if the team has no such PE."""


def check_place(control: Any, mine: Any, stride: Any, operation: Any, address: Any) -> Any:
    """With checks on, end the kernel if the address is outside this PE's symmetric memory, the `stride` bytes
    from `mine`.

    On GPUs only in kernels that were compiled with ATOLL_CHECK=all.
    """


def check_room(control: Any, nbytes: Any, room: Any) -> Any:
    """With checks on, end a kernel on the host if the message is longer than the mailbox's room."""


def full_fence() -> Any: ...


def copy(to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    """Copy by all threads of the scope, without a barrier."""


# Bulk copies, on GPUs that have them; no effect elsewhere.


def can_bulk(to: Any, source: Any, nbytes: Any) -> Any:
    """Return whether a multiprocessor's copy engine can move these bytes from the block's shared memory."""


def see_shared() -> Any:
    """Make this thread's writes to shared memory visible to bulk copies that start later."""


def start_bulk(to: Any, source: Any, nbytes: Any) -> Any:
    """Start a copy, by one thread, after all threads that wrote the source called see_shared and met."""


def complete_bulk() -> Any:
    """Wait until the copies that this thread started have written everything."""


def read_bulk() -> Any:
    """Wait until the copies that this thread started have read their sources."""


def rank(scope: Any) -> Any: ...
def size(scope: Any) -> Any: ...
def meet(control: Any, scope: Any) -> Any:
    """The barrier of the scope's threads."""


def share(control: Any, scope: Any, value: Any) -> Any:
    """Return rank 0's integer to all threads of the scope."""


# ---- the checks of waiting loops: _cpu.py, _cuda.py


def rest(looks: Any) -> Any:
    """Rest between two loads of a word."""


def looks_between() -> Any:
    """The number of loads of the word between two checks of the other things that end a wait."""


def look_around(
    control: Any, operation: Any, compare: Any, peer: Any, tag: Any,
    address: Any, expected: Any, found: Any, since: Any,
) -> Any:  # fmt: skip
    """Check the other things that end the wait. Returns the start of the wait: `since`, or now if that is 0."""


def look_within(
    control: Any, operation: Any, compare: Any, peer: Any, tag: Any,
    address: Any, expected: Any, found: Any, since: Any, bound: Any,
) -> Any:  # fmt: skip
    """look_around for a wait with its own bound, in ns; 0: no bound."""


def uncounted(number: Any) -> Any:
    """Return the number unchanged, hidden from the compiler.

    A loop over it is then not unrolled, so that a kernel of 1024 threads has enough registers.
    """


def thread() -> Any:
    """The thread's number in the grid."""


def threads() -> Any: ...


def tell_taken(address: Any, number: Any) -> Any:
    """Free a mailbox's slots up to that number, after loads whose values were used."""


def load_taken(address: Any) -> Any:
    """Load how many slots of a mailbox the receiver has freed, before stores to them."""
