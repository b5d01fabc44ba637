// The locks that a PE holds, with the places where it acquired them, for hang reports. The table is in the
// job board's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace atl::common {

/// Zeroed memory is a valid empty table. The holder's process writes it. Threads that acquire at once may mix
/// the places of two locks.
struct HeldLocks {
    static constexpr std::size_t most = 8, site_bytes = 64;
    struct One {
        std::atomic<std::uint64_t> offset;  ///< the lock's offset + 1; 0: none
        std::atomic<std::uint64_t> caller;  ///< an address in the program; 0: none
        /// The place that a language front gave, "program.py:12"; empty: see `caller`. Others read while the
        /// holder writes.
        std::atomic<char> site[site_bytes];

        std::string site_text() const {
            std::string text;
            for (const std::atomic<char>& each : site) {
                const char letter = each.load(std::memory_order_relaxed);
                if (letter == '\0') break;
                text += letter;
            }
            return text;
        }
    };
    One all[most];

    /// A lock beyond the table's size is left out.
    void note(std::uint64_t offset, const void* caller, std::string_view site) noexcept {
        One* one = find(offset + 1);
        if (one == nullptr) one = find(0);
        if (one == nullptr) return;
        one->caller.store(reinterpret_cast<std::uintptr_t>(caller), std::memory_order_relaxed);
        const std::size_t length = std::min(site.size(), site_bytes - 1);
        const std::string_view end = site.substr(site.size() - length);
        for (std::size_t i = 0; i < length; ++i) one->site[i].store(end[i], std::memory_order_relaxed);
        one->site[length].store('\0', std::memory_order_relaxed);
        one->offset.store(offset + 1, std::memory_order_release);
    }
    void forget(std::uint64_t offset) noexcept {
        if (One* const one = find(offset + 1)) one->offset.store(0, std::memory_order_relaxed);
    }
    void forget_all() noexcept {
        for (One& one : all) one.offset.store(0, std::memory_order_relaxed);
    }

  private:
    One* find(std::uint64_t offset) noexcept {
        for (One& one : all)
            if (one.offset.load(std::memory_order_relaxed) == offset) return &one;
        return nullptr;
    }
};

}  // namespace atl::common
