#include "core/hang/word_updates.hpp"

#include "common/pe_ranges.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace atl::core {

namespace {

using common::PeDoing;
using common::UpdateKind;
using common::UpdateSeen;

/// The updates of one kind that are known, by PE: signals, or puts and atomic operations.
class Known {
  public:
    /// Signals, if any PE has signalled the awaited word or that of another PE. A word seldom gets both.
    Known(const std::vector<PeDoing>& doing, int waiting) : doing_(doing), waiting_(waiting) {
        const std::uint64_t place = wait().offset;
        uses_signals_ = std::any_of(doing.begin(), doing.end(), [&](const PeDoing& one) {
            return std::any_of(one.signals.begin(), one.signals.end(),
                               [&](const UpdateSeen& seen) { return covers(seen, place); });
        });
        has_lost_ = std::any_of(doing.begin(), doing.end(), [&](const PeDoing& one) {
            return one.signals_lost || (!uses_signals_ && one.writes_lost);
        });
    }

    int n_pes() const { return static_cast<int>(doing_.size()); }
    int waiting() const { return waiting_; }
    const common::WaitCopy& wait() const { return doing_[static_cast<std::size_t>(waiting_)].wait; }
    /// True if updates are missing. Then a PE without one may have made one.
    bool has_lost() const { return has_lost_; }

    const std::vector<UpdateSeen>& of(int pe) const {
        const PeDoing& one = doing_[static_cast<std::size_t>(pe)];
        return uses_signals_ ? one.signals : one.writes;
    }
    /// Both kinds.
    std::vector<UpdateSeen> all_of(int pe) const {
        const PeDoing& one = doing_[static_cast<std::size_t>(pe)];
        std::vector<UpdateSeen> all = one.signals;
        all.insert(all.end(), one.writes.begin(), one.writes.end());
        return all;
    }

    static bool covers(const UpdateSeen& seen, std::uint64_t place) {
        const std::uint64_t bytes = seen.kind == UpdateKind::put ? seen.value : 1;
        return place >= seen.place && place - seen.place < bytes;
    }

    const char* verb() const { return uses_signals_ ? "signalled" : "updated"; }

  private:
    const std::vector<PeDoing>& doing_;
    int waiting_;
    bool uses_signals_ = false, has_lost_ = false;
};

bool has_word(const PeDoing& waiting) {
    return waiting.wait.word_bytes != 0 && waiting.wait.offset != ~std::uint64_t{0};
}

/// "last added 1 to it", "last set it to 4". `object` is "it".
std::string text_of(const UpdateSeen& seen, const std::string& object) {
    const auto value = std::to_string(static_cast<std::int64_t>(seen.value));
    switch (seen.kind) {
        case UpdateKind::set:
            return "last set " + object + " to " + value;
        case UpdateKind::add:
            return "last added " + value + " to " + object;
        case UpdateKind::change:
            return "last changed " + object;
        case UpdateKind::put:
            break;
    }
    return "last put " + value + " bytes to " + object;
}

/// "PE 0,2 last added 1 to it, PE 1 last set it to 4".
WordUpdates joined(const std::map<std::string, std::vector<int>>& pes_by_text) {
    WordUpdates all;
    for (const auto& [text, pes] : pes_by_text) {
        all.text += (all.text.empty() ? "PE " : ", PE ") + common::pe_ranges(pes) + " " + text;
        all.pes.insert(all.pes.end(), pes.begin(), pes.end());
    }
    return all;
}

WordUpdates received(const Known& known) {
    std::map<std::string, std::vector<int>> pes_by_text;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.of(pe))
            if (seen.pe == known.waiting() && Known::covers(seen, known.wait().offset))
                pes_by_text[text_of(seen, "it")].push_back(pe);
    return joined(pes_by_text);
}

/// The one PE that has not updated the awaited word, if all others have, two or more; else -1.
int only_silent(const Known& known, const std::vector<int>& updaters) {
    const std::set<int> sent(updaters.begin(), updaters.end());
    constexpr std::size_t least = 2;
    if (known.has_lost() || sent.size() < least ||
        sent.size() + 2 != static_cast<std::size_t>(known.n_pes()) || sent.contains(known.waiting()))
        return -1;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        if (pe != known.waiting() && !sent.contains(pe)) return pe;
    return -1;
}

/// The PEs whose copy of the awaited word a PE has updated, in ascending order.
std::vector<int> updated_by(const Known& known, int sender) {
    std::vector<int> pes;
    for (const UpdateSeen& seen : known.of(sender))
        if (Known::covers(seen, known.wait().offset)) pes.push_back(seen.pe);
    std::sort(pes.begin(), pes.end());
    pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
    return pes;
}

