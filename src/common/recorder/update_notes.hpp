// UpdateNotes: the last updates of a PE to words of symmetric memory, for hang reports. The table is in the
// job board's memory, where other PEs and the launcher read it.
#pragma once

#include "common/recorder/update_sites.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::common {

enum class UpdateKind : std::uint8_t {
    set,     ///< the word got the value
    add,     ///< the value was added
    change,  ///< another atomic operation, or another value than an integer
    put,     ///< value is the number of bytes
};

/// The last update of a word on a PE. Threads that update at once may mix their values.
struct UpdateNote {
    std::atomic<std::uint64_t> offset;  ///< the word's offset + 1; 0: none
    std::atomic<std::uint64_t> value;
    std::atomic<std::uint64_t> to;     ///< the PE; above it the UpdateKind
    std::atomic<std::uint64_t> count;  ///< updates of this kind in a row
    std::atomic<std::uint64_t> site;   ///< the number of a place in UpdateSites, and above it `count` then

    static constexpr int site_shift = 8;
    static constexpr int kind_shift = 32;
    static constexpr std::uint64_t packed(std::uint64_t pe, UpdateKind kind) {
        return pe | static_cast<std::uint64_t>(kind) << kind_shift;
    }
    static constexpr std::uint64_t pe_of(std::uint64_t to) {
        return to & ((std::uint64_t{1} << kind_shift) - 1);
    }
    static constexpr UpdateKind kind_of(std::uint64_t to) {
        return static_cast<UpdateKind>(to >> kind_shift);
    }
};

/// Zeroed memory is a valid empty table. One process writes it.
struct UpdateNotes {
    /// An update has one of `tries` entries, by its word and PE.
    static constexpr std::size_t entries = 256, tries = 4;
    UpdateNote notes[entries];
    std::atomic<std::uint32_t> has_lost;  ///< 1: an update took the entry of another word or PE
    UpdateSites sites;

    /// An update like the last to its word takes a load of the entry and two stores. Its place in the program
    /// is looked up for the first, second, fourth, ... of such updates.
    [[gnu::always_inline]] void note(std::uint64_t offset, std::uint64_t value, int pe,
                                     UpdateKind kind) noexcept {
        const auto target = static_cast<std::uint64_t>(pe);
        const std::uint64_t to = UpdateNote::packed(target, kind);
        UpdateNote& first = notes[first_entry(offset + 1, target) % entries];
        if (first.offset.load(std::memory_order_relaxed) == offset + 1 &&
            first.to.load(std::memory_order_relaxed) == to) [[likely]] {
            first.value.store(value, std::memory_order_relaxed);
            const std::uint64_t count = first.count.load(std::memory_order_relaxed) + 1;
            first.count.store(count, std::memory_order_relaxed);
            if ((count & (count - 1)) == 0) [[unlikely]]
                find_site(first);
            return;
        }
        UpdateNote& note = entry(offset + 1, target);
        const bool is_like_last = note.offset.load(std::memory_order_relaxed) == offset + 1 &&
                                  note.to.load(std::memory_order_relaxed) == to;
        const std::uint64_t before = is_like_last ? note.count.load(std::memory_order_relaxed) : 0;
        note.offset.store(offset + 1, std::memory_order_relaxed);
        note.value.store(value, std::memory_order_relaxed);
        note.to.store(to, std::memory_order_relaxed);
        note.count.store(before + 1, std::memory_order_relaxed);
        if (!is_like_last) note.site.store(0, std::memory_order_relaxed);
        find_site(note);
    }
    /// Forgets the updates of words from `begin` up to `end`, which get another meaning.
    void forget(std::uint64_t begin, std::uint64_t end) noexcept {
        for (UpdateNote& note : notes)
            if (const std::uint64_t offset = note.offset.load(std::memory_order_relaxed);
                offset > begin && offset <= end)
                note.offset.store(0, std::memory_order_relaxed);
    }
    void clear() noexcept {
        forget(0, ~std::uint64_t{0});
        has_lost.store(0, std::memory_order_relaxed);
        sites.clear();
    }

  private:
    [[gnu::noinline]] void find_site(UpdateNote& note) noexcept {
        if (const std::uint64_t number = sites.number_here(); number != 0)
            note.site.store(number | note.count.load(std::memory_order_relaxed) << UpdateNote::site_shift,
                            std::memory_order_relaxed);
    }
    static constexpr std::uint64_t first_entry(std::uint64_t offset, std::uint64_t pe) noexcept {
        constexpr std::uint64_t word = 8, spread = 31;
        return offset / word + spread * pe;
    }
    /// The entry of a word + 1 on a PE: its own, a free one, or that of another word.
    [[gnu::noinline]] UpdateNote& entry(std::uint64_t offset, std::uint64_t pe) noexcept {
        const std::uint64_t first = first_entry(offset, pe);
        for (std::size_t i = 0; i < tries; ++i) {
            UpdateNote& note = notes[(first + i) % entries];
            const std::uint64_t there = note.offset.load(std::memory_order_relaxed);
            if (there == 0 ||
                (there == offset && UpdateNote::pe_of(note.to.load(std::memory_order_relaxed)) == pe))
                return note;
        }
        has_lost.store(1, std::memory_order_relaxed);
        return notes[first % entries];
    }
};

}  // namespace atl::common
