// Non-symmetric arrays of a call on a stream, which the GPU reads or writes when the stream reaches the call.
#pragma once

#include "arrays/array_arguments.hpp"

namespace atl::python {

/// Arrays that are read need exactly one element for each word; arrays of results may be larger.
enum class Fit : bool { equal, at_least };

/// Checks a contiguous array of `n` elements and returns their address.
void* stream_elements(const Spec& spec, const char* which, PyObject* array, std::size_t n,
                      Fit fit = Fit::equal);
[[noreturn, gnu::cold]] void fail_stream_dtype(const Spec& spec, const char* which, PyArrayObject* array,
                                               int bits);

/// Does the same for integers of the size of T.
template <class T>
T* stream_array(const Spec& spec, const char* which, PyObject* object, std::size_t n, Fit fit = Fit::equal) {
    PyArrayObject* array = array_arg(spec, which, object);
    if (const DTypeRow& row = row_of(array); !row.known || row.type != atl::dtype<T>)
        fail_stream_dtype(spec, which, array, 8 * sizeof(T));
    return static_cast<T*>(stream_elements(spec, which, object, n, fit));
}

/// Parses `out=`, the array of results of a call on a stream. Required there, and rejected in other calls.
std::int64_t* out_of(const Spec& spec, PyObject* out, std::size_t n);
void refuse_out(const Spec& spec, PyObject* out);
/// Rejects `timeout=` for a wait on a stream.
void refuse_timeout(const Spec& spec, PyObject* timeout);

}  // namespace atl::python
