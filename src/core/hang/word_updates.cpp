#include "core/hang/word_updates.hpp"

#include "common/pe_ranges.hpp"
#include "core/hang/known_updates.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

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

/// True for a line of Python that waits within a call, as "x.py:20 (exchange_halo)". Lines of C++ have an
/// address there.
bool is_in_library(std::string_view site) { return site.ends_with(')') && site.find("+0x") == site.npos; }

/// False for a wait for any of several words, of which the record shows the first.
bool has_word(const PeDoing& waiting) {
    const std::string_view operation = waiting.wait.operation;
    return waiting.wait.word_bytes != 0 && waiting.wait.offset != ~std::uint64_t{0} &&
           operation.find("_any") == operation.npos && operation.find("_some") == operation.npos;
}

/// The updates of the awaited word. A put counts only if its PE made no other update of it.
std::vector<Update> updates_of_word(const Known& known) {
    std::vector<Update> all;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const UpdateSeen* best = nullptr;
        for (const UpdateSeen& seen : known.of(pe))
            if (seen.pe == known.home() && Known::covers(seen, known.wait().offset) &&
                (best == nullptr || best->kind == UpdateKind::put))
                best = &seen;
        if (best != nullptr) all.push_back({pe, *best});
    }
    return all;
}

/// A text such as "PE 0,2 last added 1 to it, PE 1 last set it to 4". The update that gave the word its value
/// comes last. If the waiting PE set the word, the text has "itself": a reset, rather than an answer of
/// others.
WordUpdates joined(const std::vector<Update>& updates, const Known& known) {
    std::map<std::pair<bool, std::string>, std::vector<int>> pes_by_text;
    for (const auto& [pe, seen] : updates) {
        const bool gave_it = seen.kind == UpdateKind::set && seen.value == known.wait().found;
        const bool is_own = pe == known.waiting() && seen.kind == UpdateKind::set;
        const bool has_line = seen.site.is_of_last && seen.site.text[0] != '\0';
        const std::string line = has_line ? std::string(" at ") + seen.site.text : "";
        std::string update = text_of(seen, "it");
        // If updates are unknown, a later one may be among them.
        if (known.has_lost() && !gave_it) update.replace(0, std::string_view("last").size(), "once");
        std::string text = is_own ? "itself " : "";
        text.append(update).append(line);
        pes_by_text[{gave_it, text}].push_back(pe);
    }
    WordUpdates all;
    for (const auto& [key, pes] : pes_by_text) {
        all.text += (all.text.empty() ? "PE " : ", PE ") + common::pe_ranges(pes) + " " + key.second;
        all.pes.insert(all.pes.end(), pes.begin(), pes.end());
    }
    return all;
}

/// The one PE that has not updated the awaited word, if all others have, two or more; else -1. The waiting PE
/// may have or not, and counts if it has, except for a reset. If it has updated others' copies, but not that
/// of the silent PE, the two may be no neighbours.
int only_silent(const Known& known, const std::vector<Update>& updates) {
    std::set<int> without;
    for (int pe = 0; pe < known.n_pes(); ++pe) without.insert(pe);
    without.erase(known.waiting());
    std::size_t others = 0;
    for (const auto& [pe, seen] : updates) {
        const bool is_reset = seen.kind == UpdateKind::set && seen.value == known.wait().found;
        others += pe == known.waiting() ? (is_reset ? 0 : 1) : without.erase(pe);
    }
    constexpr std::size_t least = 2;
    if (known.has_lost() || others < least || without.size() != 1) return -1;
    const int silent = *without.begin();
    std::vector<int> back = updated_by(known, known.waiting());
    std::erase(back, known.waiting());
    const bool is_neighbour = back.empty() || std::find(back.begin(), back.end(), silent) != back.end();
    return is_neighbour ? silent : -1;
}

/// The PE that has set the awaited word past the one accepted value: the waiting PE missed it. A wait for 0
/// is one for a reset.
std::optional<WordUpdates> past_the_value(const Known& known, const std::vector<Update>& updates) {
    const common::WaitCopy& wait = known.wait();
    const auto accepted = static_cast<std::int64_t>(wait.expected);
    const bool is_for_one = wait.compare == static_cast<std::uint32_t>(Compare::eq);
    if (!is_for_one || accepted <= 0 || static_cast<std::int64_t>(wait.found) <= accepted)
        return std::nullopt;
    for (const auto& [pe, seen] : updates)
        if (pe != known.waiting() && seen.kind == UpdateKind::set && seen.value == wait.found)
            return fault(pe, text_of(seen, "the awaited word") + ", past the " + std::to_string(accepted) +
                                 " that " + pe_text({known.waiting()}) + " waits for");
    return std::nullopt;
}

