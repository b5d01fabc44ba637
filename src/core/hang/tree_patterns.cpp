// A tree of PEs, in which each PE updates a word of its parent. At fault is a child that has not, or a parent
// that waits for more children than it has.
#include "common/pe_ranges.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace atl::core {

namespace {

using common::UpdateSeen;

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
