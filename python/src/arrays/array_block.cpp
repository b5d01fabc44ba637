#include "arrays/array_block.hpp"

#include "core/job/job_state.hpp"
#include "core/sync/update_locks.hpp"

#include "calls/names.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <vector>

namespace atl::python {

PyTypeObject* block_type = nullptr;

namespace {

/// Guards the lists of this file. The GIL does so where there is one. While it is held, no Python object may
/// be made or dropped: that could enter this file once more.
class ListsLock {
#ifdef Py_GIL_DISABLED
  public:
    ListsLock() noexcept { PyMutex_Lock(&mutex); }
    ~ListsLock() { PyMutex_Unlock(&mutex); }
    ListsLock(const ListsLock&) = delete;
    ListsLock& operator=(const ListsLock&) = delete;

  private:
    static inline PyMutex mutex;
#else
  public:
    ListsLock() noexcept {}
#endif
};

/// A registered array whose block was dropped, while other PEs may still write to its memory.
struct Kept {
    char* whole;
    std::uint64_t epoch;
    PyObject* keeps;
};
std::vector<Kept>& dropped() {
    static auto& all = *new std::vector<Kept>;
    return all;
}

void drop(Block* block) noexcept {
    // Garbage collection may not wait for another PE: the job only records that this PE no longer needs the
    // block.
    if (block->parent == nullptr && !is_past(block)) g.job->drop(block->serial);
    if (block->keeps == nullptr) return;
    const ListsLock lock;
    dropped().push_back({block->whole, block->epoch, block->keeps});
}

/// The blocks on this PE's GPU, by address. A freed block is removed, even if views keep it alive.
std::map<const char*, Block*>& device_blocks() {
    static std::map<const char*, Block*> blocks;
    return blocks;
}

/// The addresses of a job's device heaps, those of this PE and of others.
struct Window {
    std::uintptr_t begin;
    std::size_t bytes, stride;
    std::size_t mine;  ///< the start of this PE's slot
    std::uint64_t epoch;

    bool has(std::uintptr_t address) const noexcept { return address - begin < bytes; }
    /// Maps an address in any slot to this PE's slot.
    const char* here(std::uintptr_t address) const noexcept {
        return reinterpret_cast<const char*>(begin + mine + (address - begin) % stride);
    }
};
/// The windows of the jobs so far, the latest last.
std::vector<Window>& windows() {
    static std::vector<Window> all;
    return all;
}

/// The window of the current job, which has a GPU.
Window window_now() {
    const core::JobState& job = g.job->state();
    const gpu::DeviceMemory& device = *job.devices().memory();
    const std::size_t stride = device.window().stride;
    return {reinterpret_cast<std::uintptr_t>(device.window().slot(0)),
            stride * static_cast<std::size_t>(job.window().n_slots), stride,
            stride * static_cast<std::size_t>(job.window().my_slot), g.epoch};
}

/// True if an address of an earlier window was allocated again, as the driver reports.
bool is_reallocated(const char* address) {
    const gpu::DeviceMemory* device = g.job != nullptr ? g.job->state().devices().memory() : nullptr;
    try {
        return device != nullptr && device->local().reaches(address, 1);
    } catch (const Error&) {  // allocated on another GPU
        return true;
    }
}

void enter_device_block(Block* block) {
    const ListsLock lock;
    auto& all = windows();
    if (all.empty() || all.back().epoch != g.epoch) {
        const Window window = window_now();
        std::erase_if(
            all, [&](const Window& old) { return old.begin == window.begin && old.bytes == window.bytes; });
        all.push_back(window);
        device_blocks().clear();  // remove those of earlier jobs
    }
    device_blocks()[block->address] = block;
}

void dealloc(PyObject* self) {
    auto* block = reinterpret_cast<Block*>(self);
    forget_block(block);
    if (block->parent == nullptr && !block->foreign && !is_past(block)) forget_name(block->address);
    drop(block);
    Py_XDECREF(reinterpret_cast<PyObject*>(block->parent));
    delete block->memory;
    delete block->freed_name;
    PyTypeObject* type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject* repr(PyObject* self) {
    const auto* block = reinterpret_cast<Block*>(self);
    return PyUnicode_FromFormat("<atoll block of %zu bytes at %p%s%s>", block->bytes,
                                static_cast<void*>(block->address), block->parent ? ", on other PEs" : "",
                                is_freed(block) ? ", freed" : "");
}

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_doc,
     const_cast<char*>(
         "Owns a piece of symmetric memory; it is the end of the .base chain of every symmetric array.")},
    {0, nullptr},
};
PyType_Spec spec{"atoll.Block", sizeof(Block), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                 slots};

Block* allocate_object() {
    using Allocate = PyObject* (*)(PyTypeObject*, Py_ssize_t);
    auto* block = reinterpret_cast<Block*>(
        reinterpret_cast<Allocate>(PyType_GetSlot(block_type, Py_tp_alloc))(block_type, 0));
    if (block == nullptr) throw Raised{};
    block->freed = true;  // prevents a drop until it is filled in
    block->device = -1;
    return block;
}

/// The common base object of array headers over memory that has no block.
Block* stand_in() {
    Block* block = allocate_object();
    block->foreign = true;
    block->freed = false;
    return block;
}

}  // namespace

void register_block(PyObject* module) {
    block_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (!block_type || PyModule_AddObjectRef(module, "Block", reinterpret_cast<PyObject*>(block_type)) < 0)
        throw Raised{};
}

