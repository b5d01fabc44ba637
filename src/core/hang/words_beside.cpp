#include "common/pe_ranges.hpp"
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

/// True if two or more other PEs have updated that element in the same way. Each has added the same to its
/// own number for the PE to update. The update then belongs to an earlier wait.
bool is_as_usual(const Known& known, const Update& update) {
    const int usual = distance_of(known, {update.pe, update.seen.pe});
    constexpr int least = 2;
    int others = 0;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.all_of(pe)) {
            if (!Known::covers(seen, update.seen.offset) || (pe == update.pe && seen.pe == update.seen.pe))
                continue;
            if (distance_of(known, {pe, seen.pe}) != usual) return false;
            ++others;
        }
    return others >= least;
}

/// True if a PE has updated the awaited element of any PE: its index is in use.
bool is_in_use(const Known& known) { return !all_sent(known).empty(); }

/// The updates of other words of the same allocation.
std::vector<Update> updates_beside(const Known& known) {
    std::vector<Update> beside;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.all_of(pe))
            if (seen.pe == known.waiting() && known.is_in_block(seen.offset) &&
                !Known::covers(seen, known.wait().offset))
                beside.push_back({pe, seen});
    return beside;
}

/// Those that may have been meant for the awaited word.
std::vector<Update> without_usual(const Known& known, std::vector<Update> beside) {
    if (is_in_use(known)) std::erase_if(beside, [&](const Update& one) { return is_as_usual(known, one); });
    return beside;
}

/// The only PE without an update of the allocation on any PE. It must wait for a word that no PE is known to
/// have updated: its own update may come after that wait. Not for an index that other PEs use.
WordUpdates silent_in_array(const Known& known) {
    if (is_in_use(known)) return {};
    int silent = -1, updaters = 0;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        if (pe == known.waiting()) continue;
        const std::vector<UpdateSeen> all = known.all_of(pe);
        const bool has_updated = std::any_of(all.begin(), all.end(), [&](const UpdateSeen& seen) {
            return seen.pe != pe && known.is_in_block(seen.offset);
        });
        if (has_updated)
            ++updaters;
        else if (std::exchange(silent, pe) >= 0)
            return {};
    }
    constexpr int least = 2;
    if (silent < 0 || updaters < least || !known.waits_for_no_update(silent)) return {};
    return omission(silent, "is not known to have updated any element of that array");
}

/// The distance of an updated word from the awaited one; negative before it.
std::int64_t bytes_after(const Known& known, const Update& update) {
    return static_cast<std::int64_t>(update.seen.offset - known.wait().offset);
}

/// Returns a text such as "the element after the awaited one", "the element 3 places before the awaited one".
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
    const auto number_of = [&](std::uint64_t offset) { return (offset - wait.block_begin) / word; };
    const std::uint64_t awaited = number_of(wait.offset);
    const auto n_pes = static_cast<std::uint64_t>(known.n_pes());
    const bool are_own = !beside.empty() && std::all_of(beside.begin(), beside.end(), [&](const Update& one) {
        return number_of(one.seen.offset) == static_cast<std::uint64_t>(one.pe);
    });
    return are_own && awaited < n_pes && wait.block_bytes >= n_pes * word ? static_cast<int>(awaited) : -1;
}

