// Known: the recorded updates of PEs, from the view of a PE that waits for a word. It serves
// word_updates.cpp and the files of patterns beside it.
#pragma once

#include "common/board/board.hpp"
#include "core/hang/word_updates.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atl::core {

/// The updates of one kind that are known, by PE: signals, or puts and atomic operations.
class Known {
  public:
    /// Signals, if any PE has signalled the awaited word or that of another PE. A word rarely gets both.
    Known(const std::vector<common::PeDoing>& doing, int waiting);

    int n_pes() const { return static_cast<int>(doing_.size()); }
    int waiting() const { return waiting_; }
    /// The PE that has the awaited word: the waiting one, unless the program polls another PE's word.
    int home() const { return wait().word_pe >= 0 ? wait().word_pe : waiting_; }
    const common::PeDoing& doing_of(int pe) const { return doing_[static_cast<std::size_t>(pe)]; }
    const common::WaitCopy& wait() const { return doing_of(waiting_).wait; }
    bool uses_signals() const { return uses_signals_; }
    bool is_polled() const { return wait().compare == common::compared_by_program; }
    /// True if `pe` waits for its copy of the awaited word.
    bool waits_for_copy(int pe) const {
        const common::PeDoing& one = doing_of(pe);
        return one.waits && one.wait.word_bytes != 0 && one.wait.offset == wait().offset;
    }
    /// True if `pe` waits for the same word.
    bool waits_for_word(int pe) const {
        const common::WaitCopy& its = doing_of(pe).wait;
        return waits_for_copy(pe) && (its.word_pe >= 0 ? its.word_pe : pe) == home();
    }
    /// True if `pe` waits for another word of the awaited one's allocation. An earlier update there has
    /// probably ended an earlier wait.
    bool waits_beside(int pe) const {
        const common::PeDoing& one = doing_of(pe);
        return pe != waiting_ && one.waits && one.wait.word_bytes != 0 && one.wait.offset != wait().offset &&
               is_in_block(one.wait.offset);
    }
    /// True if the update gives the awaited word a value that ends the wait, by itself.
    bool would_end(const common::UpdateSeen& seen) const;
    /// True if `pe` waits for a word that no PE is known to have updated.
    bool waits_for_no_update(int pe) const;
    /// True if `pe` waits for a word of its own, which `by` is known to have updated.
    bool waits_for_update_by(int pe, int by) const;
    /// True if updates are missing. Then a PE without one may have made one.
    bool has_lost() const { return signals_lost_ || (!uses_signals_ && writes_lost_); }
    bool has_lost_any() const { return signals_lost_ || writes_lost_; }

    const std::vector<common::UpdateSeen>& of(int pe) const {
        const common::PeDoing& one = doing_of(pe);
        return uses_signals_ ? one.signals : one.writes;
    }
    /// Both kinds.
    std::vector<common::UpdateSeen> all_of(int pe) const;

    /// True for a place in the allocation that has the awaited word, on any PE.
    bool is_in_block(std::uint64_t offset) const { return offset - wait().block_begin < wait().block_bytes; }
    static bool covers(const common::UpdateSeen& seen, std::uint64_t offset) {
        const std::uint64_t bytes = seen.kind == common::UpdateKind::put ? seen.value : 1;
        return offset >= seen.offset && offset - seen.offset < bytes;
    }

    const char* verb() const { return uses_signals_ ? "signalled" : "updated"; }

  private:
    const std::vector<common::PeDoing>& doing_;
    int waiting_;
    bool uses_signals_ = false, signals_lost_ = false, writes_lost_ = false;
};

/// An update of a word on the waiting PE.
struct Update {
    int pe;  ///< the PE that made it
    common::UpdateSeen seen;
};

/// A value of a word, as a signed number.
std::string number_text(std::uint64_t value);
/// Returns a text such as "1 time" or "3 times".
std::string times_text(std::uint64_t count);
/// Returns a text such as "last added 1 to it", "last set it to 4", where `object` is "it".
std::string text_of(const common::UpdateSeen& seen, const std::string& object);

/// The PEs whose copy of the awaited word a PE has updated, in ascending order.
std::vector<int> updated_by(const Known& known, int sender);

/// An update of the awaited word or of another PE's copy of it.
struct Sent {
    int from, to;
};
std::vector<Sent> all_sent(const Known& known);
/// The number that a PE adds to its own for the number of the PE to update.
int distance_of(const Known& known, const Sent& sent);

/// Returns a text such as "signalled the awaited word of PE 0,2", or "updated …".
std::string updated_text(const Known& known, const std::vector<int>& pes);
/// Returns a text such as ", and none is known on PE 3", of the waiting PE.
std::string none_known_text(const Known& known);

/// Returns a text such as " (its signals: ring.py:27)": the lines of the program that update the awaited word
/// or its copies. Lines of the PEs that `made` names come first. Empty if none is known.
std::string lines_text(const Known& known, const WordUpdates& made);

/// Updates that blame `pe`; `text` describes its mistake, such as "PE 1 ...".
WordUpdates fault(int pe, const std::string& text);
/// The PE has not made an update, which its program may have after the current wait.
WordUpdates omission(int pe, const std::string& text);
/// The PE has made fewer updates than others, which its program may make up for after the current wait.
WordUpdates lateness(int pe, const std::string& text);
/// A text such as "PE 0 last set …, PE 2 last set …": several that may be at fault. Nothing for more than
/// `most`.
WordUpdates faults(const std::vector<std::pair<int, std::string>>& pes, std::size_t most);

/// The key of the majority, of two or more and of more than half.
template <class Key> std::optional<Key> majority(const std::map<Key, int>& counts) {
    int all = 0;
    for (const auto& [key, count] : counts) all += count;
    for (const auto& [key, count] : counts)
        if (count > 1 && 2 * count > all) return key;
    return std::nullopt;
}

}  // namespace atl::core
