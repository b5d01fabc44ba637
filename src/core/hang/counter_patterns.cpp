#include "common/pe_ranges.hpp"
#include "core/hang/update_patterns.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace atl::core {

namespace {

using common::UpdateKind;
using common::UpdateSeen;

constexpr std::uint64_t least_adding = 2;

/// The addition that each other PE, two or more, has made equally often; null unless all have.
const UpdateSeen* equal_additions(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || updates.size() < least_adding ||
        updates.size() + 1 != static_cast<std::size_t>(known.n_pes()))
        return nullptr;
    const UpdateSeen& first = updates.front().seen;
    const bool are_equal = std::all_of(updates.begin(), updates.end(), [&](const Update& one) {
        return one.pe != known.waiting() && one.seen.kind == UpdateKind::add &&
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

std::optional<WordUpdates> owed_parts(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || known.is_polled() || updates.size() < least_adding) return std::nullopt;
    const std::uint64_t each = updates.front().seen.value, parts = each * updates.size();
    std::uint64_t sum = 0;
    for (const Update& one : updates) {
        if (one.pe == known.waiting() || one.seen.kind != UpdateKind::add || one.seen.value != each)
            return std::nullopt;
        sum += each * one.seen.count;
    }
    const common::WaitCopy& wait = known.wait();
    if (parts == 0 || sum != wait.found || wait.expected <= wait.found || wait.expected % parts != 0)
        return std::nullopt;
    const std::uint64_t due = wait.expected / parts;  // additions by each PE
    std::vector<int> late, others;
    std::uint64_t made = 0;
    for (const Update& one : updates) {
        if (one.seen.count > due) return std::nullopt;
        (one.seen.count == due ? others : late).push_back(one.pe);
        if (one.seen.count < due) made = one.seen.count;
    }
    if (late.size() != 1 || others.empty()) return std::nullopt;
    return lateness(late[0], "has added to the awaited word " + times_text(made) + ", and PE " +
                                 common::pe_ranges(others) + " " + times_text(due));
}

std::optional<WordUpdates> sets_among_additions(const Known& known, const std::vector<Update>& updates) {
    std::vector<int> adding;
    const Update* setting = nullptr;
    std::optional<std::uint64_t> added;
    for (const Update& one : updates) {
        const bool sets = one.seen.kind == UpdateKind::set;
        if (one.pe == known.waiting() || (sets && setting != nullptr)) return std::nullopt;
        if (sets) {
            setting = &one;
        } else if (one.seen.kind == UpdateKind::add && added.value_or(one.seen.value) == one.seen.value) {
            added = one.seen.value;
            adding.push_back(one.pe);
        } else {
            return std::nullopt;
        }
    }
    if (known.has_lost() || setting == nullptr || adding.empty()) return std::nullopt;
    // A reset sets another value, which is 0 as a rule.
    const UpdateSeen& set = setting->seen;
    const bool sets_one = set.value == added && adding.size() >= least_adding;
    const bool sets_its_count = set.count >= 2 && set.value == set.count && added == 1;
    if (!sets_one && !sets_its_count) return std::nullopt;
    return fault(setting->pe, text_of(set, "the awaited word") + ", to which PE " +
                                  common::pe_ranges(adding) + (adding.size() == 1 ? " adds " : " add ") +
                                  number_text(*added));
}

std::optional<WordUpdates> next_in_turn(const Known& known, const std::vector<Update>& updates) {
    const common::WaitCopy& wait = known.wait();
    constexpr std::size_t least = 3;
    if (known.has_lost() || updates.size() < least || wait.expected != wait.found + 1) return std::nullopt;
    std::map<std::uint64_t, int> by_value;
    for (const Update& one : updates)
        if (one.seen.kind == UpdateKind::set) by_value[one.seen.value] = one.pe;
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

std::optional<WordUpdates> set_without_change(const Known& known, const std::vector<Update>& updates) {
    if (known.has_lost() || known.is_polled() || updates.size() != 1 || updates[0].pe == known.waiting())
        return std::nullopt;
    const UpdateSeen& seen = updates[0].seen;
    if (seen.kind != UpdateKind::set || seen.count != 1 || seen.value != 0 || known.wait().found != 0 ||
        known.would_end(seen))
        return std::nullopt;
    return fault(updates[0].pe, "has set the awaited word once, to 0, which it was before");
}

namespace {

/// The additions of 1 by a PE to a word of the PE that has the awaited one; a count of 0 without any.
UpdateSeen ones_added(const Known& known, int pe, std::uint64_t offset) {
    for (const UpdateSeen& seen : known.of(pe))
        if (seen.pe == known.home() && seen.offset == offset && seen.kind == UpdateKind::add &&
            seen.value == 1)
            return seen;
    UpdateSeen none;
    none.count = 0;
    return none;
}

/// The words beside the awaited one to which a PE adds 1, as to the next ticket.
std::vector<std::uint64_t> counters_of(const Known& known, int pe) {
    std::vector<std::uint64_t> offsets;
    for (const UpdateSeen& seen : known.of(pe))
        if (seen.offset != known.wait().offset && ones_added(known, pe, seen.offset).count != 0)
            offsets.push_back(seen.offset);
    return offsets;
}

/// The PE that has taken a ticket and has not passed it on, if the word counts tickets; else -1.
int holder_of_ticket(const Known& known, std::uint64_t tickets) {
    std::uint64_t all_passed = 0;
    int holder = -1;
    for (int pe = 0; pe < known.n_pes(); ++pe) {
        const std::uint64_t taken = ones_added(known, pe, tickets).count;
        const std::uint64_t passed = ones_added(known, pe, known.wait().offset).count;
        const std::uint64_t awaited = known.waits_for_word(pe) ? 1 : 0;
        all_passed += passed;
        if (taken < passed + awaited) return -1;
        if (taken > passed + awaited && std::exchange(holder, pe) >= 0) return -1;
    }
    return all_passed == known.wait().found ? holder : -1;
}

}  // namespace

std::optional<WordUpdates> kept_ticket(const Known& known) {
    if (!known.is_polled()) return std::nullopt;
    // Unknown updates do no harm: the additions must make the value of the word.
    for (const std::uint64_t tickets : counters_of(known, known.waiting())) {
        const int holder = holder_of_ticket(known, tickets);
        if (holder < 0) continue;
        const UpdateSeen taken = ones_added(known, holder, tickets);
        const UpdateSeen passed = ones_added(known, holder, known.wait().offset);
        const std::string line = taken.site.text;
        return fault(holder, "has added 1 to another word, as for a ticket, " + times_text(taken.count) +
                                 (line.empty() ? "" : " at " + line) + ", and to the awaited word " +
                                 times_text(passed.count) + ": it has not passed on " +
                                 number_text(known.wait().found));
    }
    return std::nullopt;
}

}  // namespace atl::core
