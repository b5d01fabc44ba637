#include "common/pe_ranges.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace atl::core {

namespace {

using common::UpdateSeen;

/// The pairs of PEs of which the first has updated any word of the awaited one's allocation on the second.
std::set<std::pair<int, int>> pairs_in_block(const Known& known) {
    std::set<std::pair<int, int>> pairs;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.of(pe))
            if (known.is_in_block(seen.offset)) pairs.insert({pe, seen.pe});
    return pairs;
}

/// True if each place of the awaited one's allocation has been updated by one PE: a row for each writer. In a
/// pipeline, where an item has its place on all PEs, several PEs update it.
bool has_writers_of_their_own(const Known& known) {
    std::map<std::uint64_t, int> writers;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.of(pe))
            if (known.is_in_block(seen.offset) && writers.emplace(seen.offset, pe).first->second != pe)
                return false;
    return true;
}

std::optional<int> usual_distance(const Known& known, const std::vector<Sent>& all) {
    std::map<int, int> counts;
    for (const Sent& sent : all) ++counts[distance_of(known, sent)];
    return majority(counts);
}

/// The only PE whose word the waiting PE has updated, if it has updated words of others instead; else -1. The
/// PEs may exchange in pairs: two others must have updated each other's.
int unanswering_partner(const Known& known, const std::vector<Sent>& all) {
    const std::vector<int> own = updated_by(known, known.waiting());
    const bool has_pair = std::any_of(all.begin(), all.end(), [&](const Sent& sent) {
        return sent.from != known.waiting() && sent.to != known.waiting() && sent.from != sent.to &&
               std::any_of(all.begin(), all.end(),
                           [&](const Sent& back) { return back.from == sent.to && back.to == sent.from; });
    });
    if (known.n_pes() % 2 != 0 || !has_pair || own.size() != 1 || own[0] == known.waiting()) return -1;
    return updated_by(known, own[0]).empty() ? -1 : own[0];
}

}  // namespace

WordUpdates stray_update(const Known& known) {
    const std::vector<Sent> all = all_sent(known);
    const std::optional<int> usual = known.has_lost() ? std::nullopt : usual_distance(known, all);
    if (!usual || static_cast<int>(all.size()) < known.n_pes()) return {};
    const auto strays = [&](const Sent& sent) { return distance_of(known, sent) != *usual; };
    if (std::count_if(all.begin(), all.end(), strays) != 1) return {};
    const Sent& stray = *std::find_if(all.begin(), all.end(), strays);
    // It may wait for another word of the array, or for none.
    const std::string copy = known.verb() + (" the copy of the awaited word on " + pe_text({stray.to}));
    return fault(stray.from, (known.waits_beside(stray.to) ? copy : updated_text(known, {stray.to})) +
                                 ", where PE " + std::to_string((stray.from + *usual) % known.n_pes()) +
                                 " follows the pattern of the others");
}

WordUpdates word_of_another(const Known& known) {
    const std::vector<Sent> all = all_sent(known);
    if (known.has_lost() || all.size() != 1) return {};
    const auto [writer, reader] = all.front();
    const int distance = distance_of(known, all.front());
    const std::set<std::pair<int, int>> pairs = pairs_in_block(known);
    constexpr std::size_t least = 3;  // pairs that make a pattern
    if (reader == known.waiting() || distance == 0 || pairs.size() < least) return {};
    const bool is_rule = std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
        return distance_of(known, {pair.first, pair.second}) == distance;
    });
    const int usual = (known.waiting() - distance + known.n_pes()) % known.n_pes();
    if (!is_rule || !pairs.contains({usual, known.waiting()}) || !has_writers_of_their_own(known)) return {};
    return fault(known.waiting(), "waits for an element that PE " + std::to_string(writer) + " " +
                                      known.verb() + " on PE " + std::to_string(reader) + ", where PE " +
                                      std::to_string(usual) + " " + known.verb() + " others on PE " +
                                      std::to_string(known.waiting()));
}

WordUpdates by_pattern_of_pes(const Known& known) {
    if (known.has_lost()) return {};
    const int n_pes = known.n_pes();
    const std::vector<Sent> all = all_sent(known);
    const std::optional<int> distance = usual_distance(known, all);
    if (!distance || *distance == 0) return {};
    const int sender = (known.waiting() - *distance + n_pes) % n_pes;
    const std::vector<int> others = updated_by(known, sender);
    if (!others.empty()) {
        const int other = unanswering_partner(known, all);
        if (other < 0 || other == sender)
            return fault(sender, updated_text(known, others) + ", where " + pe_text({known.waiting()}) +
                                     " follows the pattern of the others");
        WordUpdates both = faults(
            {{other, updated_text(known, updated_by(known, other))}, {sender, updated_text(known, others)}},
            2);
        both.text += none_known_text(known);
        return both;
    }
    const bool is_rule = std::all_of(all.begin(), all.end(),
                                     [&](const Sent& sent) { return distance_of(known, sent) == *distance; });
    if (!is_rule) return {};
    WordUpdates inferred = omission(sender, std::string("is not known to have ") + known.verb() +
                                                " the awaited word, as the pattern of the others has it");
    inferred.is_inferred = true;
    return inferred;
}

