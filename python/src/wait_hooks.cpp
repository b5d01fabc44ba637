// A wait that turns slow lets other Python threads run and answers Ctrl-C.
#include "core/wait_hooks.hpp"

#include "registry.hpp"

#ifdef Py_LIMITED_API
extern "C" int PyGILState_Check(
    void);  // exported by every CPython, though not part of the stable ABI's headers
#endif

namespace atl::python {

thread_local PyThreadState* ReleaseGil::released_state = nullptr;

namespace {

/// What `enter` returns when the call itself has released the GIL already.
char released_by_call;

void* enter() {
    if (ReleaseGil::released() != nullptr) return &released_by_call;
    if (!Py_IsInitialized() || !PyGILState_Check()) return nullptr;
    return PyEval_SaveThread();
}

void leave(void* state) {
    if (state != nullptr && state != &released_by_call)
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
}

bool interrupted(void* state) {
    if (state == nullptr) return false;
    PyEval_RestoreThread(state == &released_by_call ? ReleaseGil::released()
                                                    : static_cast<PyThreadState*>(state));
    const bool stop = PyErr_CheckSignals() != 0;
    PyEval_SaveThread();
    return stop;
}

}  // namespace

void register_wait_hooks() { core::set_wait_hooks({enter, leave, interrupted}); }

}  // namespace atl::python
