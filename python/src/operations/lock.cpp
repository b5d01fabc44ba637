// atoll.Lock.
#include "atoll/lock.hpp"

#include "arrays/array_block.hpp"
#include "arrays/dtypes.hpp"
#include "calls/caller.hpp"
#include "calls/names.hpp"
#include "calls/registry.hpp"
#include "common/clock.hpp"

#include <nanobind/stl/string.h>

#include <string>

namespace atl::python {
namespace {

/// The lock's word is a block of symmetric memory like an array's; garbage collection drops it like an array.
struct PyLock {
    Ref owner;
    bool held = false;  ///< by this PE

    Block& block() const { return *reinterpret_cast<Block*>(owner.get()); }
    std::int64_t* word(const char* function) const {
        current(function);
        if (is_past(&block()))
            fail(ErrorCode::use_after_free, "%s(): this lock was freed, or its job finalized; make another.",
                 function);
        return reinterpret_cast<std::int64_t*>(block().address);
    }
};

void construct_lock(PyLock* self) {
    Job& job = current("Lock");
    const NamedCall named("Lock");
    const Allocation allocation = job.allocate_zeroed(sizeof(std::int64_t));
    Ref owner = make_block(allocation, sizeof(std::int64_t));
    name_memory(allocation.address, sizeof(std::int64_t), sizeof(std::int64_t), "atoll.Lock");
    new (self) PyLock{std::move(owner)};
}

/// Tells whether the lines of some locks in a row are noted. To read a line takes 1 % of the time between
/// locks in a program that acquires them rarely (docs/measurements/2026-11-24-constants.md).
class NotedLines {
  public:
    bool takes_next() {
        if (--left_ > 0) return notes_;
        const std::uint64_t now = common::now_ns();
        notes_ = now - since_ns_ >= in_a_row * seldom_ns;
        since_ns_ = now;
        left_ = in_a_row;
        return notes_;
    }

  private:
    static constexpr int in_a_row = 256;
    static constexpr std::uint64_t seldom_ns = 20'000;
    int left_ = in_a_row;
    bool notes_ = true;
    std::uint64_t since_ns_ = 0;
};
thread_local NotedLines noted_lines;

/// Notes the line that has acquired a lock, for reports. The lock is held by now, so nothing may fail.
void note_line(const PyLock& lock) noexcept {
    if (!noted_lines.takes_next() || g.job == nullptr) return;
    try {
        const std::string site = calling_line();
        atl::detail::note_holder(*g.job, reinterpret_cast<const std::int64_t*>(lock.block().address), nullptr,
                                 site);
    } catch (...) {  // the report then lacks the line
    }
}

/// OpenSHMEM's own calls, for atoll.shmem; `called` is the name of the user's call.
void set(PyLock& lock, double timeout_s, const char* called) {
    set_lock(*g.job, lock.word(called), timeout_s, called);
    lock.held = true;
    note_line(lock);
}

bool test(PyLock& lock, const char* called) {
    const bool taken = test_lock(*g.job, lock.word(called));
    lock.held = lock.held || taken;
    if (taken) note_line(lock);
    return taken;
}

void clear(PyLock& lock, const char* called) {
    clear_lock(*g.job, lock.word(called), called);
    lock.held = false;
}

std::string lock_repr(const PyLock& lock) {
    if (is_past(&lock.block())) return "<atoll.Lock, freed>";
    return lock.held ? "<atoll.Lock, held by this PE>" : "<atoll.Lock, not held by this PE>";
}

bool acquire(PyLock& lock, nb::object wait, nb::object timeout) {
    static const Spec spec{"Lock.acquire"};
    lock.word(spec.name);
    if (!is_bool(wait.ptr()))
        fail(ErrorCode::invalid_argument,
             "Lock.acquire(): blocking is %R; pass True or False, and seconds as timeout=.", wait.ptr());
    const bool blocking = PyObject_IsTrue(wait.ptr()) == 1;
    const double timeout_s = timeout_of(spec, timeout.ptr());
    if (!blocking && !timeout.is_none())
        fail(ErrorCode::invalid_argument,
             "Lock.acquire(): timeout is %R with blocking=False, which never waits; pass one of the two.",
             timeout.ptr());
    if (!blocking) return test(lock, spec.name);
    set(lock, timeout_s, spec.name);
    return true;
}

void release(PyLock& lock) { clear(lock, "Lock.release"); }

void free_lock(PyLock& lock) {
    g.job->free(lock.word("Lock.free"));
    free_block(&lock.block());
}

}  // namespace

void register_lock(nb::module_& module) {
    nb::class_<PyLock> lock(module, "Lock", R"(Mutual exclusion among all PEs, first come first served.

The lock is not recursive. Creating it and free() are collective over all PEs. A lock that is only
dropped is reclaimed later, like an array.

Notes
-----
Source: OpenSHMEM 1.6, section 9.13 (shmem_set_lock, shmem_test_lock, shmem_clear_lock).

Examples
--------
>>> lock = atoll.Lock()  # collective over all PEs
>>> with lock:  # one PE at a time
...     atoll.p(counter, atoll.g(counter, 0) + 1, 0))");
    lock.def("__init__", &construct_lock, nb::sig("def __init__(self) -> None"));
    lock.def("acquire", &acquire, nb::arg("blocking") = true, nb::arg("timeout") = nb::none(),
             nb::sig("def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool"),
             R"(Take the lock; wait while another PE holds it.

Parameters
----------
blocking
    False: do not wait if another PE holds it.
timeout
    Seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.

Returns
-------
bool
    True if this PE holds the lock now. False only with blocking=False.

Raises
------
Timeout, PeDied
InvalidArgument
    This PE holds it already, or a timeout is given with blocking=False.)");
    lock.def("release", &release,
             R"(Release the lock, after completing this PE's puts on the default context.

Raises
------
InvalidArgument
    This PE does not hold it.)");
    lock.def("__repr__", &lock_repr);
    lock.def(
        "_set_lock", [](PyLock& self) { set(self, -1, "set_lock"); }, "See atoll.shmem.set_lock.");
    lock.def(
        "_test_lock", [](PyLock& self) { return test(self, "test_lock"); }, "See atoll.shmem.test_lock.");
    lock.def(
        "_clear_lock", [](PyLock& self) { clear(self, "clear_lock"); }, "See atoll.shmem.clear_lock.");
    lock.def("free", &free_lock, "Free the lock's memory. Collective over all PEs.");
    lock.def(
        "__enter__",
        [](nb::object self) {
            acquire(nb::cast<PyLock&>(self), nb::bool_(true), nb::none());
            return self;
        },
        nb::sig("def __enter__(self) -> Lock"));
    lock.def(
        "__exit__", [](PyLock& self, nb::args) { release(self); },
        nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace atl::python
