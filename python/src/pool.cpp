// Memory for torch.cuda.MemPool out of slabs of the symmetric heap: what libtorch calls, on whichever thread,
// and without the GIL. Sub-allocation is local; PEs that allocate alike get equal offsets.
#include "atoll/export.hpp"

#include "registry.hpp"
#include "state.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace atl::python {
namespace {

constexpr std::size_t granule = 512;  // as CUDA's own blocks

struct Slab {
    std::map<char*, std::size_t> free;
    std::map<char*, std::size_t> taken;
    std::uint64_t log = 14695981039346656037ULL;  ///< of all that was asked for and given, to compare PEs
    std::uint64_t refused = 0;
    /// What must live as long: never given back at the end of the process, when libtorch is not to be called
    /// any more.
    PyObject* kept = nullptr;
};

struct Slabs {
    std::mutex mutex;
    std::map<char*, Slab> by_address;
    char* current = nullptr;  ///< which one new memory comes from
};
Slabs& slabs() {
    static Slabs all;
    return all;
}

void note(Slab& slab, std::uint64_t value) { slab.log = (slab.log ^ value) * 1099511628211ULL; }

void* allocate(std::size_t bytes) {
    Slabs& all = slabs();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_address.find(all.current);
    if (found == all.by_address.end()) return nullptr;
    Slab& slab = found->second;
    const std::size_t size = (bytes + granule - 1) / granule * granule;
    for (auto it = slab.free.begin(); it != slab.free.end(); ++it) {
        if (it->second < size) continue;
        auto [address, room] = *it;
        slab.free.erase(it);
        if (room > size) slab.free[address + size] = room - size;
        slab.taken[address] = size;
        note(slab, size);
        note(slab, static_cast<std::uint64_t>(address - found->first));
        return address;
    }
    ++slab.refused;
    return nullptr;
}

void release(char* address) {
    Slabs& all = slabs();
    const std::lock_guard lock(all.mutex);
    auto owner = all.by_address.upper_bound(address);
    if (owner == all.by_address.begin()) return;
    Slab& slab = (--owner)->second;
    const auto taken = slab.taken.find(address);
    if (taken == slab.taken.end()) return;
    auto [start, size] = *taken;
    slab.taken.erase(taken);
    auto next = slab.free.lower_bound(start);
    if (next != slab.free.end() && next->first == start + size) {
        size += next->second;
        next = slab.free.erase(next);
    }
    if (next != slab.free.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == start) {
            before->second += size;
            return;
        }
    }
    slab.free[start] = size;
}

Spec add_spec, use_spec, use_of_spec, remove_spec;

char* address_of(PyObject* number) {
    void* address = PyLong_AsVoidPtr(number);
    if (PyErr_Occurred()) throw Raised{};
    return static_cast<char*>(address);
}

PyObject* add_body(const Arguments<3>& a) {
    char* address = address_of(a[0]);
    const std::size_t bytes = PyLong_AsSize_t(a[1]);
    const std::lock_guard lock(slabs().mutex);
    Slab& slab = slabs().by_address[address] = Slab{{{address, bytes}}, {}};
    Py_INCREF(a[2]);
    slab.kept = a[2];
    return none();
}
PyObject* use_body(const Arguments<1>& a) {
    const std::lock_guard lock(slabs().mutex);
    char* before = slabs().current;
    slabs().current = address_of(a[0]);
    return PyLong_FromVoidPtr(before);
}
PyObject* use_of_body(const Arguments<1>& a) {
    const std::lock_guard lock(slabs().mutex);
    const Slab& slab = slabs().by_address[address_of(a[0])];
    std::size_t taken = 0;
    for (const auto& [address, bytes] : slab.taken) taken += bytes;
    return Py_BuildValue("KnK", static_cast<unsigned long long>(slab.log), static_cast<Py_ssize_t>(taken),
                         static_cast<unsigned long long>(slab.refused));
}
PyObject* remove_body(const Arguments<1>& a) {
    const std::lock_guard lock(slabs().mutex);
    const auto found = slabs().by_address.find(address_of(a[0]));
    if (found == slabs().by_address.end()) return none();
    PyObject* kept = found->second.kept;  // whoever gets it drops it without this lock, which release() takes
    slabs().by_address.erase(found);
    return kept;
}

const Function functions[] = {
    {"_pool_add", entry<3, add_spec, add_body>, &add_spec, "(address: int, bytes: int, kept: object) -> None",
     "A slab for _pool_use, and what lives as long; see atoll.torch.Pool."},
    {"_pool_use", entry<1, use_spec, use_body>, &use_spec, "(address: int) -> int",
     "New memory comes from that slab, 0: none; returns the one before."},
    {"_pool_use_of", entry<1, use_of_spec, use_of_body>, &use_of_spec,
     "(address: int) -> tuple[int, int, int]",
     "(a number that is equal where PEs allocated alike, bytes in use, how often there was no room)."},
    {"_pool_remove", entry<1, remove_spec, remove_body>, &remove_spec, "(address: int) -> Any",
     "Forget a slab; returns what lived as long."},
};

}  // namespace

void register_pool(PyObject* module) { register_functions(module, functions); }

}  // namespace atl::python

// torch.cuda.memory.CUDAPluggableAllocator finds these by name.
extern "C" ATOLL_API void* atoll_pool_allocate(std::ptrdiff_t bytes, int, void*) {
    return bytes > 0 ? atl::python::allocate(static_cast<std::size_t>(bytes)) : nullptr;
}
extern "C" ATOLL_API void atoll_pool_release(void* address, std::ptrdiff_t, int, void*) {
    atl::python::release(static_cast<char*>(address));
}
