// Releasing and taking the GIL. A thread releases it during large copies and waits. It takes it again at the
// end, and periodically to check for signals.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>

namespace atl::python {

/// Copies of at least this size let other Python threads run meanwhile.
inline constexpr std::size_t release_gil_bytes = 256 * 1024;

/// PyEval_RestoreThread for any thread at any time. Until 3.13, Python ends a daemon thread by pthread_exit
/// if it takes the GIL during finalization. That would unwind frames that may not be unwound, and destroy
/// objects that other threads use. Such a thread sleeps here until the process ends, as Python itself does
/// from 3.14 on.
void take_gil(PyThreadState* state) noexcept;

/// PyGILState_Ensure for any thread at any time, likewise.
PyGILState_STATE ensure_gil() noexcept;

/// Has the GIL for the life of the object, in threads with or without it.
class EnsureGil {
  public:
    EnsureGil() noexcept : state_(ensure_gil()) {}
    ~EnsureGil() { PyGILState_Release(state_); }
    EnsureGil(const EnsureGil&) = delete;
    EnsureGil& operator=(const EnsureGil&) = delete;

  private:
    PyGILState_STATE state_;
};

/// Releases the GIL for the life of the object, if `release`.
class ReleaseGil {
  public:
    /// During finalization of the interpreter only one thread runs; it keeps the GIL.
    explicit ReleaseGil(bool release)
        : state_(release && Py_IsInitialized() ? PyEval_SaveThread() : nullptr), outer_(released_state) {
        if (!state_) return;
        released_state = state_;
        in_calls.fetch_add(1, std::memory_order_relaxed);
    }
    ~ReleaseGil() {
        if (!state_) return;
        released_state = outer_;
        take_gil(state_);
        in_calls.fetch_sub(1, std::memory_order_relaxed);
    }
    ReleaseGil(const ReleaseGil&) = delete;
    ReleaseGil& operator=(const ReleaseGil&) = delete;

    /// This thread's state while one of its calls has released the GIL; null while it holds it.
    static PyThreadState* released() noexcept { return released_state; }
    /// True while a call of any thread has released the GIL. If the caller holds the GIL and lets no call
    /// begin, a false result stays.
    static bool any() noexcept { return in_calls.load(std::memory_order_relaxed) != 0; }

  private:
    friend class HoldGil;

    PyThreadState* state_;
    PyThreadState* outer_;
    static thread_local PyThreadState* released_state;
    static std::atomic<int> in_calls;  ///< calls of all threads that have released the GIL
};

/// Takes back the GIL, which this thread released as `state`, for the life of the object. Python code that
/// runs meanwhile (a signal handler, a store) may call Atoll, and wait there, independently of this call.
class HoldGil {
  public:
    explicit HoldGil(PyThreadState* state) : outer_(ReleaseGil::released_state) {
        take_gil(state);
        ReleaseGil::released_state = nullptr;
    }
    ~HoldGil() {
        PyEval_SaveThread();
        ReleaseGil::released_state = outer_;
    }
    HoldGil(const HoldGil&) = delete;
    HoldGil& operator=(const HoldGil&) = delete;

  private:
    PyThreadState* outer_;
};

}  // namespace atl::python