/// The key of the majority, of two or more and of more than half.
template <class Key> std::optional<Key> majority(const std::map<Key, int>& counts) {
    int all = 0;
    for (const auto& [key, count] : counts) all += count;
    for (const auto& [key, count] : counts)
        if (count > 1 && 2 * count > all) return key;
    return std::nullopt;
}

std::string pattern_text(int waiting) {
    return ", where PE " + std::to_string(waiting) + " follows the pattern of the others";
}

/// The PE that should have updated the word of `waiting`, if most add the same number to their own for the PE
/// that they update, and it updated another PE.
WordUpdates of_another_pe(const Known& known) {
    if (known.has_lost()) return {};
    const int n_pes = known.n_pes();
    std::map<int, int> counts;
    for (int pe = 0; pe < n_pes; ++pe)
        for (const int to : updated_by(known, pe)) ++counts[((to - pe) % n_pes + n_pes) % n_pes];
    const std::optional<int> distance = majority(counts);
    if (!distance) return {};
    const int sender = (known.waiting() - *distance + n_pes) % n_pes;
    const std::vector<int> others = updated_by(known, sender);
    if (others.empty()) return {};
    return {"PE " + std::to_string(sender) + " " + known.verb() + " this word of PE " +
                common::pe_ranges(others) + pattern_text(known.waiting()),
            {sender}};
}

/// An update of another word of the same allocation on the waiting PE.
struct Beside {
    int pe;  ///< that made it
    UpdateSeen update;
    std::int64_t bytes;  ///< behind the awaited word; negative before it
};

std::vector<Beside> updates_beside(const Known& known) {
    const common::WaitCopy& wait = known.wait();
    std::vector<Beside> beside;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.all_of(pe))
            if (seen.pe == known.waiting() && seen.place - wait.block_begin < wait.block_bytes)
                beside.push_back({pe, seen, static_cast<std::int64_t>(seen.place - wait.offset)});
    return beside;
}

/// "the element after it", "the element 3 places before it", "the word 4 bytes after it".
std::string element_text(std::int64_t bytes, std::int64_t word) {
    const std::string side = bytes < 0 ? " before it" : " after it";
    const std::int64_t distance = bytes < 0 ? -bytes : bytes;
    if (distance == word) return "the element" + side;
    if (distance % word != 0) return "the word " + std::to_string(distance) + " bytes" + side;
    return "the element " + std::to_string(distance / word) + " places" + side;
}

std::string beside_text(const Known& known, const Beside& one) {
    return text_of(one.update, element_text(one.bytes, known.wait().word_bytes));
}

/// The PE whose turn the awaited word is, if most PEs update the word of their own number. -1 if that is not
/// known. `word` is the size of a word.
int owner_by_pattern(const std::vector<Beside>& beside, std::int64_t word, int n_pes) {
    std::map<std::int64_t, int> counts;
    for (const Beside& one : beside) ++counts[one.bytes - word * one.pe];
    const std::optional<std::int64_t> first = majority(counts);
    if (!first || *first > 0 || *first % word != 0 || -*first / word >= n_pes) return -1;
    return static_cast<int>(-*first / word);
}

WordUpdates of_other_words(const Known& known) {
    const std::vector<Beside> beside = updates_beside(known);
    const int owner = owner_by_pattern(beside, known.wait().word_bytes, known.n_pes());
    if (owner >= 0 && owner != known.waiting()) {
        const auto its =
            std::find_if(beside.begin(), beside.end(), [&](const Beside& one) { return one.pe == owner; });
        if (its != beside.end())
            return {"PE " + std::to_string(owner) + " " + beside_text(known, *its), {owner}};
        if (known.has_lost()) return {};
        return {"PE " + std::to_string(owner) +
                    " has not updated it, and others have updated the elements beside it",
                {owner}};
    }
    constexpr std::size_t most = 3;
    if (beside.size() > most) return {};
    std::map<std::string, std::vector<int>> pes_by_text;
    for (const Beside& one : beside) pes_by_text[beside_text(known, one)].push_back(one.pe);
    return joined(pes_by_text);
}

}  // namespace

WordUpdates updates_of_word_of(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return {};
    const Known known(doing, waiting);
    WordUpdates updates = received(known);
    if (updates.text.empty()) {
        updates = of_another_pe(known);
        return updates.text.empty() ? of_other_words(known) : updates;
    }
    if (const int silent = only_silent(known, updates.pes); silent >= 0) {
        updates.text += ", and PE " + std::to_string(silent) + " has not " + known.verb() + " it";
        updates.pes = {silent};
    }
    return updates;
}

int only_updater(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return -1;
    const Known known(doing, waiting);
    if (known.has_lost()) return -1;
    const std::vector<int> pes = received(known).pes;
    return pes.size() == 1 && pes[0] != waiting ? pes[0] : -1;
}

}  // namespace atl::core
