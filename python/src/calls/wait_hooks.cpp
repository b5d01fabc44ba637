// A wait that turns slow lets other Python threads run and answers Ctrl-C.
#include "core/sync/wait_hooks.hpp"

#include "calls/caller.hpp"
#include "calls/names.hpp"
#include "calls/registry.hpp"
#include "common/recorder/stack_area.hpp"

#include <dlfcn.h>

namespace atl::python {
namespace {

/// PyGILState_Check, also in a module for the stable ABI, whose headers lack it.
bool holds_gil() {
#ifdef Py_LIMITED_API
    using Check = int (*)();
    static const auto check = reinterpret_cast<Check>(::dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return check != nullptr && check() != 0;
#else
    return PyGILState_Check() != 0;
#endif
}

/// The result of `enter` if the call has released the GIL already.
char released_by_call;

void* enter() {
    if (ReleaseGil::released() != nullptr) return &released_by_call;
    // A thread that Python does not know, or the last one during finalization of the interpreter.
    if (!Py_IsInitialized() || !holds_gil()) return nullptr;
    return PyEval_SaveThread();
}

void leave(void* state) {
    if (state != nullptr && state != &released_by_call) take_gil(static_cast<PyThreadState*>(state));
}

bool interrupted(void* state) {
    if (state == nullptr) return false;
    const HoldGil held(state == &released_by_call ? ReleaseGil::released()
                                                  : static_cast<PyThreadState*>(state));
    return PyErr_CheckSignals() != 0;
}

/// The line of the caller. Reports of hangs also tell the exception that the program handles meanwhile.
std::string noted_line() {
    common::note_handled(handled_exception());
    return caller_line().text(true);
}

std::string call_site(void* state) {
    if (!Py_IsInitialized()) return {};
    if (state == nullptr && holds_gil()) return noted_line();
    auto* const thread = state == nullptr || state == &released_by_call ? ReleaseGil::released()
                                                                        : static_cast<PyThreadState*>(state);
    if (thread == nullptr) return {};
    const HoldGil held(thread);
    return noted_line();
}

std::string site_of_thread() {
    if (!Py_IsInitialized()) return {};
    const nb::gil_scoped_acquire gil;
    return caller_line("torch").text(true);
}

}  // namespace

void register_wait_hooks() {
    core::set_wait_hooks({enter, leave, interrupted, name_of, call_site, site_of_thread, true});
}

}  // namespace atl::python
