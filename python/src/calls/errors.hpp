// The exception classes, and the cold paths that build error texts.
#pragma once

#include "atoll/error.hpp"

#include "calls/py.hpp"

namespace atl::python {

/// The Python class for a code; borrowed.
PyObject* exception_class(ErrorCode code);

/// Sets the exception with PyErr_Format's text and throws Raised.
[[noreturn, gnu::cold]] void fail(ErrorCode code, const char* format, ...);

/// Translates the exception in flight into a Python one, in a `catch (...)`. Returns null. `function` is
/// added to errors of the core about PE numbers, which lack the name of the call.
[[gnu::cold]] PyObject* translate(const char* function = nullptr) noexcept;

/// Runs `call` and turns what it throws into a Python exception.
template <class Call> PyObject* guard(Call&& call) noexcept {
    try {
        return call();
    } catch (...) {
        return translate();
    }
}

void register_errors(PyObject* module);

}  // namespace atl::python
