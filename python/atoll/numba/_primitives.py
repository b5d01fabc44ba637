"""What each target does in its own way; _cpu.py and _cuda.py say how. All else is written over these, once.

Addresses, counters and bits are int64: Numba makes a float of int64 and uint64 together.
"""

from __future__ import annotations

from typing import Any

# ---- words in memory: _cpu.py (LLVM), _cuda.py (PTX)


def address(array: Any) -> Any:
    """Of the first element."""


def load_acquire(kind: Any, address: Any) -> Any: ...
def load_relaxed(kind: Any, address: Any) -> Any: ...
def store_release(kind: Any, address: Any, value: Any) -> Any: ...
def load_acquire_local(kind: Any, address: Any) -> Any:
    """Among the threads of this PE."""


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
    """Like an array's element."""


def store(kind: Any, address: Any, value: Any) -> Any: ...


def load_own(kind: Any, address: Any) -> Any:
    """Of the team's control block, its table, or a mailbox: a word that other PEs do not write meanwhile."""


def store_own(kind: Any, address: Any, value: Any) -> Any: ...


def quotient(a: Any, b: Any) -> Any:
    """a // b, both from 0, and below 2^32: so a division of 64 bits is saved."""


def to_bits(kind: Any, value: Any) -> Any:
    """The value's bits, with zeros above."""


def from_bits(kind: Any, bits: Any) -> Any: ...


def load_pair(address: Any) -> Any:
    """Two words of 8 bytes, each whole."""


def load_two(address: Any) -> Any:
    """Sixteen bytes like an array's elements, at a multiple of 16."""


def store_two(address: Any, first: Any, second: Any) -> Any: ...


def load_wide(kind: Any, address: Any) -> Any:
    """The same as a tuple of elements."""


def store_wide(kind: Any, address: Any, values: Any) -> Any: ...


def load_flagged(address: Any, flag: Any) -> Any:
    """The data of two flagged words, and 1 if both carry the flag."""


def store_flagged(address: Any, data: Any, flag: Any) -> Any:
    """Eight bytes of data in two flagged words."""


def load_part(source: Any, nbytes: Any, i: Any) -> Any:
    """Bytes 8 * i … of an array of any alignment; what lies past its end is 0."""


def store_part(to: Any, nbytes: Any, i: Any, data: Any) -> Any: ...


# ---- checks, copies, and the threads of a scope: _cpu.py, _cuda.py


def check_pe(control: Any, n_pes: Any, operation: Any, pe: Any) -> Any:
    """With checks on, a PE that the team has not ends the kernel."""


def check_place(control: Any, mine: Any, stride: Any, operation: Any, address: Any) -> Any:
    """With checks on, an address that is none of the `stride` bytes from `mine`, this PE's symmetric memory, ends the kernel: on
    GPUs where it was compiled with ATOLL_CHECK=all."""


def check_room(control: Any, nbytes: Any, room: Any) -> Any:
    """With checks on, a message that a mailbox has no room for ends a kernel on the host."""


def full_fence() -> Any: ...


def copy(to: Any, source: Any, nbytes: Any, scope: Any) -> Any:
    """By all threads of the scope, without a barrier."""


# Bulk copies, of GPUs that have them: without an effect elsewhere.


def can_bulk(to: Any, source: Any, nbytes: Any) -> Any:
    """If these bytes can go from a block's shared memory by its multiprocessor's copy engine."""


def see_shared() -> Any:
    """What this thread wrote to shared memory is seen by bulk copies that start later."""


def start_bulk(to: Any, source: Any, nbytes: Any) -> Any:
    """By one thread, after all that wrote the source called see_shared and met."""


def complete_bulk() -> Any:
    """The copies that this thread started have written everything."""


def read_bulk() -> Any:
    """They have read their sources."""


def rank(scope: Any) -> Any: ...
def size(scope: Any) -> Any: ...
def meet(control: Any, scope: Any) -> Any:
    """The barrier of the scope's threads."""


def share(control: Any, scope: Any, value: Any) -> Any:
    """The integer that rank 0 has, for all threads of the scope."""


# ---- how waits look around: _cpu.py, _cuda.py


def rest(looks: Any) -> Any:
    """Between two looks at a word."""


def looks_between() -> Any:
    """Looks at the word between two looks at what else there is."""


def look_around(
    control: Any, operation: Any, compare: Any, peer: Any, tag: Any,
    address: Any, expected: Any, found: Any, since: Any,
) -> Any:  # fmt: skip
    """Whether what else there is ends the wait. Returns since when it looks: `since`, or now where that is 0."""


def look_within(
    control: Any, operation: Any, compare: Any, peer: Any, tag: Any,
    address: Any, expected: Any, found: Any, since: Any, bound: Any,
) -> Any:  # fmt: skip
    """The same of a wait that has a bound of its own, in ns; 0: none."""


def uncounted(number: Any) -> Any:
    """The number itself, of which the compiler knows nothing: a loop over it is not unrolled, so that a kernel of 1024 threads
    has registers enough."""


def thread() -> Any:
    """The thread's number in the grid."""


def threads() -> Any: ...


def tell_taken(address: Any, number: Any) -> Any:
    """A mailbox's slots up to that number are free: behind loads whose values were looked at."""


def load_taken(address: Any) -> Any:
    """How many slots of a mailbox are free, as far as the receiver told: before what is stored in them then."""
