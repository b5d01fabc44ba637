#include "collective/table.hpp"

#include <algorithm>
#include <set>

#include "core/base/control_block.hpp"

namespace atl::collective {
namespace {

using enum Algorithm;

constexpr std::size_t never = SIZE_MAX;

/// A row of the table: the sizes from which an algorithm is used. They differ between teams with a core for
/// every PE, oversubscribed teams, and teams on several hosts.
struct Entry {
    Collective collective;
    Algorithm algorithm;
    std::size_t from_with_cores;
    std::size_t from_oversubscribed;
    std::size_t from_spread;
    bool times_pes = false;  ///< the sizes are of all PEs' data together: what each would have to fold

    std::size_t from(const TeamShape& team) const {
        const std::size_t bytes = team.spread           ? from_spread
                                  : team.oversubscribed ? from_oversubscribed
                                                        : from_with_cores;
        return times_pes && bytes != never ? bytes / static_cast<std::size_t>(team.n_pes) : bytes;
    }
};

constexpr std::size_t KiB = 1024;

// Measured in docs/collectives.md. The last row whose size is reached applies.
constexpr Entry table[] = {
    {Collective::broadcast, line, 0, 0, 0},
    {Collective::broadcast, staged, 0, 0, 0},
    {Collective::broadcast, pull, 2 * KiB, 16 * KiB, 64 * KiB},
    {Collective::broadcast, both, 64 * KiB, never, never},

    {Collective::fcollect, line, 0, 0, 0},
    {Collective::fcollect, staged, 0, 0, 0},
    {Collective::fcollect, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::collect, staged, 0, 0, 0},
    {Collective::collect, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::alltoall, line, 0, 0, 0},
    {Collective::alltoall, staged, 0, 0, 0},
    {Collective::alltoall, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::gather, line, 0, 0, 0},
    {Collective::gather, staged, 0, 0, 0},
    {Collective::gather, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::scatter, line, 0, 0, 0},
    {Collective::scatter, staged, 0, 0, 0},
    {Collective::scatter, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::reduce, line, 0, 0, 0},
    {Collective::reduce, staged, 0, 0, 0},
    {Collective::reduce, slices, 4 * KiB, 16 * KiB, 64 * KiB, true},

    {Collective::reduce_to, line, 0, 0, 0},
    {Collective::reduce_to, staged, 0, 0, 0},
    {Collective::reduce_to, slices, 4 * KiB, 16 * KiB, 64 * KiB, true},

    {Collective::reduce_scatter, line, 0, 0, 0},
    {Collective::reduce_scatter, staged, 0, 0, 0},
    {Collective::reduce_scatter, pull, 2 * KiB, 16 * KiB, 64 * KiB},

    {Collective::scan, line, 0, 0, 0},
    {Collective::scan, staged, 0, 0, 0},
    {Collective::scan, slices, 4 * KiB, 16 * KiB, never, true},
};

constexpr bool has_row(Collective collective, Algorithm algorithm) {
    return std::any_of(std::begin(table), std::end(table), [&](const Entry& entry) {
        return entry.collective == collective && entry.algorithm == algorithm;
    });
}

constexpr bool rows_are_complete() {
    for (int c = 0; c < collective_count; ++c)
        for (int a = 0; a < common::algorithm_count; ++a) {
            const auto collective = static_cast<Collective>(c);
            const auto algorithm = static_cast<Algorithm>(a);
            if (has_row(collective, algorithm) != common::has_algorithm(collective, algorithm)) return false;
        }
    return true;
}
static_assert(rows_are_complete(), "a row for each algorithm that ATOLL_COLLECTIVE may select");

/// False for an algorithm that is impossible between hosts; such a rule is ignored.
bool goes(Collective collective, Algorithm algorithm, const TeamShape& team) {
    return std::any_of(std::begin(table), std::end(table), [&](const Entry& entry) {
        return entry.collective == collective && entry.algorithm == algorithm &&
               (!team.spread || entry.from_spread != never);
    });
}

/// Returns the algorithm of the last row whose size is reached; the last rule that fits replaces it. Among
/// rows with equal sizes the first applies, so `line` is preferred to `staged`.
Algorithm choose_at(std::size_t bytes, Collective collective, const AlgorithmRules& rules, bool fits_line,
                    const TeamShape& team) {
    const Entry* chosen = nullptr;
    const auto from = [&](const Entry& entry) { return entry.from(team); };
    for (const Entry& entry : table) {
        if (entry.collective != collective || (entry.algorithm == line && !fits_line)) continue;
        if (bytes >= from(entry) && (!chosen || from(entry) > from(*chosen))) chosen = &entry;
    }
    Algorithm algorithm = chosen->algorithm;
    for (const common::AlgorithmRule& rule : rules)
        if (rule.collective == collective && bytes >= rule.from_bytes &&
            (rule.algorithm != line || fits_line) && goes(collective, rule.algorithm, team))
            algorithm = rule.algorithm;
    return algorithm;
}

}  // namespace

Choices::Choices(const AlgorithmRules& rules, const TeamShape& team) {
    for (int c = 0; c < collective_count; ++c)
        for (const bool fits_line : {false, true})
            resolve(steps_[fits_line][static_cast<std::size_t>(c)], static_cast<Collective>(c), rules,
                    fits_line, team);
}

void Choices::resolve(Steps& steps, Collective collective, const AlgorithmRules& rules, bool fits_line,
                      const TeamShape& team) {
    std::set<std::size_t> sizes = {0};
    for (const Entry& entry : table)
        if (entry.collective == collective) sizes.insert(entry.from(team));
    for (const common::AlgorithmRule& rule : rules)
        if (rule.collective == collective) sizes.insert(rule.from_bytes);
    sizes.erase(never);
    std::size_t count = 0;
    for (const std::size_t bytes : sizes) {
        const Algorithm algorithm = choose_at(bytes, collective, rules, fits_line, team);
        if (count != 0 && steps[count - 1].algorithm == algorithm) continue;
        // The last step stays empty: it ends the search. Further rules are ignored.
        if (count + 1 < steps.size()) steps[count++] = {bytes, algorithm};
    }
}

}  // namespace atl::collective
