// Calls from Python at C speed: METH_FASTCALL functions whose names, defaults and documentation come from one
// line each.
#pragma once

#include "errors.hpp"

#include <cstddef>
#include <span>

namespace atl::python {

inline constexpr int max_arguments = 10;

/// What a call needs to know of a function's parameters. Filled at import from the function's signature.
struct Spec {
    const char* name = "";
    PyObject* keywords[max_arguments] = {};  ///< interned
    int n_required = 0;
    int n_positional = 0;
    int n_total = 0;
    bool takes_device_arrays = false;  ///< the signature says so, by the type AnyArray
};

/// Whose current stream `stream="current"` means.
enum class Library : unsigned char { none, atoll, torch, cupy, other };

/// Arrays of a GPU among the arguments of a call: headers stand in for them (see device.hpp), which live as
/// long as the call.
struct Adopted {
    PyObject* headers[max_arguments];
    PyObject* passed[max_arguments];  ///< what each header stands for; borrowed
    int n = 0;
    Library library =
        Library::none;  ///< of the first that is torch's or CuPy's, else of the first that has one
    bool of_torch = false, of_cupy = false;  ///< some of them are

    Adopted() = default;
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    ~Adopted() {
        while (n != 0) [[unlikely]] Py_DECREF(headers[--n]);
    }
};
/// Replaces arrays of a GPU among `n` arguments by headers.
[[gnu::cold]] void adopt(PyObject** values, int n, Adopted& adopted);
/// As State::has_device; here because every call looks at it.
inline bool adopts_device_arrays = false;

/// One function of the module. `signature` is Python's text with types; where it has several lines, the first
/// is what runs and the others are the overloads that type checkers see.
struct Function {
    const char* name;
    _PyCFunctionFastWithKeywords call;
    Spec* spec;
    const char* signature;
    const char* doc;
};

void register_functions(PyObject* module, std::span<const Function> functions);

[[noreturn, gnu::cold]] void fail_too_many(const Spec& spec, Py_ssize_t n);
[[noreturn, gnu::cold]] void fail_missing(const Spec& spec, PyObject* const* values);
/// Finds a keyword whose text is equal but whose object is not; throws for an unknown one.
[[gnu::cold]] int find_keyword(const Spec& spec, PyObject* keyword);
void bind_keywords(const Spec& spec, PyObject** values, Py_ssize_t n, PyObject* const* args, PyObject* names);

/// The arguments of one call: borrowed references, null where not passed.
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

/// The C function behind `Body(const Arguments<N>&) -> PyObject*`.
template <int N, Spec& S, PyObject* (*Body)(const Arguments<N>&)>
PyObject* entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    try {
        return Body(Arguments<N>(S, args, n, names));
    } catch (...) {
        return translate(S.name);
    }
}

}  // namespace atl::python