Block* block_behind(PyObject* base) noexcept {
    constexpr int deepest = 32;  // a class may make its .base chain endless
    PyObject* at = base;
    Py_INCREF(at);
    for (int depth = 0; depth < deepest && at != Py_None && Py_TYPE(at) != block_type; ++depth) {
        PyObject* next = nullptr;
        if (PyArray_Check(at)) {
            next = PyArray_BASE(reinterpret_cast<PyArrayObject*>(at));
            if (next == nullptr) break;
            Py_INCREF(next);
        } else {
            // The attribute may be computed at each access, and only our reference keeps it alive.
            next = PyObject_GetAttrString(at, PyMemoryView_Check(at) ? "obj" : "base");
            if (next == nullptr) {
                PyErr_Clear();
                break;
            }
        }
        Py_DECREF(at);
        at = next;
    }
    // If only our reference keeps the block alive, it does not own the array's memory; the caller then looks
    // up the address.
    Block* found = Py_TYPE(at) == block_type && Py_REFCNT(at) > 1 ? reinterpret_cast<Block*>(at) : nullptr;
    Py_DECREF(at);
    return found;
}

void forget_block(const Block* block) noexcept {
    if (block->device < 0) return;
    const ListsLock lock;
    const auto found = device_blocks().find(block->address);
    if (found != device_blocks().end() && found->second == block) device_blocks().erase(found);
}

Block* block_at(const char* address, bool has_elements) {
    static Block *const others = stand_in(), *const freed = stand_in(), *const finalized = stand_in();
    const ListsLock lock;
    const auto& blocks = device_blocks();
    auto next = blocks.upper_bound(address);
    if (next != blocks.begin()) {
        Block* block = (--next)->second;
        if (block->epoch == g.epoch && static_cast<std::size_t>(address - block->address) < block->bytes)
            return block;
    }
    freed->freed = true;
    for (Block* block : {others, freed, finalized}) block->device = g.device;
    others->epoch = freed->epoch = g.epoch;
    if (!has_elements) return others;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (auto window = windows().rbegin(); window != windows().rend(); ++window) {
        if (!window->has(at)) continue;
        if (window->epoch == g.epoch && g.job != nullptr)
            return g.job->is_symmetric(window->here(at)) ? others : freed;
        return is_reallocated(address) ? others : finalized;
    }
    return others;
}

Ref make_block(const Allocation& allocation, std::size_t bytes, bool on_device) {
    Block* block = allocate_object();
    Ref ref(reinterpret_cast<PyObject*>(block));
    block->memory = new std::shared_ptr<const void>(g.job->memory());
    block->address = static_cast<char*>(allocation.address);
    block->bytes = bytes;
    block->whole = block->address;
    block->serial = allocation.serial;
    block->epoch = g.epoch;
    block->freed = false;
    if (on_device) {
        block->device = g.device;
        enter_device_block(block);
    }
    return ref;
}

Ref make_registered_block(const Job::Registered& registered, std::size_t bytes, PyObject* keeps) {
    Ref ref = make_block({registered.address, false, registered.block.serial}, bytes, true);
    auto* block = reinterpret_cast<Block*>(ref.get());
    block->whole = static_cast<char*>(registered.block.address);
    Py_INCREF(keeps);
    block->keeps = keeps;
    return ref;
}

void free_block(Block* block) noexcept {
    forget_block(block);
    if (std::string name = array_name(block->address); !name.empty())
        block->freed_name = new (std::nothrow) std::string(std::move(name));
    forget_name(block->address);
    block->freed = true;
    Py_CLEAR(block->keeps);
}

void release_dropped() {
    std::vector<Kept> released;
    {
        const ListsLock lock;
        auto& kept = dropped();
        const auto is_mapped = [](const Kept& one) {
            return g.job != nullptr && one.epoch == g.epoch && g.job->is_symmetric(one.whole);
        };
        const auto rest = std::stable_partition(kept.begin(), kept.end(), is_mapped);
        released.assign(rest, kept.end());
        kept.erase(rest, kept.end());
    }
    for (const Kept& one : released) Py_DECREF(one.keeps);
}

Ref make_remote_block(Block* parent, char* address, std::size_t bytes) {
    Block* block = allocate_object();
    Ref ref(reinterpret_cast<PyObject*>(block));
    while (parent->parent) parent = parent->parent;
    Py_INCREF(reinterpret_cast<PyObject*>(parent));
    block->parent = parent;
    block->address = address;
    block->bytes = bytes;
    block->epoch = parent->epoch;
    block->device = parent->device;
    block->freed = false;
    return ref;
}

Ref array_over(PyArray_Descr* descr, int nd, const npy_intp* dims, const npy_intp* strides, char* data,
               PyObject* owner, bool fortran) {
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    const int flags = NPY_ARRAY_WRITEABLE | (fortran ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS);
    Ref array(PyArray_NewFromDescr(g.ndarray, descr, nd, dims, strides, data, flags, nullptr));
    Py_INCREF(owner);
    if (PyArray_SetBaseObject(array.array(), owner) < 0) throw Raised{};
    return array;
}

void mark_added_to(Block* block) noexcept { __atomic_store_n(&block->added_to, true, __ATOMIC_RELEASE); }

void close_updates_of(Block* block) {
    if (is_past(block)) return;
    core::close_updates(g.context->job(), block->serial);
    __atomic_store_n(&block->added_to, false, __ATOMIC_RELEASE);
}

}  // namespace atl::python
