// The allocator for torch.cuda.MemPool, which takes memory from slabs of the symmetric heap. libtorch calls
// it on any thread without the GIL. Allocation in a slab is local; PEs that allocate equal sizes in equal
// order get equal offsets.
#include "atoll/export.hpp"

#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

#include "calls/registry.hpp"
#include "pool/pool.hpp"
#include "pool/pool_table.hpp"
#include "pool/pool_uses.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace atl::python {

PoolRange pool_range;

namespace {

constexpr std::size_t granule = 512;  // the granularity of CUDA's own blocks

struct Taken {
    std::size_t bytes;
    std::uint64_t number;   ///< number among this PE's allocations, from 1
    std::set<int> alike{};  ///< world PEs known to have an equal allocation
};

struct Slab {
    std::size_t bytes = 0;
    std::map<char*, std::size_t> free;
    std::map<char*, Taken> taken;
    PoolTable table;
    PoolUses uses;                                ///< empty without a table
    std::map<std::uint64_t, std::uint64_t> used;  ///< number of uses, by team
    std::set<PoolUse> alike;  ///< uses that the neighbours are known to have too; without their numbers
    std::uint64_t made = 0;
    std::uint64_t log = 14695981039346656037ULL;  ///< hash of all requests and their results
    std::uint64_t refused = 0;
    /// The object that must live as long as the slab. It is not released at the end of the process, when
    /// libtorch may no longer be called.
    PyObject* kept = nullptr;
};

struct Slabs {
    std::mutex mutex;
    std::map<char*, Slab> by_address;
    char* current = nullptr;  ///< the slab from which new memory is taken
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
        slab.taken[address] = {size, ++slab.made};
        slab.table.enter({static_cast<std::uint64_t>(address - found->first), size, slab.made});
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
    char* start = taken->first;
    std::size_t size = taken->second.bytes;
    slab.table.remove(taken->second.number);
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

Spec pool_add_spec, use_spec, use_of_spec, remove_spec, table_bytes_spec;

char* address_of(PyObject* number) {
    void* address = PyLong_AsVoidPtr(number);
    if (PyErr_Occurred()) throw Raised{};
    return static_cast<char*>(address);
}

/// Called under the lock.
void note_range() {
    std::uintptr_t low = UINTPTR_MAX, high = 0;
    for (const auto& [address, slab] : slabs().by_address) {
        if (!slab.table) continue;
        low = std::min(low, reinterpret_cast<std::uintptr_t>(address));
        high = std::max(high, reinterpret_cast<std::uintptr_t>(address) + slab.bytes);
    }
    pool_range.low = high != 0 ? low : 0;
    pool_range.bytes = high != 0 ? high - low : 0;
}

PyObject* add_body(const Arguments<5>& a) {
    char* address = address_of(a[0]);
    const std::size_t bytes = PyLong_AsSize_t(a[1]);
    char* table = address_of(a[2]);
    const std::size_t table_bytes = PyLong_AsSize_t(a[3]);
    const std::lock_guard lock(slabs().mutex);
    Slab& slab = slabs().by_address[address] = Slab{};
    slab.bytes = bytes;
    slab.free[address] = bytes;
    if (table != nullptr) {
        slab.table = PoolTable(table, table_bytes - PoolUses::bytes);
        slab.uses = PoolUses(table + (table_bytes - PoolUses::bytes));
    }
    Py_INCREF(a[4]);
    slab.kept = a[4];
    note_range();
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
    for (const auto& [address, block] : slab.taken) taken += block.bytes;
    return Py_BuildValue("KnK", static_cast<unsigned long long>(slab.log), static_cast<Py_ssize_t>(taken),
                         static_cast<unsigned long long>(slab.refused));
}
PyObject* table_bytes_body(const Arguments<1>& a) {
    return PyLong_FromSize_t(PoolTable::bytes_for(PyLong_AsSize_t(a[0])) + PoolUses::bytes);
}
PyObject* remove_body(const Arguments<1>& a) {
    const std::lock_guard lock(slabs().mutex);
    const auto found = slabs().by_address.find(address_of(a[0]));
    if (found == slabs().by_address.end()) return none();
    PyObject* kept = found->second.kept;  // the caller drops it without this lock, which release() takes
    slabs().by_address.erase(found);
    note_range();
    return kept;
}

/// A block of this PE, and the table through which it is compared with other PEs.
struct Mine {
    char* slab;
    char* address;
    PoolBlock block;
    PoolTable table;
};

/// Returns the slab that contains the address; null without one. Called under the lock.
std::pair<char*, Slab*> slab_at(char* address) {
    auto slab = slabs().by_address.upper_bound(address);
    if (slab == slabs().by_address.begin()) return {};
    --slab;
    if (static_cast<std::size_t>(address - slab->first) >= slab->second.bytes) return {};
    return {slab->first, &slab->second};
}

/// Returns the block to compare with world PE `pe`. Empty if the address is in no pool, or if the PEs were
/// already found equal.
std::optional<Mine> unknown_on(char* address, int pe) {
    const std::lock_guard lock(slabs().mutex);
    const auto [start, slab] = slab_at(address);
    if (slab == nullptr || !slab->table) return std::nullopt;
    auto at = slab->taken.upper_bound(address);
    if (at == slab->taken.begin()) return std::nullopt;
    --at;
    const Taken& taken = at->second;
    if (static_cast<std::size_t>(address - at->first) >= taken.bytes || taken.alike.contains(pe))
        return std::nullopt;
    const auto offset = static_cast<std::uint64_t>(at->first - start);
    return Mine{start, at->first, {offset, taken.bytes, taken.number}, slab->table};
}

void note_alike(const Mine& mine, int pe) {
    const std::lock_guard lock(slabs().mutex);
    const auto slab = slabs().by_address.find(mine.slab);
    if (slab == slabs().by_address.end()) return;
    const auto at = slab->second.taken.find(mine.address);
    if (at != slab->second.taken.end() && at->second.number == mine.block.number) at->second.alike.insert(pe);
}

[[noreturn]] void fail_pool_block(const Spec& spec, const char* which, const PoolBlock& mine,
                                  const PoolBlock& theirs, int pe) {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    fail(ErrorCode::not_symmetric,
         "%s(): %s is in this PE's allocation %llu of the pool, %llu bytes at offset %llu. PE %d's "
         "allocation %llu is %llu bytes at offset %llu. The PEs have not made tensors of the same sizes in "
         "the same order in it. Make what differs between PEs outside the pool.",
         spec.name, which, number(mine.number), number(mine.bytes), number(mine.offset), pe,
         number(theirs.number), number(theirs.bytes), number(theirs.offset));
}

bool overlap(const PoolBlock& a, const PoolBlock& b) {
    return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// A hash that identifies a team equally on all its members. If two teams collide, their numbers still
/// differ.
std::uint64_t name_of(const core::TeamState& team) {
    std::uint64_t name = 14695981039346656037ULL;
    const auto note = [&](std::uint64_t value) { name = (name ^ value) * 1099511628211ULL; };
    note(static_cast<std::uint64_t>(team.number()));
    for (int pe = 0; pe < team.n_pes(); ++pe) note(static_cast<std::uint64_t>(team.world_pe(pe)));
    return name;
}

/// An entered use of this PE. Empty if neither array is in a pool, or if the neighbours are known to agree.
struct Entered {
    char* slab;
    PoolUses uses;
    PoolUse use;
};
std::optional<Entered> enter_use(const core::TeamState& team, PoolUse use, char* dst, char* src) {
    const std::lock_guard lock(slabs().mutex);
    auto [start, slab] = slab_at(dst);
    if (slab == nullptr) std::tie(start, slab) = slab_at(src);
    if (slab == nullptr || !slab->table) return std::nullopt;
    const auto position = [&, from = start, room = slab->bytes](char* address) -> std::uint64_t {
        const auto offset = static_cast<std::uint64_t>(address - from);
        return offset < room ? offset + 1 : 0;
    };
    use.team = name_of(team);
    use.dst = position(dst);
    use.src = position(src);
    const bool known = slab->alike.contains(use);
    use.number = ++slab->used[use.team];
    slab->uses.enter(use);
    if (known) return std::nullopt;
    return Entered{start, slab->uses, use};
}

void note_use_alike(Entered entered) {
    const std::lock_guard lock(slabs().mutex);
    const auto slab = slabs().by_address.find(entered.slab);
    if (slab == slabs().by_address.end()) return;
    entered.use.number = 0;
    slab->second.alike.insert(entered.use);
}

[[noreturn]] void fail_use(const Spec& spec, const PoolUse& mine, const PoolUse& theirs, int pe) {
    const bool is_dst = mine.dst != theirs.dst;
    const auto position = [](std::uint64_t offset) {
        return offset == 0 ? std::string("outside it") : "at its byte " + std::to_string(offset - 1);
    };
    fail(ErrorCode::not_symmetric,
         "%s(): %s of this PE's collective %llu on tensors of the pool is %s, and PE %d's %s. The PEs have "
         "not made tensors of the same sizes in the same order in it. Make what differs between PEs outside "
         "the pool.",
         spec.name, is_dst ? "dst" : "src", static_cast<unsigned long long>(mine.number),
         position(is_dst ? mine.dst : mine.src).c_str(), pe,
         position(is_dst ? theirs.dst : theirs.src).c_str());
}

const Function pool_functions[] = {
    {"_pool_add", entry<5, pool_add_spec, add_body>,
     "(address: int, bytes: int, table: int, table_bytes: int, kept: object) -> None",
     "Add a slab for _pool_use, with a zeroed table in the host heap for other PEs, and an object that it "
     "keeps alive."},
    {"_pool_use", entry<1, use_spec, use_body>, "(address: int) -> int",
     "Allocate from that slab from now on (0: from none); returns the previous one."},
    {"_pool_use_of", entry<1, use_of_spec, use_of_body>, "(address: int) -> tuple[int, int, int]",
     "(a number that is equal if PEs allocated alike, bytes in use, number of failed allocations)."},
    {"_pool_table_bytes", entry<1, table_bytes_spec, table_bytes_body>, "(segments: int) -> int",
     "The size of the table of a slab with at most so many segments."},
    {"_pool_remove", entry<1, remove_spec, remove_body>, "(address: int) -> Any",
     "Remove a slab; returns the object that it kept alive."},
};

}  // namespace

void check_pool_block_slow(const Spec& spec, const char* which, const void* address, const Context& ctx,
                           int pe) {
    if (pe < 0 || pe >= ctx.n_pes() || pe == ctx.my_pe()) return;
    const int world_pe = ctx.state().team().world_pe(pe);
    const auto mine = unknown_on(static_cast<char*>(const_cast<void*>(address)), world_pe);
    if (!mine) return;
    const auto theirs = mine->table.read(ctx, pe);
    if (!theirs || theirs->made < mine->block.number) return;
    const PoolBlock* same_number = nullptr;
    for (const PoolBlock& block : theirs->blocks) {
        if (block.bytes == 0) continue;
        if (block.offset == mine->block.offset && block.bytes == mine->block.bytes)
            return note_alike(*mine, world_pe);
        if (overlap(block, mine->block)) fail_pool_block(spec, which, mine->block, block, world_pe);
        if (block.number == mine->block.number) same_number = &block;
    }
    // The PE has freed that block, or its table was full.
    if (same_number != nullptr) fail_pool_block(spec, which, mine->block, *same_number, world_pe);
}

void check_use_slow(const Spec& spec, const Team& team, const void* dst, const void* src, std::size_t bytes) {
    const Context& ctx = team.context();
    const core::TeamState& members = ctx.state().team();
    PoolUse use{};
    use.operation = std::hash<std::string_view>{}(spec.name);
    use.bytes = bytes;
    const auto address = [](const void* array) { return static_cast<char*>(const_cast<void*>(array)); };
    const auto entered = enter_use(members, use, address(dst), address(src));
    if (!entered) return;
    const int n = team.n_pes(), next = (team.my_pe() + 1) % n, before = (team.my_pe() + n - 1) % n;
    bool are_alike = true;
    for (const int pe : {next, before}) {
        if (pe == team.my_pe()) continue;
        const auto theirs = entered->uses.read(ctx, entered->use, pe);
        // A different call proves nothing: the PEs are out of step, which other checks report.
        const bool is_same_call = theirs && theirs->operation == use.operation && theirs->bytes == bytes;
        if (is_same_call && *theirs != entered->use)
            fail_use(spec, entered->use, *theirs, members.world_pe(pe));
        are_alike = are_alike && is_same_call;
    }
    if (are_alike) note_use_alike(*entered);
}

void forget_pool_tables() {
    const std::lock_guard lock(slabs().mutex);
    for (auto& [address, slab] : slabs().by_address) slab.table = {};
    note_range();
}

void register_pool(PyObject* module) { register_functions(module, pool_functions); }

}  // namespace atl::python

// torch.cuda.memory.CUDAPluggableAllocator looks these names up.
extern "C" ATOLL_API void* atoll_pool_allocate(std::ptrdiff_t bytes, int, void*) {
    return bytes > 0 ? atl::python::allocate(static_cast<std::size_t>(bytes)) : nullptr;
}
extern "C" ATOLL_API void atoll_pool_release(void* address, std::ptrdiff_t, int, void*) {
    atl::python::release(static_cast<char*>(address));
}
