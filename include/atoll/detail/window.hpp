// Window: the memory of every PE, mapped at a constant stride. A remote address is local address + (slot -
// my_slot) * stride. Everything here is inlined into the callers' loads and stores.
#pragma once

#include "atoll/detail/slot.hpp"
#include "atoll/error.hpp"
#include "atoll/export.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::core {
class JobState;
}

namespace atl::detail {

/// Maps the PEs of a team to slots of the window. Team PE i has slot `first + i * step`, or `table[i]`, which
/// is -1 for a far PE. A team without a table has no far PEs.
struct TeamMap {
    const int* table = nullptr;
    int first = 0;
    int step = 1;
    int n_pes = 1;
    int my_pe = 0;
    unsigned checked_pes = 1;  ///< larger PEs are refused: n_pes, or UINT_MAX with ATOLL_CHECK=none

    Slot slot(int team_pe) const noexcept { return Slot(table ? table[team_pe] : first + team_pe * step); }
};

/// Address range of the executable's own objects in this process, if they are symmetric. Only OpenSHMEM's C
/// front asks for that; elsewhere all fields are zero. Adding `shift` to an object's address gives the same
/// memory in this PE's slot.
struct StaticRange {
    std::uintptr_t image = 0;  ///< the whole executable, including constants, which are equal on all PEs
    std::uintptr_t image_bytes = 0;
    std::uintptr_t data = 0;  ///< its writable part: 0 bytes if it is not shared
    std::uintptr_t data_bytes = 0;
    std::uintptr_t shift = 0;
};

/// This PE's view of the host window. Slot `my_slot` is mapped at `mine`.
struct Window {
    char* mine = nullptr;        ///< start of this PE's slot, which is the start of its heap
    std::size_t fast_bytes = 0;  ///< accesses that begin below this offset need no block look-up; see `takes`
    int stride_log2 = 0;
    int my_slot = 0;
    std::size_t heap_bytes = 0;                ///< limit of the heap: the checked part of a slot
    std::size_t nontemporal_bytes = SIZE_MAX;  ///< ATOLL_NONTEMPORAL; SIZE_MAX: never
    bool check = true;                         ///< ATOLL_CHECK is not `none`
    bool check_args = false;                   ///< ATOLL_CHECK is `args` or `all`
    bool counts = false;                       ///< statistics or a trace: operations take their routed forms
    int n_slots = 1;
    bool routed = false;  ///< a PE is outside the window, or a transport was forced
    bool orders = false;  ///< quiet and fence have more to do than a fence of the CPU: `routed` or `counts`
    StaticRange statics;

    /// The longest access of one element, a `long double _Complex`.
    static constexpr std::size_t element_bytes = 32;
    /// Sets the limit of the heap. With `by_block` every access looks up its block.
    void set_heap(std::size_t bytes, bool by_block) noexcept {
        heap_bytes = bytes;
        fast_bytes = by_block || bytes < element_bytes ? 0 : bytes - element_bytes + 1;
    }
    /// True if the range is in this PE's heap and needs no further check: one comparison for an element.
    /// Ranges at the very end of the heap take the slow path.
    bool takes(const void* p, std::size_t bytes) const noexcept {
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(mine);
        const std::size_t limit = fast_limit();
        if (__builtin_constant_p(bytes) && bytes <= element_bytes) return offset < limit;
        if (__builtin_constant_p(bytes) && bytes > PTRDIFF_MAX)
            return false;  // else compilers warn of the copy
        return offset < limit && bytes <= limit - offset;
    }
    /// `fast_bytes`, which another thread may set meanwhile (ContextBase::count_first_move).
    std::size_t fast_limit() const noexcept { return __atomic_load_n(&fast_bytes, __ATOMIC_RELAXED); }
    void set_fast_limit(std::size_t bytes) noexcept {
        __atomic_store_n(&fast_bytes, bytes, __ATOMIC_RELAXED);
    }
    std::ptrdiff_t distance(Slot slot) const noexcept {
        return static_cast<std::ptrdiff_t>(slot.number() - my_slot) * (std::ptrdiff_t{1} << stride_log2);
    }
    /// The same object on another PE. Only for addresses in this PE's own slot and for symmetric static
    /// objects.
    template <class T> T* at(T* local, Slot slot) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(local);
        if (address - reinterpret_cast<std::uintptr_t>(mine) >= heap_bytes) [[unlikely]]
            return reinterpret_cast<T*>(at_elsewhere(address, slot));
        return reinterpret_cast<T*>(address + static_cast<std::uintptr_t>(distance(slot)));
    }
    /// `at` for addresses of this PE's heap.
    template <class T> T* heap_at(T* local, Slot slot) const noexcept {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(local) +
                                    static_cast<std::uintptr_t>(distance(slot)));
    }
    /// `at`, or null if only a transport reaches the PE.
    template <class T> T* near_at(T* local, Slot slot) const noexcept {
        return slot.is_near() ? at(local, slot) : nullptr;
    }
    /// Offset of an address of this PE's heap.
    std::uint64_t heap_offset(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(mine);
    }
    /// True for a range of the heap or of the executable's symmetric static objects.
    bool holds(const void* p, std::size_t bytes) const noexcept {
        return heap_holds(p, bytes) || within(p, bytes, statics.image, statics.image_bytes);
    }
    bool heap_has(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(mine) < heap_bytes;
    }
    bool heap_holds(const void* p, std::size_t bytes) const noexcept {
        return within(p, bytes, reinterpret_cast<std::uintptr_t>(mine), heap_bytes);
    }
    /// True if other PEs can load and store the range. False for the executable's constants.
    bool shares(const void* p, std::size_t bytes) const noexcept {
        return heap_holds(p, bytes) || within(p, bytes, statics.data, statics.data_bytes);
    }
    /// Offset in this PE's slot of memory that others can load and store.
    std::uint64_t offset_of(const void* p) const noexcept {
        auto address = reinterpret_cast<std::uintptr_t>(p);
        if (address - statics.data < statics.data_bytes) [[unlikely]]
            address += statics.shift;
        return address - reinterpret_cast<std::uintptr_t>(mine);
    }

  private:
    static bool within(const void* p, std::size_t bytes, std::uintptr_t start, std::size_t limit) noexcept {
        const auto offset = reinterpret_cast<std::uintptr_t>(p) - start;
        return offset <= limit && bytes <= limit - offset;
    }
    ATOLL_API std::uintptr_t at_elsewhere(std::uintptr_t address, Slot slot) const noexcept;
};

[[noreturn]] ATOLL_API void throw_pe(int pe, int n_pes);
/// Throws for an address that the host cannot load and store as symmetric memory.
[[noreturn]] ATOLL_API void throw_not_symmetric(const core::JobState& job, const void* address,
                                                std::size_t bytes);

}  // namespace atl::detail
