// The parts of a distributed array, and what the quick forms of its calls take. They leave all else to
// methods of Python.
#pragma once

#include "arrays/box.hpp"
#include "operations/elements/irregular.hpp"

#include <vector>

namespace atl::python {

/// The team of an array, its layout, and this PE's block if it lies in memory of the host.
struct Parts {
    std::vector<BoxAxis> axes;
    Ref memory, team;
    Ref copies;  ///< the class of what `a[box]` returns, for `a[box] += x`; null for NumPy's own
    const Block* block = nullptr;
    int me = 0;
    bool adds_plainly = false;  ///< the block has an update lock
    bool is_over = false;       ///< freed by the array itself

    PyArrayObject* array() const noexcept { return memory.array(); }
    /// True while the general path would find the same memory.
    bool exists() const noexcept {
        return block != nullptr && !is_over && !is_past(block) && block->parent == nullptr;
    }
    /// `spec` names the call in errors.
    const Context& context(const Spec& spec) const;
};

/// The address and the strides of an array on this PE, for the axes of the array that has the box.
struct Near {
    char* data;
    npy_intp strides[NPY_MAXDIMS];

    Near(char* of, const npy_intp* visible, const Box& box) : data(of) {
        int k = 0;
        for (int i = 0; i < box.nd; ++i) {
            const BoxRange& range = box.ranges[i];
            strides[i] = range.is_single ? 0 : visible[k++];
            if (!range.is_reversed) continue;
            data += (range.count - 1) * strides[i];
            strides[i] = -strides[i];
        }
    }
};

/// The part of a box that one PE has: in that PE's block, as addressed in this PE's, and in the other array.
struct Portion {
    npy_intp dims[NPY_MAXDIMS], steps[NPY_MAXDIMS];  ///< steps in bytes, in the block
    char *own, *here;
    std::size_t span;  ///< bytes from `own` to the end of the last element

    Portion(PyArrayObject* block, const Box& box, const Near& near, const BoxShare* shares)
        : own(PyArray_BYTES(block)), here(near.data), span(item_bytes(block)) {
        for (int i = 0; i < box.nd; ++i) {
            dims[i] = shares[i].count;
            own += shares[i].local * PyArray_STRIDES(block)[i];
            here += shares[i].first * near.strides[i];
            steps[i] = box.ranges[i].step * PyArray_STRIDES(block)[i];
            span += static_cast<std::size_t>((dims[i] - 1) * steps[i]);
        }
    }
};

inline PyTypeObject* copies_of(const Parts& parts) noexcept {
    return parts.copies.get() == nullptr ? g.ndarray : reinterpret_cast<PyTypeObject*>(parts.copies.get());
}
/// True for an array whose elements have the block's dtype and are there to be used. It is of NumPy's own
/// class, or was returned by `a[box]`.
bool is_like(const Parts& parts, PyObject* object);
/// Writes a number as NumPy's assignment converts it. False for numbers that it warns of, wraps or refuses.
bool write_number(PyArrayObject* like, PyObject* value, char* element);
/// The strides of an array as if it were broadcast to a shape. False if it does not broadcast.
bool broadcast(PyArrayObject* array, const npy_intp* dims, int nd, npy_intp* strides);

/// Adds values to a box, each element atomically; of complex ones each part. False, with nothing done, if the
/// general path is needed.
bool fast_add(const Parts& parts, PyObject* key, PyObject* value);

}  // namespace atl::python