/// The PE that has added to the awaited word fewer times than all others, two or more, each equally often.
/// The waiting PE itself has another role, so its additions are no measure.
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
    return lateness(pe[0], "has added to the awaited word " + times_text(few) + ", and PE " +
                               common::pe_ranges(others) + " " + std::to_string(many) + " times");
}

/// The additions of the waiting PE to the copy of the awaited word on `pe`; 0 if it made other updates, too.
std::uint64_t additions_back(const Known& known, int pe) {
    for (const UpdateSeen& seen : known.of(known.waiting()))
        if (seen.pe == pe && seen.offset == known.wait().offset)
            return seen.kind == UpdateKind::add ? seen.count : 0;
    return 0;
}

/// The only PE that has added to the awaited word fewer times than the waiting PE to its own. Neighbours of a
/// stencil count each other's edges, and some pairs have two.
std::optional<WordUpdates> fewer_than_back(const Known& known, const std::vector<Update>& updates) {
    constexpr std::size_t least = 2;
    if (known.has_lost() || updates.size() < least) return std::nullopt;
    std::optional<WordUpdates> found;
    for (const auto& [pe, seen] : updates) {
        const std::uint64_t back = additions_back(known, pe);
        if (pe == known.waiting() || seen.kind != UpdateKind::add || back == 0) return std::nullopt;
        if (seen.count == back) continue;
        if (found || seen.count > back) return std::nullopt;
        found = omission(pe, "has added to the awaited word " + times_text(seen.count) + ", and " +
                                 pe_text({known.waiting()}) + " to that of PE " + std::to_string(pe) + " " +
                                 std::to_string(back) + " times");
    }
    return found;
}

/// The last updates by a PE of the awaited word on other PEs than the waiting one.
std::vector<UpdateSeen> of_copies(const Known& known, int sender) {
    std::vector<UpdateSeen> all;
    for (const UpdateSeen& seen : known.of(sender))
        if (seen.pe != known.waiting() && Known::covers(seen, known.wait().offset)) all.push_back(seen);
    return all;
}

/// The only PE whose last update of the awaited word differs from its updates on other PEs, two or more, all
/// alike. Every other PE has updated all PEs alike.
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
                              ", and " + text_of(seen, "that of " + pe_text({known.waiting()})));
    }
    return found;
}

/// The only PE that has updated the awaited word, and the others, two or more, that have updated it on other
/// PEs, all alike.
struct EqualUpdates {
    Update own;
    std::vector<int> others;
    UpdateSeen theirs;
};

std::optional<EqualUpdates> equal_updates(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || updates.size() != 1 || updates[0].pe == known.waiting()) return std::nullopt;
    EqualUpdates alike{updates[0], {}, {}};
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        for (const UpdateSeen& seen : known.of(pe)) {
            if (seen.pe == known.waiting() || seen.offset != known.wait().offset) continue;
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

/// The only PE that has updated the awaited word, if it is behind the others with their updates of other
/// words.
std::optional<WordUpdates> behind_others(const EqualUpdates& alike) {
    const auto& [pe, seen] = alike.own;
    const std::string others = ", where PE " + common::pe_ranges(alike.others) + " ";
    if (seen.kind == UpdateKind::set && seen.value != alike.theirs.value)
        return lateness(pe, text_of(seen, "the awaited word") + others + text_of(alike.theirs, "other PEs'"));
    if (seen.kind == UpdateKind::add && seen.count < alike.theirs.count)
        return lateness(pe, "has updated the awaited word " + times_text(seen.count) + others +
                                "have updated other PEs' " + std::to_string(alike.theirs.count) + " times");
    return std::nullopt;
}

/// True if the wait is odd: the only update is like those that other PEs made of other words. No other PE may
/// wait for its copy.
bool is_usual(const Known& known, const EqualUpdates& alike) {
    for (int pe = 0; pe < known.n_pes(); ++pe)
        if (pe != known.waiting() && known.waits_for_copy(pe)) return false;
    return alike.own.seen.value == alike.theirs.value &&
           (alike.own.seen.kind != UpdateKind::add || alike.own.seen.count == alike.theirs.count);
}

WordUpdates own_copy(const Known& known, int pe) {
    return fault(pe, known.verb() + (" its own copy of the awaited word" + none_known_text(known)));
}

/// The only PE that has updated its own copy with the awaited value.
WordUpdates on_itself(const Known& known) {
    std::vector<int> own;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.of(pe))
            if (seen.pe == pe && Known::covers(seen, known.wait().offset) && known.would_end(seen))
                own.push_back(pe);
    if (own.size() != 1 || known.has_lost()) return {};
    return own_copy(known, own[0]);
}

