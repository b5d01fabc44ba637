#include "calls/caller.hpp"

#include <algorithm>
#include <utility>

namespace atl::python {
namespace {

const char* text_of(const nb::object& object) {
    return object.is_valid() && PyUnicode_Check(object.ptr()) ? PyUnicode_AsUTF8AndSize(object.ptr(), nullptr)
                                                              : nullptr;
}

/// The module of a frame; empty if it has none.
std::string module_of(PyFrameObject* frame) {
    const nb::object globals =
        nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals"));
    if (!globals.is_valid()) return {};
    PyObject* name = PyDict_GetItemString(globals.ptr(), "__name__");
    const char* text = name == nullptr ? nullptr : text_of(nb::borrow(name));
    return text == nullptr ? "" : text;
}

/// True for frames of the package itself, and of NumPy's operators of its arrays. Their lines do not help a
/// user.
bool is_ours(std::string_view module) {
    return module == "atoll" || module.starts_with("atoll.") || module == "numpy.lib.mixins" ||
           module == "_atoll_torch";
}

/// True for a module of a package, which may have no name.
bool is_of_package(std::string_view module, std::string_view package) {
    return !package.empty() && module.starts_with(package) &&
           (module.size() == package.size() || module[package.size()] == '.');
}

/// A text that a frame's code has as an attribute; empty if it has none.
std::string of_code(PyFrameObject* frame, const char* attribute) {
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const nb::object value = nb::steal(PyObject_GetAttrString(code.ptr(), attribute));
    const char* text = text_of(value);
    return text == nullptr ? "" : text;
}

/// The name of the call that PEs compare before its function runs: the first argument of `compared`.
std::string compared_call(PyFrameObject* frame) {
    if (of_code(frame, "co_name") != "compared") return {};
    const nb::object locals =
        nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_locals"));
    if (!locals.is_valid()) return {};
    const nb::object name = nb::steal(PyMapping_GetItemString(locals.ptr(), "name"));
    const char* text = text_of(name);
    return text == nullptr ? "" : text;
}

/// Frames of functions that users call by another name. An empty function: every one of that module.
constexpr struct {
    std::string_view module, function, called;
} other_names[] = {
    {"atoll._programs.comforts", "print_in_order", "print"},
    {"atoll._programs.comforts", "everywhere", "once"},
    {"atoll._programs.progress", "", "progress"},
};

/// The name of a frame's function, if users call it and it makes calls of its own: "exchange_halo".
std::string operation_of(PyFrameObject* frame, std::string_view module) {
    static constexpr std::string_view groups[] = {"atoll.arrays", "atoll.fft", "atoll.sparse",
                                                  "atoll._objects", "atoll._allocation"};
    if (module == "atoll.arrays._compared") return compared_call(frame);
    if (module == "atoll.arrays._ufuncs") return {};
    for (const auto& other : other_names)
        if (module == other.module && (other.function.empty() || of_code(frame, "co_name") == other.function))
            return std::string(other.called);
    if (std::ranges::none_of(groups, [&](std::string_view group) { return module.starts_with(group); }))
        return {};
    std::string name = of_code(frame, "co_name");
    return name.starts_with('_') || name.starts_with('<') ? "" : name;
}

thread_local const char* named_call = "";

CallerLine line_of(PyFrameObject* frame) {
    std::string path = of_code(frame, "co_filename");
    if (path.empty()) return {};
    return {std::move(path), {}, PyFrame_GetLineNumber(frame)};
}

/// The folder of the standard library, with a slash at its end; empty if unknown.
std::string find_standard_folder() {
    PyObject* modules = PyImport_GetModuleDict();  // borrowed
    PyObject* os = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "os");
    if (os == nullptr) return {};
    const nb::object file = nb::steal(PyObject_GetAttrString(os, "__file__"));
    const char* path = text_of(file);
    const std::string_view text = path == nullptr ? "" : path;
    return std::string(text.substr(0, text.find_last_of('/') + 1));
}

}  // namespace

NamedCall::NamedCall(const char* name) noexcept : before_(std::exchange(named_call, name)) {}
NamedCall::~NamedCall() { named_call = before_; }

bool is_standard(std::string_view file) {
    static const std::string folder = find_standard_folder();
    if (file.starts_with("<frozen")) return true;
    const auto has = [&](std::string_view part) { return file.find(part) != std::string_view::npos; };
    return !folder.empty() && file.starts_with(folder) && !has("/site-packages/") && !has("/dist-packages/");
}

std::string CallerLine::text(bool with_folders) const {
    if (number == 0) return {};
    const std::size_t begin = with_folders ? 0 : file.find_last_of('/') + 1;
    return file.substr(begin) + ":" + std::to_string(number) +
           (operation.empty() ? "" : " (" + operation + ")");
}

std::string handled_exception() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_GetExcInfo(&type, &value, &trace);
    const nb::object kind = nb::steal(type), error = nb::steal(value);
    nb::object entry = nb::steal(trace);
    if (!kind.is_valid() || !PyType_Check(kind.ptr())) return {};
    const auto attribute = [](const nb::object& of, const char* name) {
        return nb::steal(PyObject_GetAttrString(of.ptr(), name));
    };
    const nb::object module = attribute(kind, "__module__"), name = attribute(kind, "__name__");
    const char *package = text_of(module), *text = text_of(name);
    std::string found = text == nullptr || (package != nullptr && is_ours(package)) ? "" : text;
    std::string site;
    while (!found.empty() && entry.is_valid() && !entry.is_none()) {
        const nb::object frame = attribute(entry, "tb_frame"), line = attribute(entry, "tb_lineno");
        if (!frame.is_valid() || !line.is_valid()) break;
        auto* const its = reinterpret_cast<PyFrameObject*>(frame.ptr());
        CallerLine at = line_of(its);
        at.number = static_cast<int>(PyLong_AsLong(line.ptr()));
        if (!is_ours(module_of(its)) && !is_standard(at.file)) site = at.text(false);
        entry = attribute(entry, "tb_next");
    }
    PyErr_Clear();
    return site.empty() ? found : found + " at " + site;
}

std::string calling_line() {
    PyFrameObject* const frame = PyEval_GetFrame();
    if (frame == nullptr) return {};
    const CallerLine line = line_of(frame);
    PyErr_Clear();
    if (!line || is_standard(line.file) || line.file.find("/atoll/") != std::string::npos)
        return caller_line().text(false);
    return line.text(false);
}

CallerLine caller_line(std::string_view skipped) {
    CallerLine found, standard;
    std::string operation = named_call;
    bool is_allocation = !operation.empty();
    nb::object held;  // PyEval_GetFrame borrows, f_back is a new reference
    for (PyFrameObject* frame = PyEval_GetFrame(); frame != nullptr && !found;) {
        const std::string module = module_of(frame);
        if (is_of_package(module, skipped)) {
            // Not a line of the program.
        } else if (!is_ours(module)) {
            CallerLine line = line_of(frame);
            line.operation = operation;
            line.is_allocation = is_allocation;
            CallerLine& caller = is_standard(line.file) ? standard : found;
            if (!caller) caller = std::move(line);
        } else if (std::string its = operation_of(frame, module); !its.empty()) {
            operation = std::move(its);
            is_allocation = module.starts_with("atoll._allocation");
        }
        // The stable ABI lacks PyFrame_GetBack.
        held = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_back"));
        frame = held.is_none() ? nullptr : reinterpret_cast<PyFrameObject*>(held.ptr());
    }
    PyErr_Clear();
    return found ? found : standard;
}

}  // namespace atl::python