/// The PE that owes the awaited element, and the elements that it has updated. Each PE updates every n-th
/// element from its own on, as by `range(me, all, n)`. Empty without such a pattern of all PEs.
WordUpdates owner_by_turns(const Known& known, const std::vector<Update>& beside) {
    const common::WaitCopy& wait = known.wait();
    const std::uint64_t word = wait.word_bytes, n_pes = static_cast<std::uint64_t>(known.n_pes());
    std::map<int, std::set<int>> elements;  // by PE
    std::set<std::uint64_t> shifts;
    for (const auto& [pe, seen] : beside) {
        const std::uint64_t bytes = seen.offset - wait.block_begin;
        if (bytes % word != 0 || seen.kind == common::UpdateKind::put) return {};
        elements[pe].insert(static_cast<int>(bytes / word));
        shifts.insert((bytes / word + n_pes - static_cast<std::uint64_t>(pe)) % n_pes);
    }
    constexpr std::size_t least = 2;
    const bool has_pattern = shifts.size() == 1 && elements.size() == n_pes && beside.size() > n_pes;
    const std::uint64_t awaited = (wait.offset - wait.block_begin) / word;
    if (!has_pattern || n_pes < least) return {};
    const int owner = static_cast<int>((awaited + n_pes - *shifts.begin()) % n_pes);
    const std::vector<int> its(elements[owner].begin(), elements[owner].end());
    return omission(owner, "is not known to have " + std::string(known.verb()) + " element " +
                               std::to_string(awaited) + " of that array, the next after its " +
                               common::pe_ranges(its) + " in the pattern of all");
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

/// The one PE that waits for the waiting PE's next update, and has made none there, where others of that kind
/// have. Neighbours of a stencil wait for each other, each by an element of its own.
WordUpdates silent_neighbour(const Known& known, const std::vector<Update>& beside) {
    std::vector<int> silent, updaters;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        if (pe == known.waiting() || !known.waits_for_update_by(pe, known.waiting())) continue;
        const bool has_updated =
            std::any_of(beside.begin(), beside.end(), [&](const Update& one) { return one.pe == pe; });
        (has_updated ? updaters : silent).push_back(pe);
    }
    if (known.has_lost_any() || silent.size() != 1 || updaters.empty()) return {};
    return fault(silent[0], "is not known to have " + std::string(known.verb()) +
                                " the awaited element, where PE " + common::pe_ranges(updaters) + " " +
                                known.verb() + " one beside it, and waits for PE " +
                                std::to_string(known.waiting()) + " too");
}

/// The PE that alone has updated the array on the waiting PE, in several other elements: a place for each
/// item.
WordUpdates only_writer(const Known& known, const std::vector<Update>& beside) {
    constexpr std::size_t least = 2;
    const bool is_one = std::all_of(beside.begin(), beside.end(), [&](const Update& one) {
        return one.pe == beside.front().pe && one.pe != known.waiting();
    });
    if (beside.size() < least || !is_one) return {};
    const int writer = beside.front().pe;
    return omission(writer, "is not known to have " + std::string(known.verb()) +
                                " the awaited element, and " + known.verb() + " " +
                                std::to_string(beside.size()) + " others of that array on " +
                                pe_text({known.waiting()}));
}

/// All other PEs, three or more, if each has updated one element on the waiting PE. The distance from the
/// element of its own number must be the same: all have the same wrong index.
WordUpdates all_beside_their_own(const Known& known, const std::vector<Update>& beside) {
    const common::WaitCopy& wait = known.wait();
    const std::int64_t word = wait.word_bytes;
    constexpr std::size_t least = 3;
    if (beside.size() < least || beside.size() + 1 != static_cast<std::size_t>(known.n_pes())) return {};
    std::set<std::int64_t> distances;
    std::vector<int> pes, numbers;
    for (const auto& [pe, seen] : beside) {
        const auto bytes = static_cast<std::int64_t>(seen.offset - wait.block_begin);
        if (pe == known.waiting() || bytes % word != 0) return {};
        distances.insert(bytes / word - pe);
        pes.push_back(pe);
        numbers.push_back(static_cast<int>(bytes / word));
    }
    const std::int64_t distance = *distances.begin();
    if (distances.size() != 1 || distance == 0 || std::set<int>(pes.begin(), pes.end()).size() != pes.size())
        return {};
    const auto elements = distance < 0 ? -distance : distance;
    std::sort(numbers.begin(), numbers.end());
    WordUpdates all;
    all.text = pe_text(pes) + " " + known.verb() + " elements " + common::pe_ranges(numbers) +
               " of that array on " + pe_text({known.waiting()}) + ", each the one " +
               (elements == 1 ? "" : std::to_string(elements) + " places ") +
               (distance < 0 ? "before" : "after") + " its own number";
    all.pes = std::move(pes);
    all.tells_fault = true;
    return all;
}

}  // namespace

WordUpdates on_other_words(const Known& known) {
    if (WordUpdates found = silent_in_array(known); !found.text.empty()) return found;
    const std::vector<Update> all = updates_beside(known);
    if (WordUpdates found = silent_neighbour(known, all); !found.text.empty()) return found;
    const std::vector<Update> beside = without_usual(known, all);
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
    if (WordUpdates found = owner_by_turns(known, all); !found.text.empty()) return found;
    if (WordUpdates found = only_writer(known, all); !found.text.empty()) return found;
    if (WordUpdates found = all_beside_their_own(known, beside); !found.text.empty()) return found;
    std::vector<std::pair<int, std::string>> texts;
    for (const Update& one : beside) texts.emplace_back(one.pe, beside_text(known, one));
    constexpr std::size_t most = 3;
    return faults(texts, most);
}

}  // namespace atl::core
