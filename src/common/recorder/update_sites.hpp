// UpdateSites: the places in the program of a PE's updates, beside their notes in the job board's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::common {

/// The place of an update in the program, as another process reads it.
struct UpdateSite {
    static constexpr std::size_t most_callers = 8, text_bytes = most_callers * sizeof(std::uint64_t);
    char text[text_bytes] = {};  ///< such as "program.py:12" of a language front; empty if unknown
    std::uint64_t callers[most_callers] = {};  ///< in C and C++: return addresses in the program, then zeros
    bool is_of_last = false;  ///< line of the last update, not of an earlier one with the same values
};

/// Zeroed memory is a valid empty table. One process writes it; threads that write at once may mix two
/// places. To find a place takes microseconds, so a program that updates often has few of its updates looked
/// up.
class UpdateSites {
  public:
    /// Returns the number, from 1, of the place of the call that goes on. Returns 0 if the place is not
    /// looked up now, or the table is full.
    std::uint64_t number_here() noexcept;
    UpdateSite site(std::uint64_t number) const noexcept;
    void clear() noexcept;

  private:
    static constexpr std::size_t most = 64, words = UpdateSite::most_callers;
    struct Entry {
        std::atomic<std::uint64_t> words[UpdateSites::words];  ///< a text, or callers
    };
    bool is_due() noexcept;
    std::uint64_t number_of(const std::uint64_t (&wanted)[words], bool is_text) noexcept;

    Entry entries_[most];
    std::atomic<std::uint64_t> texts_;  ///< a bit for each entry: it is a text
    std::atomic<std::uint32_t> used_;
    std::atomic<std::uint32_t> n_lookups_, left_out_;
    std::atomic<std::uint64_t> last_ticks_;
};

}  // namespace atl::common
