"""The operations that each target implements: _dsl/_cpu.py and _dsl/_gpu*.py. All other functions are written once,
over these.

Addresses, counters and bits are int64: Numba makes a float of int64 and uint64 together.
"""

from __future__ import annotations


# ---- words in memory: _dsl/_cpu.py (LLVM), _dsl/_gpu*.py (PTX)
def address(array):
    """The address of the first element."""


def load_acquire(kind, address): ...


def load_relaxed(kind, address): ...


def store_release(kind, address, value): ...


def load_acquire_local(kind, address):
    """Load with acquire among the threads of this PE."""


def store_release_local(kind, address, value): ...


def store_relaxed(kind, address, value): ...


def swap(kind, address, value): ...


def compare_swap(kind, address, condition, value): ...


def fetch_add(kind, address, value): ...


add = fetch_add


def fetch_and(kind, address, value): ...


def fetch_or(kind, address, value): ...


def fetch_xor(kind, address, value): ...


def add_release(kind, address, value): ...


def load(kind, address):
    """Load by a plain load, like an element of an array."""


def store(kind, address, value): ...


def load_own(kind, address):
    """Load a word of the team's control block, its table, or a mailbox: other PEs do not write it meanwhile."""


def store_own(kind, address, value): ...


def quotient(a, b):
    """a // b for operands from 0 to below 2^32, which avoids a 64-bit division."""


def to_bits(kind, value):
    """The value's bits, zero-extended."""


def from_bits(kind, bits): ...


def load_pair(address):
    """Load two words of 8 bytes, neither torn."""


def load_two(address):
    """Load sixteen bytes as an array's elements are loaded, from a multiple of 16."""


def store_two(address, first, second): ...


def load_wide(kind, address):
    """Load sixteen bytes as a tuple of elements."""


def store_wide(kind, address, values): ...


def load_flagged(address, flag):
    """Load the data of two flagged words, and 1 if both carry the flag."""


def store_flagged(address, data, flag):
    """Store eight bytes of data in two flagged words."""


def load_part(source, nbytes, i):
    """Load bytes 8 * i … of an array of any alignment; bytes past its end are 0."""


def store_part(to, nbytes, i, data): ...


# ---- checks, copies, and the threads of a scope: _dsl/_cpu.py, _dsl/_gpu*.py
def check_pe(control, n_pes, operation, pe):
    """With checks on, end the kernel if the team has no such PE."""


def check_address(control, mine, stride, operation, address):
    """With checks on, end the kernel if the address is outside this PE's symmetric memory, the `stride` bytes
    from `mine`.

    On GPUs only in kernels that were compiled with ATOLL_CHECK=all.
    """


def check_room(control, nbytes, room):
    """With checks on, end a kernel on the host if the message is longer than the mailbox's room."""


def full_fence(): ...


def copy(to, source, nbytes, scope):
    """Copy by all threads of the scope, without a barrier."""


# Bulk copies, on GPUs that have them; no effect elsewhere.
def can_bulk(to, source, nbytes):
    """Return whether a multiprocessor's copy engine can move these bytes from the block's shared memory."""


def see_shared():
    """Make this thread's writes to shared memory visible to bulk copies that start later."""


def start_bulk(to, source, nbytes):
    """Start a copy, by one thread, after all threads that wrote the source called see_shared and met."""


def complete_bulk():
    """Wait until the copies that this thread started have written everything."""


def read_bulk():
    """Wait until the copies that this thread started have read their sources."""


def rank(scope): ...


def size(scope): ...


def meet(control, scope):
    """The barrier of the scope's threads."""


def share(control, scope, value):
    """Return rank 0's integer to all threads of the scope."""


# ---- events of a trace: _dsl/_cpu.py, _dsl/_gpu.py
def trace_now():
    """The clock of the trace, in ns."""


def trace_take(trace, began):
    """Take a record of the trace, and return its number; the host takes it at the end."""


def trace_write(trace, taken, what, began, peer, first, second, third):
    """Write an event that ends now."""


# ---- the checks of waiting loops: _dsl/_cpu.py, _dsl/_gpu*.py
def rest(polls):
    """Rest between two loads of a word."""


def polls_between_checks(since):
    """The number of loads of the word between two checks of the other things that end a wait."""


def check_job(control, operation, subject, peer, tag, address, expected, found, since):
    """Check the other things that end the wait. Returns the start of the wait: `since`, or now if that is 0.

    On the host it is negative once the wait sleeps between its polls and is shown in reports; end_wait ends that.
    """


def check_within(control, operation, subject, peer, tag, address, expected, found, since, bound):
    """check_job for a wait with its own bound, in ns; 0: no bound."""


def end_wait(since):
    """Call after each loop of checks that has ended; `since` is the last result of check_job."""


def uncounted(number):
    """Return the number unchanged, hidden from the compiler.

    A loop over it is then not unrolled, so that a kernel of 1024 threads has enough registers.
    """


def thread():
    """The thread's number in the grid."""


def threads(): ...


def notify_taken(address, number):
    """Free a mailbox's slots up to that number, after loads whose values were used."""


def load_taken(address):
    """Load how many slots of a mailbox the receiver has freed, before stores to them."""
