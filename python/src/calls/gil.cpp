#include "calls/gil.hpp"

#include <cxxabi.h>
#include <unistd.h>

namespace atl::python {

thread_local PyThreadState* ReleaseGil::released_state = nullptr;
std::atomic<int> ReleaseGil::in_calls{0};

namespace {

[[noreturn]] void park() {
    for (;;) ::pause();
}

}  // namespace

void take_gil(PyThreadState* state) noexcept {
    if (!Py_IsInitialized()) park();  // `state` may be freed already
#ifdef __GLIBCXX__
    try {
        PyEval_RestoreThread(state);
    } catch (const abi::__forced_unwind&) {
        park();  // finalization of the interpreter began while this thread waited for the GIL
    }
#else
    PyEval_RestoreThread(state);
#endif
}

PyGILState_STATE ensure_gil() noexcept {
    if (!Py_IsInitialized()) park();
#ifdef __GLIBCXX__
    try {
        return PyGILState_Ensure();
    } catch (const abi::__forced_unwind&) {
        park();
    }
#else
    return PyGILState_Ensure();
#endif
}

}  // namespace atl::python
