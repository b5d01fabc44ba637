// Checks of NumPy arrays passed as arguments. They load from NumPy's struct; the error texts are built out of
// line.
#pragma once

#include "arrays/array_block.hpp"
#include "arrays/dtypes.hpp"

#include <cstdint>

namespace atl::python {

[[noreturn, gnu::cold]] void fail_not_array(const Spec& spec, const char* which, PyObject* value);
[[noreturn, gnu::cold]] void fail_read_only(const Spec& spec, const char* which, PyArrayObject* array);
[[noreturn, gnu::cold]] void fail_freed(const Spec& spec, const char* which, const Block* block);
/// The array of a list, a tuple or a number; throws for other values.
[[gnu::cold]] Ref loose_source(const Spec& spec, const char* which, PyObject* value);
/// Adds to the error that is set, of an ordinary array in a symmetric one's place, that `other` is symmetric.
[[gnu::cold]] void hint_swapped(PyObject* other);
/// Throws if the block is_unmapped.
void check_present(const Spec& spec, const char* which, const Block* block);
/// True for memory of a GPU outside the window of device heaps, such as another library's.
bool is_ordinary_of_gpu(PyArrayObject* array, const char* low);
/// Throws the error for a block that is_past.
[[noreturn, gnu::cold]] void fail_unmapped(const Spec& spec, const char* which, const Block* block);
[[noreturn, gnu::cold]] void fail_dtypes(const Spec& spec, const char* a, PyArrayObject* x, const char* b,
                                         PyArrayObject* y);
/// Like fail_dtypes, for an `output` that this PE writes: the text does not suggest converting it.
[[noreturn, gnu::cold]] void fail_output_dtype(const Spec& spec, const char* input, PyArrayObject* x,
                                               const char* output, PyArrayObject* y);
/// Throws the error for a dtype without atomics.
[[noreturn, gnu::cold]] void fail_atomic_dtype(const Spec& spec, PyArrayObject* dst,
                                               bool integers_only = false);
[[noreturn, gnu::cold]] void fail_shapes(const Spec& spec, const char* a, PyArrayObject* x, const char* b,
                                         PyArrayObject* y);
[[gnu::cold]] void check_dtype_slow(const Spec& spec, const char* which, PyArrayObject* array);
[[gnu::cold]] void check_symmetric_slow(const Spec& spec, const char* which, PyArrayObject* array,
                                        const char* low, std::size_t bytes);
[[gnu::cold]] bool same_dtype_slow(PyArrayObject* a, PyArrayObject* b);
/// True if the shapes are equal once axes of length 1 are left out.
[[gnu::cold]] bool same_shape_slow(PyArrayObject* a, PyArrayObject* b);

inline PyArrayObject* as_array(PyObject* object) noexcept { return reinterpret_cast<PyArrayObject*>(object); }
/// The shape as a tuple, for errors.
[[gnu::cold]] Ref shape_of(PyArrayObject* array);
/// Throws a TypeError for an array whose mask would be lost. Only classes of their own have one.
[[gnu::cold]] void refuse_masked(PyObject* array);
inline bool is_array(PyObject* object) {
    if (object == nullptr) return false;
    if (Py_TYPE(object) == g.ndarray) return true;
    if (!PyArray_Check(object)) return false;
    refuse_masked(object);
    return true;
}
inline PyArrayObject* array_arg(const Spec& spec, const char* which, PyObject* object) {
    if (!is_array(object)) [[unlikely]]
        fail_not_array(spec, which, object);
    return as_array(object);
}
inline std::size_t size_of(PyArrayObject* array) noexcept {
    std::size_t size = 1;
    const int nd = PyArray_NDIM(array);
    const npy_intp* dims = PyArray_DIMS(array);
    for (int i = 0; i < nd; ++i) size *= static_cast<std::size_t>(dims[i]);
    return size;
}
inline std::size_t item_bytes(PyArrayObject* array) noexcept {
    return static_cast<std::size_t>(PyArray_ITEMSIZE(array));
}
inline bool c_contiguous(PyArrayObject* array) noexcept {
    return (PyArray_FLAGS(array) & NPY_ARRAY_C_CONTIGUOUS) != 0;
}
inline const DTypeRow& row_of(PyArrayObject* array) noexcept {
    return row_of(PyArray_DESCR(array)->type_num);
}
inline bool plain_native(PyArrayObject* array) noexcept {
    return row_of(array).plain && PyArray_DESCR(array)->byteorder != NPY_OPPBYTE;
}

/// Refuses Python objects, and bytes in foreign order.
inline void check_dtype(const Spec& spec, const char* which, PyArrayObject* array) {
    if (!plain_native(array)) [[unlikely]]
        check_dtype_slow(spec, which, array);
}
inline bool same_dtype(PyArrayObject* a, PyArrayObject* b) {
    if (PyArray_DESCR(a) == PyArray_DESCR(b)) return true;
    if (PyArray_DESCR(a)->type_num == PyArray_DESCR(b)->type_num && plain_native(a) && plain_native(b))
        return true;
    return same_dtype_slow(a, b);
}
inline bool same_shape(PyArrayObject* a, PyArrayObject* b) {
    const int nd = PyArray_NDIM(a);
    if (nd == PyArray_NDIM(b)) {
        int i = 0;
        while (i < nd && PyArray_DIMS(a)[i] == PyArray_DIMS(b)[i]) ++i;
        if (i == nd) [[likely]]
            return true;
    }
    return same_shape_slow(a, b);
}

/// Checks an array that a call reads: its memory must still exist.
inline void check_readable(const Spec& spec, const char* which, PyArrayObject* array) {
    if (PyArray_BASE(array) == nullptr) return;
    const Block* block = block_of(array);
    if (block != nullptr && (block->freed || block->parent != nullptr || block->device >= 0)) [[unlikely]]
        check_present(spec, which, block);
}
/// Checks an array that a call writes on this PE.
inline void check_writeable(const Spec& spec, const char* which, PyArrayObject* array) {
    if (!(PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE)) [[unlikely]]
        fail_read_only(spec, which, array);
    check_readable(spec, which, array);
}
/// Checks that `bytes` from `low` are symmetric memory of this PE, inside the array's own block.
inline void check_symmetric(const Spec& spec, const char* which, PyArrayObject* array, const char* low,
                            std::size_t bytes) {
    const Block* block = block_of(array);
    if (block != nullptr && block->parent == nullptr && !block->freed && block->epoch == g.epoch) [[likely]] {
        const auto offset = static_cast<std::size_t>(low - block->address);
        if (offset <= block->bytes && bytes <= block->bytes - offset) [[likely]]
            return;
    }
    if (bytes != 0 || block != nullptr) check_symmetric_slow(spec, which, array, low, bytes);
}

/// The lowest address and the number of bytes that an array spans.
struct Extent {
    char* low;
    std::size_t bytes;
};
Extent extent_of_strided(PyArrayObject* array) noexcept;
inline Extent extent_of(PyArrayObject* array) noexcept {
    if (PyArray_FLAGS(array) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS))
        return {PyArray_BYTES(array), size_of(array) * item_bytes(array)};
    return extent_of_strided(array);
}

