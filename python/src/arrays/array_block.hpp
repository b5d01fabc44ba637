// Block: the Python object at the end of the .base chain of every array in symmetric memory. It bounds the
// memory that the array may access, records whether it was freed, and keeps it mapped.
#pragma once

#include "calls/state.hpp"

#include <memory>
#include <string>

namespace atl::python {

struct Block {
    PyObject_HEAD char* address;
    std::size_t bytes;
    std::uint64_t serial;
    std::uint64_t epoch;  ///< the job that it belongs to
    bool freed;
    Block* parent;  ///< not null: this block is other PEs' copies of `parent` (peer, global_view), for
                    ///< loads and stores only, not a symmetric array of a call
    std::shared_ptr<const void>* memory;
    int device;  ///< the number of the GPU that the addresses are for, -1: memory of the host
    /// True for GPU memory that Atoll does not manage. Such a block is the base of headers of other
    /// libraries' arrays, and has no address.
    bool foreign;
    char* whole;              ///< the job's name of the block: `address`, or its start for atoll.register
    PyObject* keeps;          ///< null, or the array whose memory atoll.register has mapped
    std::string* freed_name;  ///< null, or the name of the array once it was freed
    bool added_to;  ///< a distributed array adds to it under an update lock; accessed by __atomic operations
};

/// Notes that a distributed array lies in the block.
void mark_added_to(Block* block) noexcept;
/// Closes the update lock of a block (core/sync/update_locks.hpp), before this PE's first atomic operation
/// there.
[[gnu::cold]] void close_updates_of(Block* block);
inline void use_atomics_on(Block* block) {
    if (block != nullptr && __atomic_load_n(&block->added_to, __ATOMIC_ACQUIRE)) [[unlikely]]
        close_updates_of(block);
}

extern PyTypeObject* block_type;
void register_block(PyObject* module);

/// Makes the owner of memory that the job has just allocated, on this PE's GPU if `on_device`.
Ref make_block(const Allocation& allocation, std::size_t bytes, bool on_device = false);
/// Makes the owner of the symmetric memory that atoll.register made from `keeps`.
Ref make_registered_block(const Job::Registered& registered, std::size_t bytes, PyObject* keeps);
/// Marks the block, and with it all views, as freed; releases the array that it kept.
void free_block(Block* block) noexcept;
/// Releases registered arrays that were dropped, once all PEs have dropped them and their memory is unmapped.
void release_dropped();
/// The owner of this GPU's memory at `address`. Memory without a block gets a common owner: that of other
/// libraries, freed memory of the window, and memory of a finalized job. Borrowed.
Block* block_at(const char* address, bool has_elements);
/// Removes the block from the look-up by address.
void forget_block(const Block* block) noexcept;
/// Makes an owner for the addresses of other PEs' copies of `parent`.
Ref make_remote_block(Block* parent, char* address, std::size_t bytes);

/// Finds the block behind an object other than an array: memoryviews (.obj), and wrappers of other libraries
/// (.base). May be null. A result is kept alive by another reference than that of the search.
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
/// True if the array is a header of GPU memory, whose elements NumPy must not access.
inline bool on_device(PyArrayObject* array) noexcept {
    if (!g.has_device) [[likely]]
        return false;
    const Block* block = block_of(array);
    return block != nullptr && block->device >= 0;
}
inline bool is_freed(const Block* block) noexcept {
    return block->parent ? block->parent->freed : block->freed;
}
/// True if it is no longer symmetric memory: it was freed, or its job was finalized.
inline bool is_past(const Block* block) noexcept {
    return is_freed(block) || block->epoch != g.epoch || g.job == nullptr;
}
/// True if the memory must not be accessed. A GPU's memory ends with the job; the host's stays mapped while
/// an array refers to it.
inline bool is_unmapped(const Block* block) noexcept {
    return block->device >= 0 ? is_past(block) : is_freed(block);
}

/// A new array over `data` whose base is `owner`. `strides` may be null.
Ref array_over(PyArray_Descr* descr, int nd, const npy_intp* dims, const npy_intp* strides, char* data,
               PyObject* owner, bool fortran = false);

}  // namespace atl::python
