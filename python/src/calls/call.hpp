// Calls from Python at C speed: METH_FASTCALL functions whose names, defaults and documentation come from one
// line each.
#pragma once

#include "calls/errors.hpp"
#include "calls/signature.hpp"

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace atl::python {

inline constexpr int max_arguments = 10;

/// The parameters of a function. Filled at import from the function's signature.
struct Spec {
    const char* name = "";
    PyObject* keywords[max_arguments] = {};  ///< interned
    int n_required = 0;
    int n_positional = 0;
    int n_total = 0;
    bool takes_device_arrays = false;  ///< set if the signature has the type AnyArray
};

/// The library whose current stream `stream="current"` means.
enum class Library : unsigned char { none, atoll, torch, cupy, other };

/// GPU arrays among the arguments of a call. Headers replace them (see device.hpp), which live as long as the
/// call.
struct Adopted {
    PyObject* headers[max_arguments];
    PyObject* passed[max_arguments];  ///< the array that each header replaces; borrowed
    int n = 0;
    Library library =
        Library::none;  ///< library of the first argument of torch or CuPy, else of the first with a library
    bool of_torch = false, of_cupy = false;  ///< true if some arguments come from that library

    Adopted() = default;
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    ~Adopted() {
        while (n != 0) [[unlikely]] Py_DECREF(headers[--n]);
    }
};
/// Replaces GPU arrays among `n` arguments by headers.
[[gnu::cold]] void adopt(PyObject** values, int n, Adopted& adopted);
/// A copy of State::has_device; here because every call reads it.
inline bool adopts_device_arrays = false;

/// A C function that parses N arguments, and the parameters that it parses. See `entry`.
template <int N> struct Entry {
    static_assert(N <= max_arguments);
    _PyCFunctionFastWithKeywords call;
    Spec* spec;
};

/// One function of the module. A row whose signature has another number of parameters than its entry does not
/// compile: an entry for fewer would write past its arguments.
struct Function {
    const char* name;
    _PyCFunctionFastWithKeywords call;
    Spec* spec;
    const char* signature;
    const char* doc;

    template <int N>
    constexpr Function(const char* its_name, Entry<N> entry, std::type_identity_t<Signature<N>> checked,
                       const char* its_doc)
        : name(its_name), call(entry.call), spec(entry.spec), signature(checked.text), doc(its_doc) {}
};

/// Functions whose signatures and documentation are composed at run time, and the texts to which they point.
struct ComposedFunctions {
    std::vector<Function> functions;
    std::deque<std::string> texts;

    void add(const Function& function) { functions.push_back(function); }
    const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

/// Fills `spec` from the first line of a signature. Returns it without types, the form that inspect.signature
/// needs.
std::string read_signature(Spec& spec, const char* name, std::string_view signature);
void register_functions(PyObject* module, std::span<const Function> functions);

[[noreturn, gnu::cold]] void fail_too_many(const Spec& spec, Py_ssize_t n);
[[noreturn, gnu::cold]] void fail_missing(const Spec& spec, PyObject* const* values);
/// Finds a keyword that is an equal text but another object; throws for an unknown one.
[[gnu::cold]] int find_keyword(const Spec& spec, PyObject* keyword);
void bind_keywords(const Spec& spec, PyObject** values, Py_ssize_t n, PyObject* const* args, PyObject* names);

/// The arguments of one call: borrowed references, null if not passed.
template <int N> struct Arguments {
    PyObject* value[N + (N == 0)];
    Adopted adopted;

    Arguments(const Spec& spec, PyObject* const* args, Py_ssize_t n, PyObject* names) {
        if (n > spec.n_positional) [[unlikely]]
            fail_too_many(spec, n);
        for (int i = 0; i < N; ++i) value[i] = i < n ? args[i] : nullptr;
        if (names != nullptr) bind_keywords(spec, value, n, args, names);
        if constexpr (N > 0) {
            for (int i = static_cast<int>(n); i < spec.n_required; ++i)
                if (value[i] == nullptr) [[unlikely]]
                    fail_missing(spec, value);
            if (adopts_device_arrays && spec.takes_device_arrays) [[unlikely]]
                adopt(value, N, adopted);
        }
    }
    PyObject* operator[](int i) const noexcept { return value[i]; }
};

template <int N, Spec& S, PyObject* (*Body)(const Arguments<N>&)>
PyObject* parse_and_call(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    try {
        return Body(Arguments<N>(S, args, n, names));
    } catch (...) {
        return translate(S.name);
    }
}

/// The C function that parses the arguments and calls `Body(const Arguments<N>&) -> PyObject*`.
template <int N, Spec& S, PyObject* (*Body)(const Arguments<N>&)>
inline constexpr Entry<N> entry{&parse_and_call<N, S, Body>, &S};

}  // namespace atl::python
