#include "atoll/detail/agreement.hpp"

#include "common/pe_ranges.hpp"
#include "core/team/gathered.hpp"

#include <algorithm>

namespace atl::detail {

void require_same(const Team& team, const char* call, std::uint64_t fingerprint, const std::string& passed) {
    std::uint64_t first = 0;
    team.broadcast(std::span(&first, 1), std::span(&fingerprint, 1), 0);
    const int differs = fingerprint != first ? team.my_pe() + 1 : 0;
    int other = 0;
    team.max_reduce(std::span(&other, 1), std::span(&differs, 1));
    if (other != 0)
        refuse(ErrorCode::collective_mismatch,
               std::string(call) + ": PE " + std::to_string(other - 1) +
                   " passed another shape, grid, distribution or halo than PE 0; this PE passed " + passed);
}

void raise_together(const Team& team, const char* call, const std::optional<Error>& problem) {
    const int mine = problem ? team.my_pe() : team.n_pes();
    int first = 0;
    team.min_reduce(std::span(&first, 1), std::span(&mine, 1));
    if (first == team.n_pes()) return;
    std::string text = problem ? problem->what() : "";
    std::uint64_t code_and_length[2] = {};
    const std::uint64_t given[2] = {static_cast<std::uint64_t>(problem ? problem->code() : ErrorCode{}),
                                    text.size()};
    team.broadcast(std::span(code_and_length), std::span(given), first);
    std::string found(code_and_length[1], '\0');
    text.resize(found.size());
    team.broadcast_bytes(found.data(), found.size(), text.data(), text.size(), first);
    refuse(static_cast<ErrorCode>(code_and_length[0]),
           std::string(call) + ": PE " + std::to_string(first) + ": " + found);
}

namespace {

/// The words of one PE: the facts, then the members; empty without a team.
core::Words words_of(const Team& over, const Team& its, const std::vector<std::uint64_t>& facts) {
    if (!its) return {};
    core::Words words = facts;
    for (int pe = 0; pe < its.n_pes(); ++pe)
        words.push_back(static_cast<std::uint64_t>(its.translate_pe(pe, over)));
    return words;
}

}  // namespace

Passed agreed(const Team& over, const char* call, const char* what, const Team& its,
              const std::vector<std::uint64_t>& facts) {
    const std::string of = what, name = call;
    const std::vector<core::Words> every = core::gathered(over, words_of(over, its, facts));
    std::vector<int> given;
    for (std::size_t pe = 0; pe < every.size(); ++pe)
        if (!every[pe].empty()) given.push_back(static_cast<int>(pe));
    if (given.empty())
        refuse(ErrorCode::invalid_argument,
               name + ": no PE passed " + (of == "array" ? "an " : "a ") + of + ".");
    const core::Words& first = every[static_cast<std::size_t>(given[0])];
    for (const int pe : given)
        if (every[static_cast<std::size_t>(pe)] != first) {
            const std::string both = "PE " + std::to_string(given[0]) + " and PE " + std::to_string(pe);
            refuse(ErrorCode::invalid_argument,
                   std::string(name).append(": ").append(both).append(" passed different ").append(of) +
                       "s; pass one of them.");
        }
    Passed found;
    const auto members = first.begin() + static_cast<std::ptrdiff_t>(facts.size());
    found.facts.assign(first.begin(), members);
    for (auto at = members; at != first.end(); ++at) found.members.push_back(static_cast<int>(*at));
    std::vector<int> sorted = found.members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != given)
        refuse(ErrorCode::invalid_argument,
               name + ": the " + of + " is one of " + std::to_string(sorted.size()) + " PEs, and PE " +
                   common::pe_ranges(given) +
                   " passed it. All its members make the call, and are in the team `over`.");
    return found;
}

}  // namespace atl::detail
