// Block: the Python object at the end of the .base chain of every array in symmetric memory. It knows what
// the array may reach, whether it was freed, and keeps the memory mapped.
#pragma once

#include "state.hpp"

#include <memory>

namespace atl::python {

struct Block {
    PyObject_HEAD char* address;
    std::size_t bytes;
    std::uint64_t serial;
    std::uint64_t epoch;  ///< the job that it belongs to
    bool freed;
    Block* parent;  ///< not null: other PEs' copies of that block (peer, global_view); may be read and
                    ///< written, not named as a symmetric array
    std::shared_ptr<const void>* memory;
    int device;  ///< the number of the GPU that the addresses are for, -1: memory of the host
    /// Memory of that GPU that Atoll knows nothing else of: stands behind the headers of other libraries'
    /// arrays, and has no address.
    bool foreign;
    char* whole;      ///< what the job knows the block by: `address`, or for atoll.register where that begins
    PyObject* keeps;  ///< null, or the array whose memory atoll.register has mapped
};

extern PyTypeObject* block_type;
void register_block(PyObject* module);

/// A new owner of memory that the job has just allocated, on this PE's GPU if `on_device`.
Ref make_block(const Allocation& allocation, std::size_t bytes, bool on_device = false);
/// The owner of what atoll.register made of `keeps`.
Ref make_registered_block(const Job::Registered& registered, std::size_t bytes, PyObject* keeps);
/// It was freed: views of it are so too, and what it kept is let go.
void free_block(Block* block) noexcept;
/// Lets go of registered arrays that were dropped, once all PEs have and their memory is mapped no more.
void release_dropped() noexcept;
/// The owner of this GPU's memory at `address`, or one that stands for memory that no block has: what others
/// made, what was freed in the window, and what a job had that was finalized. Borrowed.
Block* block_at(const char* address, bool has_elements);
/// No longer found by its address.
void forget_block(const Block* block) noexcept;
/// An owner for addresses of other PEs that stand for `parent`.
Ref make_remote_block(Block* parent, char* address, std::size_t bytes);

/// Follows what is no array: memoryviews (.obj), and the go-betweens of other libraries (.base). May be null.
/// What it returns is held by something else than the walk.
[[gnu::cold]] Block* block_behind(PyObject* base) noexcept;

/// The block behind an array, or null. Follows .base through views of views.
inline Block* block_of(PyArrayObject* array) noexcept {
    PyObject* base = PyArray_BASE(array);
    while (base != nullptr) {
        if (Py_TYPE(base) == block_type) return reinterpret_cast<Block*>(base);
        if (!PyArray_Check(base)) [[unlikely]]
            return block_behind(base);
        base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(base));
    }
    return nullptr;
}
/// True where the bytes of an array are a GPU's: it is a header, and NumPy must not look at its elements.
inline bool on_device(PyArrayObject* array) noexcept {
    if (!g.has_device) [[likely]]
        return false;
    const Block* block = block_of(array);
    return block != nullptr && block->device >= 0;
}
inline bool is_freed(const Block* block) noexcept {
    return block->parent ? block->parent->freed : block->freed;
}
/// True where it is no symmetric memory any more: it was freed, or its job finalized.
inline bool is_past(const Block* block) noexcept {
    return is_freed(block) || block->epoch != g.epoch || g.job == nullptr;
}
/// True where the memory is not to be looked at: a GPU's goes with the job, the host's stays mapped while an
/// array refers to it.
inline bool is_gone(const Block* block) noexcept {
    return block->device >= 0 ? is_past(block) : is_freed(block);
}

/// A new array over `data` whose base is `owner`. `strides` may be null.
Ref array_over(PyArray_Descr* descr, int nd, const npy_intp* dims, const npy_intp* strides, char* data,
               PyObject* owner, bool fortran = false);

}  // namespace atl::python
