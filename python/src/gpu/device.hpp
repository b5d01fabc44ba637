// Arrays in the memory of a GPU. This module represents each by a header: an ndarray with its address, shape,
// strides and dtype, whose base is a Block with `device` set. Elements of a header are never accessed. Code
// that only reads NumPy's struct serves both memories; code that accesses elements checks `on_device`.
#pragma once

#include "arrays/adopt.hpp"
#include "arrays/special_types.hpp"

namespace atl::python {

void register_device_array(PyObject* module);

/// Makes an atoll.DeviceArray for the memory that `header` describes.
Ref make_device_array(Ref header);
/// Its slots for bool(x), for == and !=, and for hash(x).
int device_array_truth(PyObject* self);
PyObject* device_array_compare(PyObject* self, PyObject* other, int operation);
Py_hash_t device_array_hash(PyObject* self);
/// Call after this PE's first allocation on its GPU: from now on arguments may be GPU arrays.
void note_device(const Job& job);
/// The same memory as an array of `library`: a torch.Tensor, a cupy.ndarray, else an atoll.DeviceArray.
Ref in_library(Ref device_array, Library library);

/// Throws Unsupported, naming the PE, if a PE of the team is reached by a transport only.
void check_in_window(const char* function, const Team& team);

// ---- moving data

/// The argument `stream=`: absent (the call blocks the host), or a stream of this PE's GPU.
struct StreamArg {
    bool given = false;
    void* handle = nullptr;
};
[[gnu::cold]] StreamArg stream_slow(const Spec& spec, PyObject* stream, Library library);
inline StreamArg stream_of(const Spec& spec, PyObject* stream, const Adopted& adopted) {
    if (stream == nullptr || stream == Py_None) [[likely]]
        return {};
    return stream_slow(spec, stream, adopted.library);
}
/// Call before the host reads or writes arrays of a library: waits for the work on that library's current
/// stream.
[[gnu::cold]] void finish_current(const Adopted& adopted);
[[noreturn, gnu::cold]] void fail_on_host(const Spec& spec, const char* which, PyArrayObject* array);

/// True if a call involves a GPU. Results of atoll.pin() are adopted too, but are memory of the host.
inline bool is_device_call(const Adopted& adopted, PyObject* stream) noexcept {
    for (int i = 0; i < adopted.n; ++i)
        if (on_device(reinterpret_cast<PyArrayObject*>(adopted.headers[i]))) return true;
    return given(stream);
}

struct FarTransfer;
void move_on_device(const Context& ctx, StreamArg stream, const FarTransfer& t);
/// Moves all of `far` to or from an array of its shape.
void move_whole_on_device(const Context& ctx, StreamArg stream, PyArrayObject* far, PyArrayObject* near,
                          int pe, bool put);
/// The source of put and put_signal for `dst` on a GPU: an array of dst's dtype and shape. A number becomes
/// one element with strides of 0, and a list an array. Both are on the host, which calls on a stream do not
/// accept.
Ref device_source(const Spec& spec, PyArrayObject* dst, PyObject* src, StreamArg stream);
/// put and get with a GPU on either side, or both; they check all arguments.
void put_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src, int pe,
                   StreamArg stream, const Adopted& adopted);
void get_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyArrayObject* src, int pe,
                   StreamArg stream, const Adopted& adopted);
/// Stores one element of 1, 2, 4 or 8 bytes, on a stream.
void store_on_stream(const Spec& spec, const Context& ctx, StreamArg stream, char* dst, const char* element,
                     std::size_t bytes, int pe);
/// Copies a device array, or pinned memory of the host, of any PE into a NumPy array.
Ref contents_of(PyArrayObject* header);

}  // namespace atl::python
