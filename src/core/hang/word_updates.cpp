#include "core/hang/word_updates.hpp"

#include "common/pe_ranges.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
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
        for (const PeDoing& one : doing) {
            signals_lost_ = signals_lost_ || one.signals_lost;
            writes_lost_ = writes_lost_ || one.writes_lost;
        }
    }

    int n_pes() const { return static_cast<int>(doing_.size()); }
    int waiting() const { return waiting_; }
    const common::WaitCopy& wait() const { return doing_[static_cast<std::size_t>(waiting_)].wait; }
    bool uses_signals() const { return uses_signals_; }
    /// True if `pe` waits for its copy of the awaited word.
    bool waits_for_copy(int pe) const {
        const PeDoing& one = doing_[static_cast<std::size_t>(pe)];
        return one.waits && one.wait.word_bytes != 0 && one.wait.offset == wait().offset;
    }
    /// True if updates are missing. Then a PE without one may have made one.
    bool has_lost() const { return signals_lost_ || (!uses_signals_ && writes_lost_); }
    bool has_lost_any() const { return signals_lost_ || writes_lost_; }

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
    bool uses_signals_ = false, signals_lost_ = false, writes_lost_ = false;
};

/// False for a wait for any of several words, of which the record shows the first.
bool has_word(const PeDoing& waiting) {
    const std::string_view operation = waiting.wait.operation;
    return waiting.wait.word_bytes != 0 && waiting.wait.offset != ~std::uint64_t{0} &&
           operation.find("_any") == operation.npos && operation.find("_some") == operation.npos;
}

std::string pe_text(int pe) { return "PE " + std::to_string(pe); }

/// "last added 1 to it", "last set it to 4", where `object` is "it".
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

/// An update of a word on the waiting PE.
struct Update {
    int pe;  ///< that made it
    UpdateSeen seen;
};

/// The updates of the awaited word. A put counts only if its PE made no other update of it.
std::vector<Update> updates_of_word(const Known& known) {
    std::vector<Update> all;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const UpdateSeen* best = nullptr;
        for (const UpdateSeen& seen : known.of(pe))
            if (seen.pe == known.waiting() && Known::covers(seen, known.wait().offset) &&
                (best == nullptr || best->kind == UpdateKind::put))
                best = &seen;
        if (best != nullptr) all.push_back({pe, *best});
    }
    return all;
}

/// "PE 0,2 last added 1 to it, PE 1 last set it to 4". The update that gave the word its value comes last. If
/// the waiting PE set the word, the text has "itself": a reset, rather than an answer of others.
WordUpdates joined(const std::vector<Update>& updates, const Known& known) {
    std::map<std::pair<bool, std::string>, std::vector<int>> pes_by_text;
    for (const auto& [pe, seen] : updates) {
        const bool gave_it = seen.kind == UpdateKind::set && seen.value == known.wait().found;
        const bool is_own = pe == known.waiting() && seen.kind == UpdateKind::set;
        pes_by_text[{gave_it, (is_own ? "itself " : "") + text_of(seen, "it")}].push_back(pe);
    }
    WordUpdates all;
    for (const auto& [key, pes] : pes_by_text) {
        all.text += (all.text.empty() ? "PE " : ", PE ") + common::pe_ranges(pes) + " " + key.second;
        all.pes.insert(all.pes.end(), pes.begin(), pes.end());
    }
    return all;
}

WordUpdates fault(int pe, const std::string& text) { return {pe_text(pe) + " " + text, {pe}, true, false}; }
/// The PE has not made an update, which its program may have after the wait that the PE is in.
WordUpdates omission(int pe, const std::string& text) { return {pe_text(pe) + " " + text, {pe}, true, true}; }