/// Checks a symmetric array that is written (or, if `writes` is false, read) on some PE.
inline Extent symmetric_arg(const Spec& spec, const char* which, PyArrayObject* array, bool writes) {
    if (writes && !(PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE)) [[unlikely]]
        fail_read_only(spec, which, array);
    check_dtype(spec, which, array);
    const Extent extent = extent_of(array);
    check_symmetric(spec, which, array, extent.low, extent.bytes);
    return extent;
}

/// The address of the element with flat (C order) `index`, or null if out of bounds. A negative index counts
/// from the end.
char* element_at(PyArrayObject* array, Py_ssize_t index) noexcept;
[[noreturn, gnu::cold]] void fail_not_one(const Spec& spec, const char* which, PyArrayObject* array,
                                          bool may_choose);
[[noreturn, gnu::cold]] void fail_index(const Spec& spec, const char* which, PyArrayObject* array,
                                        Py_ssize_t index);

/// The index of the only element; throws if the array has another number of elements. `may_choose`: the
/// caller could have passed an index, which the error then suggests.
inline Py_ssize_t only_element(const Spec& spec, const char* which, PyArrayObject* array, bool may_choose) {
    if (size_of(array) != 1) [[unlikely]]
        fail_not_one(spec, which, array, may_choose);
    return 0;
}

/// The address of one element of a symmetric array, given by `index=`. Null, not passed, or None: the only
/// element.
inline char* symmetric_element(const Spec& spec, const char* which, PyArrayObject* array, PyObject* index,
                               bool writes) {
    if (writes && !(PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE)) [[unlikely]]
        fail_read_only(spec, which, array);
    const Py_ssize_t i = given(index) ? small_integer(spec, "index", index)
                                      : only_element(spec, which, array, index == nullptr);
    char* element = nullptr;
    if (PyArray_NDIM(array) == 1 &&
        static_cast<std::size_t>(i) < static_cast<std::size_t>(PyArray_DIMS(array)[0])) [[likely]]
        element = PyArray_BYTES(array) + i * PyArray_STRIDES(array)[0];
    else
        element = element_at(array, i);
    if (element == nullptr) [[unlikely]]
        fail_index(spec, which, array, i);
    check_symmetric(spec, which, array, element, item_bytes(array));
    return element;
}

/// A contiguous source in place of an argument, for a target like `like`. An array of its dtype is used as it
/// is, or copied if strided. Lists of Python numbers are converted. Scalars are not accepted.
Ref source_like(const Spec& spec, const char* which, PyObject* value, const char* like_name,
                PyArrayObject* like);

}  // namespace atl::python
