// Arrays beside the symmetric ones of a call on a stream, for the GPU to read or write when it comes there.
#pragma once

#include "array.hpp"

namespace atl::python {

/// Of what is read there is one for each word; results may go to a larger array.
enum class Fit : bool { equal, at_least };

/// The elements of a contiguous array of `n`.
void* stream_elements(const Spec& spec, const char* which, PyObject* array, std::size_t n,
                      Fit fit = Fit::equal);
[[noreturn, gnu::cold]] void fail_stream_dtype(const Spec& spec, const char* which, PyArrayObject* array,
                                               int bits);

/// The same of integers of that size.
template <class T>
T* stream_array(const Spec& spec, const char* which, PyObject* object, std::size_t n, Fit fit = Fit::equal) {
    PyArrayObject* array = array_arg(spec, which, object);
    if (const DTypeRow& row = row_of(array); !row.known || row.type != atl::dtype<T>)
        fail_stream_dtype(spec, which, array, 8 * sizeof(T));
    return static_cast<T*>(stream_elements(spec, which, object, n, fit));
}

/// `out=`, which takes what a call on a stream finds; needed there, and refused elsewhere.
std::int64_t* out_of(const Spec& spec, PyObject* out, std::size_t n);
void refuse_out(const Spec& spec, PyObject* out);
/// `timeout=` of a wait on a stream.
void refuse_timeout(const Spec& spec, PyObject* timeout);

}  // namespace atl::python