/// True if `pes` is one PE, which waits for another word of that array by now. The update was meant for it.
bool is_taken(const Known& known, const std::vector<int>& pes) {
    return pes.size() == 1 && known.waits_beside(pes[0]);
}

/// The one or two PEs that have updated the word of other PEs only. A PE that updated its own comes alone,
/// and one before the waiting PE comes first.
WordUpdates on_other_pes(const Known& known) {
    std::vector<std::pair<int, std::string>> texts;
    int own = -1, n_own = 0;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const std::vector<int> pes = updated_by(known, pe);
        if (pes.empty()) continue;
        if (is_taken(known, pes)) return {};
        const bool is_before = (pe + 1) % known.n_pes() == known.waiting();
        texts.emplace(is_before ? texts.begin() : texts.end(), pe, updated_text(known, pes));
        if (pes == std::vector<int>{pe} && ++n_own == 1) own = pe;
    }
    if (n_own == 1 && texts.size() > 1) return own_copy(known, own);
    constexpr std::size_t most = 2;
    WordUpdates all = faults(texts, most);
    if (!all.text.empty()) all.text += none_known_text(known);
    return all;
}

/// The only PE whose words the waiting PE updates: it may owe it an answer.
WordUpdates partner(const Known& known) {
    std::set<int> pes;
    for (const UpdateSeen& seen : known.all_of(known.waiting())) pes.insert(seen.pe);
    if (known.has_lost_any() || pes.size() != 1 || *pes.begin() == known.waiting() || known.n_pes() == 2)
        return {};
    const int other = *pes.begin();
    // It has passed the word on to another PE, as in a ring, and owes the waiting PE none.
    if (!updated_by(known, other).empty()) return {};
    return omission(other, "is not known to have updated the awaited word, and " +
                               pe_text({known.waiting()}) + " updates words of " + pe_text({other}) +
                               " alone");
}

/// Returns a text such as "PE 0,3 signalled that of PE 1, …": the updates of the
/// word on other PEs. A word that several PEs updated comes first. Empty for many.
std::string copies_text(const Known& known) {
    std::map<int, std::vector<int>> senders;  // by PE with the word
    for (const Sent& sent : all_sent(known)) senders[sent.to].push_back(sent.from);
    std::map<std::vector<int>, std::vector<int>> words;  // words with the same senders
    for (const auto& [to, pes] : senders) words[pes].push_back(to);
    std::vector<std::pair<std::vector<int>, std::vector<int>>> groups(words.begin(), words.end());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    constexpr std::size_t most = 6;
    std::string text;
    if (groups.size() > most) return text;
    for (const auto& [pes, to] : groups)
        text += (text.empty() ? "" : ", ") + pe_text(pes) + " " + known.verb() + " that of " + pe_text(to);
    return text;
}

WordUpdates unknown_updates() {
    WordUpdates none;
    none.is_root = true;
    return none;
}

/// Returns a text such as "PE 1 at x.py:24": the last updates of other arrays on the waiting PE by signals.
/// One of them may have been meant. Empty for many.
std::string other_arrays_text(const Known& known) {
    std::map<std::string, std::vector<int>> pes_by_line;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.doing_of(pe).signals)
            if (pe != known.waiting() && seen.pe == known.waiting() && !known.is_in_block(seen.offset) &&
                seen.site.text[0] != '\0')
                pes_by_line[seen.site.text].push_back(pe);
    constexpr std::size_t most = 2;
    if (pes_by_line.empty() || pes_by_line.size() > most) return {};
    std::string text;
    for (const auto& [line, pes] : pes_by_line)
        text += (text.empty() ? "" : ", ") + pe_text(pes) + " at " + line;
    return "signals of other words of " + pe_text({known.waiting()}) + ": " + text;
}

/// No PE has updated the awaited word.
WordUpdates no_update(const Known& known) {
    WordUpdates none = unknown_updates();
    none.verb = known.verb();
    if (known.has_lost()) return none;
    none.text = copies_text(known);
    if (none.text.empty() && std::string_view(known.wait().operation).starts_with("signal_"))
        none.text = other_arrays_text(known);
    return none;
}

