#include "gpu/stream_results.hpp"

#include "gpu/device.hpp"

namespace atl::python {

void* stream_elements(const Spec& spec, const char* which, PyObject* object, std::size_t n, Fit fit) {
    PyArrayObject* array = array_arg(spec, which, object);
    check_readable(spec, which, array);
    if (!c_contiguous(array))
        fail(ErrorCode::invalid_argument, "%s(): %s must be contiguous; pass a slice without steps.",
             spec.name, which);
    const std::size_t size = size_of(array);
    if (fit == Fit::equal ? size != n : size < n)
        fail(ErrorCode::shape_mismatch, "%s(): %s has %zu elements; %zu are needed%s.", spec.name, which,
             size, n, fit == Fit::equal ? ", one for each word" : "");
    return PyArray_DATA(array);
}

void fail_stream_dtype(const Spec& spec, const char* which, PyArrayObject* array, int bits) {
    fail(ErrorCode::dtype_mismatch, "%s(): %s has dtype %S; on a stream it is an array of int%d.", spec.name,
         which, dtype_name(array).get(), bits);
}

std::int64_t* out_of(const Spec& spec, PyObject* out, std::size_t n) {
    if (!given(out))
        fail(ErrorCode::invalid_argument,
             "%s(): on a stream nothing can be returned. Pass out=, an int64 array of %zu in memory of the "
             "GPU "
             "or pinned, which takes the result when the stream comes there.",
             spec.name, n);
    auto* found = stream_array<std::int64_t>(spec, "out", out, n, Fit::at_least);
    check_writeable(spec, "out", as_array(out));
    return found;
}

void refuse_out(const Spec& spec, PyObject* out) {
    if (given(out))
        fail(ErrorCode::invalid_argument,
             "%s(): out= is for calls on a stream (stream=); without one the result is returned.", spec.name);
}

void refuse_timeout(const Spec& spec, PyObject* timeout) {
    if (given(timeout))
        fail(ErrorCode::unsupported,
             "%s(): a wait on a stream has no timeout of its own; ATOLL_WAIT_TIMEOUT bounds it.", spec.name);
}

}  // namespace atl::python