/// "PE 0 last set …, PE 2 last set …": several that may be at fault. Nothing for more than `most`.
WordUpdates faults(const std::vector<std::pair<int, std::string>>& pes, std::size_t most) {
    if (pes.empty() || pes.size() > most) return {};
    WordUpdates all;
    all.tells_fault = true;
    for (const auto& [pe, text] : pes) {
        all.text += (all.text.empty() ? "" : ", ") + pe_text(pe) + " " + text;
        all.pes.push_back(pe);
    }
    return all;
}

/// The one PE that has not updated the awaited word, if all others have, two or more; else -1. The waiting PE
/// may have or not.
int only_silent(const Known& known, const std::vector<Update>& updates) {
    std::set<int> without;
    for (int pe = 0; pe < known.n_pes(); ++pe) without.insert(pe);
    without.erase(known.waiting());
    std::size_t others = 0;
    for (const Update& update : updates)
        if (update.pe != known.waiting()) others += without.erase(update.pe);
    constexpr std::size_t least = 2;
    return known.has_lost() || others < least || without.size() != 1 ? -1 : *without.begin();
}

/// The PE that has added to the awaited word fewer times than all others, two or more, which have alike. The
/// waiting PE itself has another role, so its additions are no measure.
std::optional<WordUpdates> fewer_additions(const Known& known, const std::vector<Update>& updates) {
    std::map<std::uint64_t, std::vector<int>> by_count;
    for (const auto& [pe, seen] : updates) {
        if (pe == known.waiting()) continue;
        if (seen.kind != UpdateKind::add) return std::nullopt;
        by_count[seen.count].push_back(pe);
    }
    if (by_count.size() != 2) return std::nullopt;
    const auto& [few, pe] = *by_count.begin();
    const auto& [many, others] = *by_count.rbegin();
    if (pe.size() != 1 || others.size() < 2) return std::nullopt;
    return fault(pe[0], "has added to the awaited word " + std::to_string(few) +
                            (few == 1 ? " time" : " times") + ", and PE " + common::pe_ranges(others) + " " +
                            std::to_string(many) + " times");
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

/// The last updates by a PE of the awaited word on other PEs than the waiting one.
std::vector<UpdateSeen> of_copies(const Known& known, int sender) {
    std::vector<UpdateSeen> all;
    for (const UpdateSeen& seen : known.of(sender))
        if (seen.pe != known.waiting() && Known::covers(seen, known.wait().offset)) all.push_back(seen);
    return all;
}

/// The only PE whose last update of the awaited word differs from those that it made on other PEs, two or
/// more, all alike. Every other PE has updated all PEs alike.
std::optional<WordUpdates> differs_from_copies(const Known& known, const std::vector<Update>& updates) {
    const auto alike = [](const UpdateSeen& a, const UpdateSeen& b) {
        return a.kind == b.kind && a.value == b.value;
    };
    std::optional<WordUpdates> found;
    if (known.has_lost()) return found;
    for (const auto& [pe, seen] : updates) {
        std::vector<UpdateSeen> others = of_copies(known, pe);
        std::vector<int> pes;
        for (const UpdateSeen& other : others) {
            if (!alike(other, others.front())) return std::nullopt;
            pes.push_back(other.pe);
        }
        if (others.empty() || alike(seen, others.front())) continue;
        constexpr std::size_t least = 2;
        if (found || others.size() < least || seen.kind != others.front().kind) return std::nullopt;
        std::sort(pes.begin(), pes.end());
        found = fault(pe, text_of(others.front(), "the awaited word of PE " + common::pe_ranges(pes)) +
                              ", and " + text_of(seen, "that of " + pe_text(known.waiting())));
    }
    return found;
}

/// An update of the awaited word or of another PE's copy of it.
struct Sent {
    int from, to;
};

std::vector<Sent> all_sent(const Known& known) {
    std::vector<Sent> all;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const int to : updated_by(known, pe)) all.push_back({pe, to});
    return all;
}

/// The number that a PE adds to its own for the PE that it updates.
int distance_of(const Known& known, const Sent& sent) {
    return (sent.to - sent.from + known.n_pes()) % known.n_pes();
}

