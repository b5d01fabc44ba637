#include "common/pe_ranges.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>

namespace atl::core {

namespace {

using common::UpdateSeen;

/// The updates of other words of the same allocation.
std::vector<Update> updates_beside(const Known& known) {
    std::vector<Update> beside;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const UpdateSeen& seen : known.all_of(pe))
            if (seen.pe == known.waiting() && known.is_in_block(seen) &&
                !Known::covers(seen, known.wait().offset))
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

}  // namespace

WordUpdates on_other_words(const Known& known) {
    const std::vector<Update> beside = updates_beside(known);
    if (WordUpdates found = silent_neighbour(known, beside); !found.text.empty()) return found;
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
    if (WordUpdates found = only_writer(known, beside); !found.text.empty()) return found;
    std::vector<std::pair<int, std::string>> texts;
    for (const Update& one : beside) texts.emplace_back(one.pe, beside_text(known, one));
    constexpr std::size_t most = 3;
    return faults(texts, most);
}

}  // namespace atl::core