WordUpdates went_on(const Known& known, const std::vector<Update>& updates) {
    std::vector<int> others;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        if (!known.waits_for_word(pe)) others.push_back(pe);
    if (!known.is_polled() || others.size() != 1) return {};
    const int other = others[0];
    const auto last = std::find_if(updates.begin(), updates.end(),
                                   [&](const Update& update) { return update.pe == other; });
    const common::PeDoing& its = known.doing_of(other);
    // An update that gave the word another value is not the last one.
    if (last == updates.end() ||
        (last->seen.kind == common::UpdateKind::set && last->seen.value != known.wait().found) ||
        !its.waits || its.wait.missing[0] < 0)
        return {};
    return fault(other, text_of(last->seen, "the awaited word") + ", and waits in " +
                            with_site(its.wait.operation, its.wait.site));
}

namespace {

constexpr std::uint64_t least_adding = 2;

/// The addition that each other PE, two or more, has made equally often; null unless all have.
const UpdateSeen* equal_additions(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || updates.size() < least_adding ||
        updates.size() + 1 != static_cast<std::size_t>(known.n_pes()))
        return nullptr;
    const UpdateSeen& first = updates.front().seen;
    const bool are_equal = std::all_of(updates.begin(), updates.end(), [&](const Update& one) {
        return one.pe != known.waiting() && one.seen.kind == common::UpdateKind::add &&
               one.seen.value == first.value && one.seen.count == first.count;
    });
    return are_equal ? &first : nullptr;
}

}  // namespace

std::optional<WordUpdates> set_back(const Known& known, const std::vector<Update>& updates) {
    const UpdateSeen* const each = equal_additions(known, updates);
    if (each == nullptr || each->value != 1 || each->count < 2 ||
        known.wait().found >= updates.size() * each->count)
        return std::nullopt;
    std::vector<int> adding;
    for (const Update& one : updates) adding.push_back(one.pe);
    return fault(known.waiting(), "has set the awaited word back, and PE " + common::pe_ranges(adding) +
                                      " have each added 1 to it " + times_text(each->count));
}

std::optional<WordUpdates> counts_itself(const Known& known, const std::vector<Update>& updates) {
    const common::WaitCopy& wait = known.wait();
    const UpdateSeen* const one = equal_additions(known, updates);
    if (one == nullptr) return std::nullopt;
    const std::uint64_t each = one->value * one->count;
    if (wait.found != each * updates.size() || wait.expected != wait.found + each) return std::nullopt;
    return fault(known.waiting(), "waits for " + number_text(wait.expected) + ", and each of the " +
                                      std::to_string(updates.size()) + " other PEs has added " +
                                      number_text(each) +
                                      " to the awaited word: it waits for an addition of its own");
}

std::optional<WordUpdates> sets_among_additions(const Known& known, const std::vector<Update>& updates) {
    std::vector<int> adding;
    const Update* setting = nullptr;
    std::optional<std::uint64_t> added;
    for (const Update& one : updates) {
        const bool sets = one.seen.kind == common::UpdateKind::set;
        if (one.pe == known.waiting() || (sets && setting != nullptr)) return std::nullopt;
        if (sets) {
            setting = &one;
        } else if (one.seen.kind == common::UpdateKind::add &&
                   added.value_or(one.seen.value) == one.seen.value) {
            added = one.seen.value;
            adding.push_back(one.pe);
        } else {
            return std::nullopt;
        }
    }
    // A reset sets another value, which is 0 as a rule.
    if (known.has_lost() || setting == nullptr || adding.size() < least_adding ||
        setting->seen.value != added)
        return std::nullopt;
    return fault(setting->pe, text_of(setting->seen, "the awaited word") + ", to which PE " +
                                  common::pe_ranges(adding) + " add " + number_text(*added));
}

std::optional<WordUpdates> next_in_turn(const Known& known, const std::vector<Update>& updates) {
    const common::WaitCopy& wait = known.wait();
    constexpr std::size_t least = 3;
    if (known.has_lost() || updates.size() < least || wait.expected != wait.found + 1) return std::nullopt;
    std::map<std::uint64_t, int> by_value;
    for (const Update& one : updates)
        if (one.seen.kind == common::UpdateKind::set) by_value[one.seen.value] = one.pe;
    // Each PE has set its own value, one after the other.
    const auto all = static_cast<std::size_t>(known.n_pes());
    if (updates.size() != all || by_value.size() != all) return std::nullopt;
    const auto [first, next] = *by_value.begin();
    if (by_value.rbegin()->first != wait.found || wait.found - first + 1 != all || next == known.waiting())
        return std::nullopt;
    std::string others;
    for (const auto& [value, pe] : by_value)
        if (pe != next) others += (others.empty() ? "" : ",") + std::to_string(pe);
    return omission(next, "last set the awaited word to " + number_text(first) + ", then PE " + others +
                              " set it to " + number_text(first + 1) + " to " + number_text(wait.found) +
                              ", and its next turn is missing");
}

}  // namespace atl::core
