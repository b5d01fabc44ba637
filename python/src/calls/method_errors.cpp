// Clear errors for wrong arguments of methods, in place of nanobind's list of overloads and types.
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "calls/registry.hpp"

namespace atl::python {
namespace {

using Call = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

/// The begin of nanobind's objects for functions. PyVectorcall_Function reads the same word, but is not in
/// the stable ABI.
struct Method {
    PyVarObject head;
    Call call;
};

/// nanobind has one function for each of six kinds of methods. A wrapper for each of them needs no look-up.
constexpr std::size_t most_kinds = 8;
std::array<Call, most_kinds> originals{};

Ref text_of(PyObject* method, PyObject* const* args, std::size_t n, PyObject* names) {
    const auto count = static_cast<Py_ssize_t>(n);
    const Ref positional(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(positional.get(), i, Py_NewRef(args[i]));
    const Ref named(PyDict_New());
    for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_Size(names); ++k)
        PyDict_SetItem(named.get(), PyTuple_GetItem(names, k), args[count + k]);
    const Ref module(PyImport_ImportModule("atoll._names.signatures"));
    return Ref(PyObject_CallMethod(module.get(), "wrong_call", "OOO", method, positional.get(), named.get()));
}

bool is_of_arguments(PyObject* error) {
    const Ref text(PyObject_Str(error));
    const char* read = PyUnicode_AsUTF8AndSize(text.get(), nullptr);
    return read != nullptr && std::strstr(read, "(): incompatible function arguments") != nullptr;
}

/// Replaces the error that is set, if nanobind found no overload.
void explain(PyObject* method, PyObject* const* args, std::size_t n, PyObject* names) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
    PyObject *kind = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    try {
        if (is_of_arguments(value)) {
            const Ref text = text_of(method, args, n, names);
            PyErr_SetObject(PyExc_TypeError, text.get());
            Py_XDECREF(kind);
            Py_XDECREF(value);
            Py_XDECREF(trace);
            return;
        }
    } catch (const Raised&) {
        PyErr_Clear();  // the first error is the one to show
    }
    PyErr_Restore(kind, value, trace);
}

template <std::size_t kind>
PyObject* call(PyObject* method, PyObject* const* args, std::size_t flagged, PyObject* names) {
    PyObject* result = originals[kind](method, args, flagged, names);
    // The two highest bits are Python's and nanobind's flags.
    if (result == nullptr) explain(method, args, flagged & (SIZE_MAX >> 2), names);
    return result;
}

template <std::size_t... kinds>
constexpr std::array<Call, most_kinds> wrappers_of(std::index_sequence<kinds...>) {
    return {call<kinds>...};
}

void wrap(PyObject* object) {
    static constexpr std::array<Call, most_kinds> wrappers =
        wrappers_of(std::make_index_sequence<most_kinds>());
    auto* method = reinterpret_cast<Method*>(object);
    for (std::size_t kind = 0; kind < most_kinds; ++kind) {
        if (method->call == wrappers[kind]) return;
        if (originals[kind] != nullptr && originals[kind] != method->call) continue;
        originals[kind] = method->call;
        method->call = wrappers[kind];
        return;
    }
}

}  // namespace

void explain_methods(const nb::module_& module) {
    const nb::object a_class = module.attr("Lock");
    PyTypeObject* const of_methods = Py_TYPE(nb::object(a_class.attr("acquire")).ptr());
    PyTypeObject* const of_classes = Py_TYPE(a_class.ptr());
    for (const nb::handle found : module.attr("__dict__").attr("values")()) {
        if (Py_TYPE(found.ptr()) != of_classes) continue;
        for (const nb::handle item : found.attr("__dict__").attr("items")()) {
            const nb::object name = item[0], member = item[1];
            // A call of these takes 50 ns, of which the check of its result is 3. They have no arguments.
            if (name.equal(nb::str("quiet")) || name.equal(nb::str("fence"))) continue;
            if (Py_TYPE(member.ptr()) == of_methods) wrap(member.ptr());
        }
    }
}

}  // namespace atl::python
