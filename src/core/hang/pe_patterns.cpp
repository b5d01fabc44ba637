#include "common/pe_ranges.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
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

// A tree of PEs, in which each PE updates a word of its parent. At fault is a child that has not, or a parent
// that waits for more children than it has.

/// A numbering of PEs in a tree with PE 0 as its root. An arity of 0 is the binomial tree.
struct Tree {
    const char* name;
    int arity;

    int parent(int pe) const { return arity == 0 ? pe & (pe - 1) : (pe - 1) / arity; }
    std::vector<int> children(int pe, int n_pes) const {
        std::vector<int> found;
        for (int child = pe + 1; child < n_pes; ++child)
            if (parent(child) == pe) found.push_back(child);
        return found;
    }
};

constexpr Tree trees[] = {
    {"binary", 2}, {"binomial", 0}, {"ternary", 3}, {"4-ary", 4}, {"8-ary", 8},
};

/// The PEs that have updated the array of the awaited word on others, each on its parent alone. Empty if they
/// do not follow the tree. Parents may answer in the same array.
std::vector<int> followers(const Known& known, const Tree& tree) {
    std::vector<int> pes;
    std::set<int> parents;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        bool has_updated = false;
        for (const UpdateSeen& seen : known.of(pe)) {
            if (!known.is_in_block(seen.offset) || seen.pe == pe) continue;
            const bool goes_up = pe > 0 && tree.parent(pe) == seen.pe;
            if (!goes_up && (seen.pe == 0 || tree.parent(seen.pe) != pe)) return {};
            has_updated = has_updated || goes_up;
        }
        if (!has_updated) continue;
        pes.push_back(pe);
        parents.insert(tree.parent(pe));
    }
    constexpr std::size_t least = 3, least_parents = 2;  // fewer may be a ring, or all PEs to one
    return pes.size() < least || parents.size() < least_parents ? std::vector<int>{} : pes;
}

bool is_of(const std::vector<int>& pes, int pe) { return std::find(pes.begin(), pes.end(), pe) != pes.end(); }

std::optional<WordUpdates> fault_in(const Known& known, const Tree& tree, bool is_updated) {
    const std::vector<int> pes = followers(known, tree);
    std::vector<int> children = tree.children(known.waiting(), known.n_pes()), silent;
    if (pes.empty() || children.empty()) return std::nullopt;
    for (const int child : children)
        if (!is_of(pes, child)) silent.push_back(child);
    const std::string others = "PE " + common::pe_ranges(pes),
                      shape = std::string(" in a ") + tree.name + " tree";
    const std::string verb = known.verb();
    if (silent.size() == 1)
        return omission(silent[0], "is not known to have " + verb + " the awaited word, where " + others +
                                       " " + verb + " words of their parents" + shape);
    if (!silent.empty() || is_updated) return std::nullopt;
    return fault(known.waiting(),
                 "waits for an update of a child that it does not have: " + others + " " + verb +
                     " words of their parents" + shape + ", and " + pe_text(children) +
                     (children.size() == 1 ? " is its only child" : " are all its children"));
}

}  // namespace

std::optional<WordUpdates> left_tree(const Known& known, bool is_updated) {
    if (known.has_lost() || known.is_polled()) return std::nullopt;
    for (const Tree& tree : trees)
        if (std::optional<WordUpdates> found = fault_in(known, tree, is_updated)) return found;
    return std::nullopt;
}

}  // namespace atl::core