std::optional<int> usual_distance(const Known& known, const std::vector<Sent>& all) {
    std::map<int, int> counts;
    for (const Sent& sent : all) ++counts[distance_of(known, sent)];
    return majority(counts);
}

/// The one update that leaves the pattern of all others, of nearly every PE.
WordUpdates stray_update(const Known& known) {
    const std::vector<Sent> all = all_sent(known);
    const std::optional<int> usual = known.has_lost() ? std::nullopt : usual_distance(known, all);
    if (!usual || static_cast<int>(all.size()) < known.n_pes()) return {};
    const auto strays = [&](const Sent& sent) { return distance_of(known, sent) != *usual; };
    if (std::count_if(all.begin(), all.end(), strays) != 1) return {};
    const Sent& stray = *std::find_if(all.begin(), all.end(), strays);
    return fault(stray.from, known.verb() + (" the awaited word of PE " + std::to_string(stray.to)) +
                                 ", where PE " + std::to_string((stray.from + *usual) % known.n_pes()) +
                                 " follows the pattern of the others");
}

/// The only PE that has updated the awaited word, and the others, two or more, that have updated it on other
/// PEs, all alike.
struct Alike {
    Update own;
    std::vector<int> others;
    UpdateSeen theirs;
};

std::optional<Alike> updates_alike(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || updates.size() != 1 || updates[0].pe == known.waiting()) return std::nullopt;
    Alike alike{updates[0], {}, {}};
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        for (const UpdateSeen& seen : known.of(pe)) {
            if (seen.pe == known.waiting() || seen.place != known.wait().offset) continue;
            const UpdateSeen& theirs = alike.others.empty() ? seen : alike.theirs;
            if (pe == alike.own.pe || seen.kind != alike.own.seen.kind || seen.value != theirs.value ||
                seen.count != theirs.count)
                return std::nullopt;
            alike.theirs = seen;
            alike.others.push_back(pe);
        }
    }
    constexpr std::size_t least = 2;
    return alike.others.size() < least ? std::nullopt : std::optional(alike);
}

/// The only PE that has updated the awaited word, if it is behind the others, which updated other PEs' words.
std::optional<WordUpdates> behind_others(const Alike& alike) {
    const auto& [pe, seen] = alike.own;
    const std::string others = ", where PE " + common::pe_ranges(alike.others) + " ";
    if (seen.kind == UpdateKind::set && seen.value != alike.theirs.value)
        return fault(pe, text_of(seen, "the awaited word") + others + text_of(alike.theirs, "other PEs'"));
    if (seen.kind == UpdateKind::add && seen.count < alike.theirs.count)
        return fault(pe, "has updated the awaited word " + std::to_string(seen.count) +
                             (seen.count == 1 ? " time" : " times") + others + "have updated other PEs' " +
                             std::to_string(alike.theirs.count) + " times");
    return std::nullopt;
}

/// True if the wait is odd: the only update is like those that other PEs made of other words. No other PE may
/// wait for its copy.
bool is_usual(const Known& known, const Alike& alike) {
    for (int pe = 0; pe < known.n_pes(); ++pe)
        if (pe != known.waiting() && known.waits_for_copy(pe)) return false;
    return alike.own.seen.value == alike.theirs.value &&
           (alike.own.seen.kind != UpdateKind::add || alike.own.seen.count == alike.theirs.count);
}

/// The PE that should have updated the awaited word, but updated it on another PE. Known if most add the same
/// number to their own for the PE that they update.
WordUpdates by_pattern_of_pes(const Known& known) {
    if (known.has_lost()) return {};
    const int n_pes = known.n_pes();
    const std::vector<Sent> all = all_sent(known);
    const std::optional<int> distance = usual_distance(known, all);
    if (!distance || *distance == 0) return {};
    const int sender = (known.waiting() - *distance + n_pes) % n_pes;
    const std::vector<int> others = updated_by(known, sender);
    if (!others.empty())
        return fault(sender, known.verb() + (" the awaited word of PE " + common::pe_ranges(others)) +
                                 ", where " + pe_text(known.waiting()) +
                                 " follows the pattern of the others");
    const bool is_rule = std::all_of(all.begin(), all.end(),
                                     [&](const Sent& sent) { return distance_of(known, sent) == *distance; });
    if (!is_rule) return {};
    return omission(sender, std::string("is not known to have ") + known.verb() +
                                " the awaited word, as the pattern of the others has it");
}

