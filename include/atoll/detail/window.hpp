// The one idea: every PE's memory stands in one window at a constant stride, so that a remote address is
// local address + (slot - my_slot) * stride. Everything here is inlined into the callers' loads and stores.
#pragma once

#include "atoll/error.hpp"
#include "atoll/export.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::detail {

/// How the PEs of a team map to slots of the window. Team PE i has slot `first + i * step`, or `table[i]`;
/// a slot of -1 is outside the window and reached through the transport.
struct TeamMap {
    int my_pe = 0;
    int n_pes = 1;
    int first = 0;
    int step = 1;
    const int* table = nullptr;

    int slot(int team_pe) const noexcept { return table ? table[team_pe] : first + team_pe * step; }
};

/// This PE's view of the host window. `mine` is where slot `my_slot` is mapped.
struct Window {
    char* mine = nullptr;        ///< start of this PE's slot, which is the start of its heap
    std::size_t heap_bytes = 0;  ///< limit of the heap: the checked part of a slot
    int stride_log2 = 0;
    int my_slot = 0;
    std::size_t nontemporal_bytes = SIZE_MAX;  ///< ATOLL_NONTEMPORAL; SIZE_MAX: never
    bool check = true;                          ///< ATOLL_CHECK is `args` or `all`
    int n_slots = 1;
    bool routed = false;  ///< some PE is not in the window, or a transport was forced

    std::ptrdiff_t distance(int slot) const noexcept {
        return static_cast<std::ptrdiff_t>(slot - my_slot) * (std::ptrdiff_t{1} << stride_log2);
    }
    /// The same object on another PE. Only for addresses in this PE's own slot.
    template <class T> T* at(T* local, int slot) const noexcept {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) +
                                    static_cast<std::uintptr_t>(distance(slot)));
    }
    bool holds(const void* p, std::size_t bytes) const noexcept {
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(mine);
        return offset <= heap_bytes && bytes <= heap_bytes - offset;
    }
};

[[noreturn]] ATOLL_API void throw_pe(int pe, int n_pes);
[[noreturn]] ATOLL_API void throw_not_symmetric(const Window& window, const void* address, std::size_t bytes);

}  // namespace atl::detail
