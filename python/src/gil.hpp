// Who holds the GIL. A thread lets others run while it copies much or waits; it takes the GIL back at the
// end, and in between to look for signals.
#pragma once

#include <Python.h>

#include <cstddef>

namespace atl::python {

/// Copies of this size and more let other Python threads run meanwhile.
inline constexpr std::size_t release_gil_bytes = 256 * 1024;

/// PyEval_RestoreThread for any thread at any time. Until 3.13 Python ends a daemon thread that wants the GIL
/// of an interpreter that is being finalized by pthread_exit, which would unwind through frames that may not
/// be unwound and destroy what the rest of the process still uses. Such a thread sleeps here until the
/// process has ended, which is what Python itself does from 3.14 on.
void take_gil(PyThreadState* state) noexcept;

/// Within its life this thread does not hold the GIL, if `release`.
class ReleaseGil {
  public:
    /// While the interpreter is being finalized there is one thread, which keeps the GIL.
    explicit ReleaseGil(bool release)
        : state_(release && Py_IsInitialized() ? PyEval_SaveThread() : nullptr), outer_(released_state) {
        if (state_) released_state = state_;
    }
    ~ReleaseGil() {
        if (!state_) return;
        released_state = outer_;
        take_gil(state_);
    }
    ReleaseGil(const ReleaseGil&) = delete;
    ReleaseGil& operator=(const ReleaseGil&) = delete;

    /// This thread's state while a call of its has released the GIL; null while it holds it.
    static PyThreadState* released() noexcept { return released_state; }

  private:
    friend class HoldGil;

    PyThreadState* state_;
    PyThreadState* outer_;
    static thread_local PyThreadState* released_state;
};

/// Within its life this thread holds the GIL which it has given away as `state`. What Python code runs
/// meanwhile (a signal handler, a store) may call Atoll, and wait there, as if this call were not.
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