/// The one or two PEs that have updated the word of other PEs only. A PE that updated its own comes alone,
/// and one before the waiting PE comes first.
WordUpdates on_other_pes(const Known& known) {
    std::vector<std::pair<int, std::string>> texts;
    const std::string none = ", and none is known on " + pe_text(known.waiting());
    int own = -1, n_own = 0;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const std::vector<int> pes = updated_by(known, pe);
        if (pes.empty()) continue;
        const bool is_before = (pe + 1) % known.n_pes() == known.waiting();
        texts.emplace(is_before ? texts.begin() : texts.end(), pe,
                      known.verb() + (" the awaited word of PE " + common::pe_ranges(pes)));
        if (pes == std::vector<int>{pe} && ++n_own == 1) own = pe;
    }
    if (n_own == 1 && texts.size() > 1)
        return fault(own, known.verb() + (" its own copy of the awaited word" + none));
    constexpr std::size_t most = 2;
    WordUpdates all = faults(texts, most);
    if (!all.text.empty()) all.text += none;
    return all;
}

/// The only PE whose words the waiting PE updates: it may owe it an answer.
WordUpdates partner(const Known& known) {
    std::set<int> pes;
    for (const UpdateSeen& seen : known.all_of(known.waiting())) pes.insert(seen.pe);
    if (known.has_lost_any() || pes.size() != 1 || *pes.begin() == known.waiting() || known.n_pes() == 2)
        return {};
    return omission(*pes.begin(), "is not known to have updated the awaited word, and " +
                                      pe_text(known.waiting()) + " updates words of this PE alone");
}

/// The updates of other words of the same allocation.
std::vector<Update> updates_beside(const Known& known) {
    const common::WaitCopy& wait = known.wait();
    std::vector<Update> beside;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.all_of(pe))
            if (seen.pe == known.waiting() && seen.place - wait.block_begin < wait.block_bytes &&
                !Known::covers(seen, wait.offset))
                beside.push_back({pe, seen});
    return beside;
}

/// The distance of an updated word from the awaited one; negative before it.
std::int64_t bytes_after(const Known& known, const Update& update) {
    return static_cast<std::int64_t>(update.seen.place - known.wait().offset);
}

/// "the element after the awaited one", "the element 3 places before the awaited one".
std::string element_text(std::int64_t bytes, std::int64_t word) {
    const std::string side = std::string(bytes < 0 ? " before" : " after") + " the awaited one";
    const std::int64_t distance = bytes < 0 ? -bytes : bytes;
    if (distance == word) return "the element" + side;
    if (distance % word != 0) return "the word " + std::to_string(distance) + " bytes" + side;
    return "the element " + std::to_string(distance / word) + " places" + side;
}

std::string beside_text(const Known& known, const Update& one) {
    return text_of(one.seen, element_text(bytes_after(known, one), known.wait().word_bytes));
}

/// The number of the awaited element, if the array has an element for each PE. The known updates must be of
/// PEs to the element of their own number. Else -1.
int owner_by_number(const Known& known, const std::vector<Update>& beside) {
    const common::WaitCopy& wait = known.wait();
    const std::uint64_t word = wait.word_bytes;
    const auto number_of = [&](std::uint64_t place) { return (place - wait.block_begin) / word; };
    const std::uint64_t awaited = number_of(wait.offset);
    const auto n_pes = static_cast<std::uint64_t>(known.n_pes());
    const bool are_own = !beside.empty() && std::all_of(beside.begin(), beside.end(), [&](const Update& one) {
        return number_of(one.seen.place) == static_cast<std::uint64_t>(one.pe);
    });
    return are_own && awaited < n_pes && wait.block_bytes >= n_pes * word ? static_cast<int>(awaited) : -1;
}