/// A lock made of a word, which PEs try to exchange. One PE alone has given it the value
/// that they find. All others gave it one other value.
std::optional<WordUpdates> holder_of_word(const Known& known, const std::vector<Update>& updates) {
    const std::string_view operation = known.wait().operation;
    if (operation.find("swap") == operation.npos) return std::nullopt;
    int holder = -1;
    std::optional<std::uint64_t> released;
    std::vector<int> others;
    for (const auto& [pe, seen] : updates) {
        if (seen.kind != UpdateKind::set) return std::nullopt;
        if (seen.value == known.wait().found) {
            if (holder >= 0) return std::nullopt;
            holder = pe;
        } else if (released.value_or(seen.value) != seen.value) {
            return std::nullopt;
        } else {
            released = seen.value;
            others.push_back(pe);
        }
    }
    if (holder < 0 || others.empty()) return std::nullopt;
    // If updates are unknown, the value must be a number of the PE.
    const auto found = static_cast<std::int64_t>(known.wait().found);
    if (known.has_lost() && (found < 2 || (found != holder && found != holder + 1))) return std::nullopt;
    return fault(holder, "last set the awaited word to " + number_text(known.wait().found) + ", and PE " +
                             common::pe_ranges(others) + " last set it to " + number_text(*released));
}

/// Returns a text such as ", PE 1 updated that of PE 2": the PEs that have updated copies of the awaited
/// word, but not it. Empty for more than two groups that have updated different copies.
std::string others_copies_text(const Known& known, const std::vector<int>& updaters) {
    std::map<std::vector<int>, std::vector<int>> senders;  // by the PEs whose copies they have updated
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const std::vector<int> pes = updated_by(known, pe);
        const bool has_updated_it = std::find(updaters.begin(), updaters.end(), pe) != updaters.end();
        if (pe != known.waiting() && !has_updated_it && !pes.empty()) senders[pes].push_back(pe);
    }
    constexpr std::size_t most = 2;
    if (senders.size() > most) return {};
    std::vector<std::pair<std::vector<int>, std::vector<int>>> groups;
    for (const auto& [pes, its] : senders) groups.emplace_back(its, pes);
    std::sort(groups.begin(), groups.end());
    std::string text;
    for (const auto& [its, pes] : groups)
        text += ", " + pe_text(its) + " updated that of PE " + common::pe_ranges(pes);
    return text;
}

/// True if the wait is for a larger value, and all updates are additions.
bool needs_more(const Known& known, const std::vector<Update>& updates) {
    const std::uint32_t compare = known.wait().compare;
    return (compare == static_cast<std::uint32_t>(Compare::ge) ||
            compare == static_cast<std::uint32_t>(Compare::gt) ||
            compare == static_cast<std::uint32_t>(Compare::eq)) &&
           std::all_of(updates.begin(), updates.end(),
                       [](const Update& one) { return one.seen.kind == UpdateKind::add; });
}

/// The updates of a word of another PE, which may have a part of its own: a pattern of PEs tells less.
WordUpdates updates_of_polled(const Known& known, const std::vector<Update>& updates) {
    if (updates.empty()) return unknown_updates();
    if (std::optional<WordUpdates> kept = kept_ticket(known)) return *std::move(kept);
    if (WordUpdates other = went_on(known, updates); !other.text.empty()) return other;
    WordUpdates made = joined(updates, known);
    std::vector<int> silent;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        if (pe != known.waiting() && !known.waits_for_word(pe) &&
            std::find(made.pes.begin(), made.pes.end(), pe) == made.pes.end())
            silent.push_back(pe);
    constexpr std::size_t most = 2;
    if (!silent.empty() && silent.size() <= most && !known.has_lost())
        made.text += "; PE " + common::pe_ranges(silent) + (silent.size() == 1 ? " is" : " are") +
                     " not known to have updated it";
    return made;
}

/// A missing update that follows from a pattern of PEs, with the evidence. That is an update of another
/// element by the same PE, or the PEs that updated others. The pattern itself may be the mistake.
WordUpdates with_evidence(const Known& known, WordUpdates found) {
    if (!found.is_inferred) return found;
    WordUpdates beside = on_other_words(known);
    if (beside.tells_fault && !beside.is_omission && beside.pes == found.pes) return beside;
    if (const std::string others = copies_text(known); !others.empty()) found.text += " (" + others + ")";
    return found;
}

