#include "names.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace atl::python {
namespace {

struct Named {
    std::size_t bytes;
    std::size_t item;
    std::string text;
};

/// Waiting threads ask without the GIL, hence the mutex. Nothing is waited for while it is held.
struct Names {
    std::mutex mutex;
    std::map<const char*, Named> all;
};
Names& names() {
    static auto& instance = *new Names;
    return instance;
}

/// True in the package itself, whose lines tell a user nothing.
bool is_ours(PyFrameObject* frame) {
    const nb::object globals =
        nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals"));
    PyObject* name = globals.is_valid() ? PyDict_GetItemString(globals.ptr(), "__name__") : nullptr;
    const char* text =
        name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, nullptr) : nullptr;
    if (text == nullptr) {
        PyErr_Clear();
        return false;
    }
    const std::string_view module(text);
    return module == "atoll" || module.starts_with("atoll.");
}

/// "ring.py:12": the innermost line of the program itself; empty where there is none.
std::string caller_line() {
    nb::object held;  // PyEval_GetFrame lends, PyFrame_GetBack gives
    for (PyFrameObject* frame = PyEval_GetFrame(); frame != nullptr;) {
        if (!is_ours(frame)) {
            const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
            const nb::object file = nb::steal(PyObject_GetAttrString(code.ptr(), "co_filename"));
            const char* path = file.is_valid() ? PyUnicode_AsUTF8AndSize(file.ptr(), nullptr) : nullptr;
            if (path == nullptr) break;
            const std::string_view whole(path);
            const std::string_view name = whole.substr(whole.find_last_of('/') + 1);
            return std::string(name) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
        }
        frame = PyFrame_GetBack(frame);
        held = nb::steal(reinterpret_cast<PyObject*>(frame));
    }
    PyErr_Clear();
    return {};
}

std::string found_name(const void* address, bool with_element) {
    const auto* at = static_cast<const char*>(address);
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    auto next = known.all.upper_bound(at);
    if (next == known.all.begin()) return {};
    const auto& [start, named] = *--next;
    const auto offset = static_cast<std::size_t>(at - start);
    if (offset >= named.bytes) return {};
    if (!with_element || named.bytes <= named.item) return "the " + named.text;
    return "element " + std::to_string(offset / named.item) + " of the " + named.text;
}

}  // namespace

void name_memory(const void* address, std::size_t bytes, std::size_t item, std::string what) {
    const std::string line = caller_line();
    if (!line.empty()) what += " allocated at " + line;
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    known.all.insert_or_assign(static_cast<const char*>(address),
                               Named{bytes, item == 0 ? 1 : item, std::move(what)});
}

void forget_name(const void* address) noexcept {
    Names& known = names();
    const std::lock_guard lock(known.mutex);
    known.all.erase(static_cast<const char*>(address));
}

std::string name_of(const void* address) { return found_name(address, true); }
std::string array_name(const void* address) { return found_name(address, false); }

}  // namespace atl::python