/// The PE that the awaited word belongs to, if most PEs update the word of their own number; else -1.
int owner_by_pattern(const Known& known, const std::vector<Update>& beside) {
    const std::int64_t word = known.wait().word_bytes;
    std::map<std::int64_t, int> counts;
    for (const Update& one : beside) ++counts[bytes_after(known, one) - word * one.pe];
    const std::optional<std::int64_t> first = majority(counts);
    if (!first) return owner_by_number(known, beside);
    if (*first > 0 || *first % word != 0 || -*first / word >= known.n_pes()) return -1;
    return static_cast<int>(-*first / word);
}

WordUpdates on_other_words(const Known& known) {
    const std::vector<Update> beside = updates_beside(known);
    const int owner = owner_by_pattern(known, beside);
    if (owner >= 0 && owner != known.waiting()) {
        const auto its =
            std::find_if(beside.begin(), beside.end(), [&](const Update& one) { return one.pe == owner; });
        if (its != beside.end()) return fault(owner, beside_text(known, *its));
        if (known.has_lost_any()) return {};
        return omission(owner,
                        "is not known to have updated the awaited element, and others have updated those "
                        "beside it");
    }
    constexpr std::size_t least = 2;  // updates that make a pattern
    if (owner >= 0 && beside.size() >= least)
        return fault(owner, "waits for the element that is its own by the pattern of the others");
    std::vector<std::pair<int, std::string>> texts;
    for (const Update& one : beside) texts.emplace_back(one.pe, beside_text(known, one));
    constexpr std::size_t most = 3;
    return faults(texts, most);
}

}  // namespace

WordUpdates updates_of_word_of(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return {};
    const Known known(doing, waiting);
    const std::vector<Update> updates = updates_of_word(known);
    if (updates.empty()) {
        for (const auto& find : {by_pattern_of_pes, on_other_words, on_other_pes, partner})
            if (WordUpdates found = find(known); !found.text.empty()) return found;
        return {};
    }
    if (WordUpdates stray = stray_update(known); !stray.text.empty()) return stray;
    WordUpdates made = joined(updates, known);
    if (const int silent = only_silent(known, updates); silent >= 0)
        return omission(silent,
                        (known.uses_signals() ? "has not signalled" : "is not known to have updated") +
                            (" the awaited word (" + made.text + ")"));
    if (const std::optional<WordUpdates> differs = differs_from_copies(known, updates)) return *differs;
    if (const std::optional<WordUpdates> fewer = fewer_additions(known, updates)) return *fewer;
    if (const std::optional<Alike> alike = updates_alike(known, updates))
        if (const std::optional<WordUpdates> behind = behind_others(*alike)) return *behind;
    if (made.pes.size() == 1) {
        std::vector<int> others = updated_by(known, made.pes[0]);
        std::erase(others, waiting);
        constexpr std::size_t most = 2;
        if (!others.empty() && others.size() <= most)
            made.text += ", and updated that of PE " + common::pe_ranges(others) + " too";
    }
    return made;
}

int only_updater(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return -1;
    const Known known(doing, waiting);
    const std::vector<Update> updates = updates_of_word(known);
    if (known.has_lost() || updates.size() != 1 || updates[0].pe == waiting) return -1;
    const UpdateSeen& seen = updates[0].seen;
    if (!known.uses_signals() && seen.kind != UpdateKind::add && seen.count < 2) return -1;
    if (!stray_update(known).text.empty()) return -1;
    const std::optional<Alike> alike = updates_alike(known, updates);
    return alike && (is_usual(known, *alike) || behind_others(*alike)) ? -1 : updates[0].pe;
}

}  // namespace atl::core
