// Arrays in the memory of a GPU. Inside this module each is known by a header: an ndarray that says address,
// shape, strides and dtype, whose base is a Block with `device` set, and whose elements nobody looks at. So
// all that reads NumPy's struct serves both memories, and only what touches elements asks `on_device`.
#pragma once

#include "array.hpp"

namespace atl::python {

/// atoll.DeviceArray.
struct DeviceArray {
    PyObject_HEAD PyObject* header;
};
extern PyTypeObject* device_array_type;
void register_device_array(PyObject* module);

inline PyArrayObject* header_of(PyObject* device_array) noexcept {
    return as_array(reinterpret_cast<DeviceArray*>(device_array)->header);
}
/// A new atoll.DeviceArray that shows what `header` describes.
Ref make_device_array(Ref header);
/// Its slots for bool(x), for == and !=, and for hash(x).
int device_array_truth(PyObject* self);
PyObject* device_array_compare(PyObject* self, PyObject* other, int operation);
Py_hash_t device_array_hash(PyObject* self);
/// After this PE's first allocation on its GPU: from here on arguments may be arrays of it.
void note_device(const Job& job);
/// The same memory as an array of `library`: a torch.Tensor, a cupy.ndarray, else an atoll.DeviceArray.
Ref in_library(Ref device_array, Library library);

/// The header of any library's array on this PE's GPU; empty where `value` is none, or is in other memory.
Ref header_for(PyObject* value, Library& library);
/// The handle of a library's current stream on this PE's GPU; where none is named, of the only one imported.
void* current_stream_of(Library library);
/// What is wrong with an array of a GPU that could not be adopted, for a message; empty for anything else.
std::string why_not_adopted(PyObject* value);

/// Throws Unsupported, naming the PE, where one of the team is reached by a transport only.
void check_in_window(const char* function, const Team& team);

/// The Python module atoll._device, which knows other libraries' names for things.
PyObject* device_module();

// ---- element types that NumPy has no name for: a structured dtype with one field, called like the type
struct SpecialType {
    const char* name;
    int bytes;
    int dlpack_code;
    bool reducible;
    DType type;
};
/// Null for all others.
const SpecialType* special_type(PyArray_Descr* descr) noexcept;
/// A dtype as messages show it: such a type by its name.
Ref dtype_name(PyArray_Descr* descr);
inline Ref dtype_name(PyArrayObject* array) { return dtype_name(PyArray_DESCR(array)); }
/// If one is such a type and the other the type of that name that ml_dtypes gives NumPy: the same bits.
bool same_special(PyArray_Descr* a, PyArray_Descr* b);
/// One element of such a type, of 8 bits, for a number, and the other way (atoll/_narrow.py).
std::uint8_t float8_code(const SpecialType& type, double number);
double float8_number(const SpecialType& type, std::uint8_t code);
/// What reductions on a GPU make of a dtype.
DTypeRow device_row_of(PyArrayObject* array) noexcept;

// ---- moving data
/// `stream=`: absent (the call blocks the host), or a stream of this PE's GPU.
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
/// Before a call that blocks the host reads or writes arrays of a library: what that library's current stream
/// was given is done.
[[gnu::cold]] void finish_current(const Adopted& adopted);
[[noreturn, gnu::cold]] void fail_on_host(const Spec& spec, const char* which, PyArrayObject* array);

/// If a call concerns a GPU at all. What atoll.pin() returned was adopted, too, and is of the host.
inline bool is_device_call(const Adopted& adopted, PyObject* stream) noexcept {
    for (int i = 0; i < adopted.n; ++i)
        if (on_device(reinterpret_cast<PyArrayObject*>(adopted.headers[i]))) return true;
    return given(stream);
}

struct FarTransfer;
void move_on_device(const Context& ctx, StreamArg stream, const FarTransfer& t);
/// All of `far`, to or from an array of its shape.
void move_whole_on_device(const Context& ctx, StreamArg stream, PyArrayObject* far, PyArrayObject* near,
                          int pe, bool put);
/// What put and put_signal read where `dst` is on a GPU: an array of dst's dtype and shape. A number (as one
/// element with strides of 0) or a list becomes one on the host, which no stream takes.
Ref device_source(const Spec& spec, PyArrayObject* dst, PyObject* src, StreamArg stream);
/// put and get with a GPU on either side, or both; all is checked here.
void put_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src, int pe,
                   StreamArg stream, const Adopted& adopted);
void get_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyArrayObject* src, int pe,
                   StreamArg stream, const Adopted& adopted);
/// One element of 1, 2, 4 or 8 bytes, on a stream.
void store_on_stream(const Spec& spec, const Context& ctx, StreamArg stream, char* dst, const char* element,
                     std::size_t bytes, int pe);
/// Any device array's contents, or those of pinned memory of the host, of whichever PE, as a NumPy array.
Ref contents_of(PyArrayObject* header);

}  // namespace atl::python
