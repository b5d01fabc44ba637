#include "calls/caller.hpp"

#include <string_view>

namespace atl::python {
namespace {

const char* text_of(const nb::object& object) {
    return object.is_valid() && PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), nullptr)
                                                              : nullptr;
}

/// True for frames of the package itself, whose lines do not help a user.
bool is_ours(PyFrameObject* frame) {
    const nb::object globals =
        nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals"));
    if (!globals.is_valid()) return false;
    PyObject* name = PyDict_GetItemString(globals.ptr(), "__name__");
    const char* text = name == nullptr ? nullptr : text_of(nb::borrow(name));
    if (text == nullptr) return false;
    const std::string_view module(text);
    return module == "atoll" || module.starts_with("atoll.");
}

CallerLine line_of(PyFrameObject* frame) {
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const nb::object file = nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename"));
    const char* path = text_of(file);
    if (path == nullptr) return {};
    return {path, PyFrame_GetLineNumber(frame)};
}

}  // namespace

std::string CallerLine::text(bool with_folders) const {
    if (number == 0) return {};
    const std::size_t begin = with_folders ? 0 : file.find_last_of('/') + 1;
    return file.substr(begin) + ":" + std::to_string(number);
}

CallerLine caller_line() {
    CallerLine found;
    nb::object held;  // PyEval_GetFrame borrows, PyFrame_GetBack returns a new reference
    for (PyFrameObject* frame = PyEval_GetFrame(); frame != nullptr && !found;) {
        if (!is_ours(frame)) {
            found = line_of(frame);
            break;
        }
        frame = PyFrame_GetBack(frame);
        held = nb::steal(reinterpret_cast<PyObject*>(frame));
    }
    PyErr_Clear();
    return found;
}

}  // namespace atl::python
