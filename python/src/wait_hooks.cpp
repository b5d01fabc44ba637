// A wait that turns slow lets other Python threads run and answers Ctrl-C.
#include "core/wait_hooks.hpp"

#include "registry.hpp"

namespace atl::python {
namespace {

/// What `enter` returns when the call itself has released the GIL already.
char released_by_call;

void* enter() {
    if (ReleaseGil::released() != nullptr) return &released_by_call;
    // A thread that Python does not know, or the last one of an interpreter that is being finalized.
    if (!Py_IsInitialized() || !PyGILState_Check()) return nullptr;
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

std::string text_attribute(PyObject* object, const char* name) {
    const Ref value(PyObject_GetAttrString(object, name));
    const char* text = PyUnicode_AsUTF8(value.get());
    if (text == nullptr) throw Raised{};
    return text;
}

/// The folder of the package, whose frames are not the program's.
std::string package_folder() {
    const Ref name(PyUnicode_FromString("atoll"));
    const Ref package(PyImport_GetModule(name.get()));
    const std::string file = text_attribute(package.get(), "__file__");
    return file.substr(0, file.rfind('/') + 1);
}

/// The innermost frame of the program. Leaves no exception.
std::string site_of_this_thread() try {
    const std::string ours = package_folder();
    Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame) {
        auto* const here = reinterpret_cast<PyFrameObject*>(frame.get());
        const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(here)));
        const std::string file = text_attribute(code.get(), "co_filename");
        if (!file.starts_with(ours)) return file + ":" + std::to_string(PyFrame_GetLineNumber(here));
        frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(here)));
    }
    return {};
} catch (const Raised&) {
    PyErr_Clear();
    return {};
}

std::string call_site(void* state) {
    if (!Py_IsInitialized()) return {};
    if (state == nullptr && PyGILState_Check()) return site_of_this_thread();
    auto* const thread = state == nullptr || state == &released_by_call ? ReleaseGil::released()
                                                                        : static_cast<PyThreadState*>(state);
    if (thread == nullptr) return {};
    const HoldGil held(thread);
    return site_of_this_thread();
}

}  // namespace

void register_wait_hooks() { core::set_wait_hooks({enter, leave, interrupted, call_site, true}); }

}  // namespace atl::python