WordUpdates found_updates(const Known& known) {
    const int waiting = known.waiting();
    const std::vector<Update> updates = updates_of_word(known);
    if (std::optional<WordUpdates> holder = holder_of_word(known, updates)) return *std::move(holder);
    if (known.home() != waiting) return updates_of_polled(known, updates);
    if (updates.empty()) {
        if (std::optional<WordUpdates> left = left_tree(known, false)) return *std::move(left);
        for (const auto& find :
             {word_of_another, by_pattern_of_pes, on_other_words, on_itself, on_other_pes, partner})
            if (WordUpdates found = find(known); !found.text.empty()) return with_evidence(known, found);
        return no_update(known);
    }
    if (WordUpdates stray = stray_update(known); !stray.text.empty()) return stray;
    if (std::optional<WordUpdates> left = left_tree(known, true)) return *std::move(left);
    WordUpdates made = joined(updates, known);
    if (const std::optional<WordUpdates> fewer = fewer_than_back(known, updates)) return *fewer;
    if (const int silent = only_silent(known, updates); silent >= 0)
        return omission(silent,
                        (known.uses_signals() ? "has not signalled" : "is not known to have updated") +
                            (" the awaited word (" + made.text + ")"));
    for (const auto& find : {sets_among_additions, counts_itself, next_in_turn, set_without_change})
        if (const std::optional<WordUpdates> found = find(known, updates)) return *found;
    if (const std::optional<WordUpdates> differs = differs_from_copies(known, updates)) return *differs;
    if (const std::optional<WordUpdates> fewer = fewer_additions(known, updates)) return *fewer;
    if (const std::optional<WordUpdates> owed = owed_parts(known, updates)) return *owed;
    if (const std::optional<EqualUpdates> alike = equal_updates(known, updates))
        if (const std::optional<WordUpdates> behind = behind_others(*alike)) return *behind;
    if (const std::optional<WordUpdates> past = past_the_value(known, updates)) return *past;
    if (known.is_polled()) return updates_of_polled(known, updates);
    if (made.pes.size() == 1) {
        std::vector<int> others = updated_by(known, made.pes[0]);
        std::erase(others, waiting);
        constexpr std::size_t most = 2;
        if (!others.empty() && others.size() <= most)
            made.text += ", and updated that of PE " + common::pe_ranges(others) + " too";
    }
    if (needs_more(known, updates)) {
        if (const std::optional<WordUpdates> back = set_back(known, updates)) return *back;
        made.needs_more = true;
        made.text += others_copies_text(known, made.pes);
    }
    return made;
}

}  // namespace

WordUpdates updates_of_word_of(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return unknown_updates();
    const Known known(doing, waiting);
    WordUpdates made = found_updates(known);
    made.text += lines_text(known, made);
    return made;
}

WordUpdates updates_elsewhere(const std::vector<PeDoing>& doing, int waiting) {
    const Known known(doing, waiting);
    WordUpdates made = no_update(known);
    made.text += lines_text(known, made);
    return made;
}

int only_updater(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(doing[static_cast<std::size_t>(waiting)])) return -1;
    const Known known(doing, waiting);
    if (known.is_polled()) return -1;
    const std::vector<Update> updates = updates_of_word(known);
    if (const std::optional<WordUpdates> left = left_tree(known, !updates.empty()); left && left->is_omission)
        return left->pes.front();
    if (known.has_lost() || updates.size() != 1 || updates[0].pe == waiting) return -1;
    const UpdateSeen& seen = updates[0].seen;
    // One addition to a counter: any other PE may owe one, too. Not if this one has updated another counter.
    if (!known.uses_signals() && seen.kind == UpdateKind::add && seen.count < 2 && known.n_pes() > 2 &&
        updated_by(known, updates[0].pe).size() < 2)
        return -1;
    if (!known.uses_signals() && seen.kind != UpdateKind::add && seen.count < 2) return -1;
    if (!stray_update(known).text.empty() || past_the_value(known, updates) ||
        set_without_change(known, updates))
        return -1;
    const std::optional<EqualUpdates> alike = equal_updates(known, updates);
    if (!alike) return updates[0].pe;
    // A PE that left such a call for a collective one waits there for the others. The circle explains more.
    const PeDoing& its = known.doing_of(updates[0].pe);
    const bool has_left = its.waits && its.wait.call != 0 && is_in_library(known.wait().site);
    return is_usual(known, *alike) || (behind_others(*alike) && !has_left) ? -1 : updates[0].pe;
}

}  // namespace atl::core
