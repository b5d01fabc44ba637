#include "atoll/detail/agreement.hpp"

#include "common/elf/call_site.hpp"
#include "common/pe_ranges.hpp"
#include "common/text.hpp"
#include "core/calls/call_text.hpp"
#include "core/calls/element_codes.hpp"
#include "core/team/gathered.hpp"

#include <algorithm>

namespace atl::detail {

namespace {

/// Returns the text of one PE. Collective.
std::string text_from(const Team& team, int pe, std::string mine) {
    std::uint64_t length = 0;
    const std::uint64_t given = mine.size();
    team.broadcast(std::span(&length, 1), std::span(&given, 1), pe);
    std::string found(length, '\0');
    mine.resize(length);
    team.broadcast_bytes(found.data(), found.size(), mine.data(), mine.size(), pe);
    return found;
}

}  // namespace

int different_pe(const Team& team, std::uint64_t fingerprint) {
    std::uint64_t first = 0;
    team.broadcast(std::span(&first, 1), std::span(&fingerprint, 1), 0);
    const int differs = fingerprint != first ? team.my_pe() : -1;
    int other = -1;
    team.max_reduce(std::span(&other, 1), std::span(&differs, 1));
    return other;
}

void refuse_different(const Team& team, const char* call, int other, const LayoutTexts& passed,
                      const MessageElements& elements) {
    static constexpr std::array names{"element type", "shape", "grid", "distribution", "halo"};
    std::vector<std::string> mine{core::elements_text(core::elements_of(elements))};
    mine.insert(mine.end(), passed.begin(), passed.end());
    std::vector<std::string> differing, of_first, of_other;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string first = text_from(team, 0, mine[i]), second = text_from(team, other, mine[i]);
        if (first == second) continue;
        differing.emplace_back(names[i]);
        of_first.push_back(std::string(names[i]) + " " + first);
        of_other.push_back(std::string(names[i]) + " " + second);
    }
    const bool is_named = team.my_pe() == 0 || team.my_pe() == other;
    const std::string site = is_named ? common::call_site(nullptr) : std::string();
    const auto call_of = [&](int pe, const std::vector<std::string>& values) {
        const std::string name = core::with_site(call, text_from(team, pe, site));
        return "PE " + std::to_string(pe) + " called " + name + " with " + common::list_text(values);
    };
    const std::string first = call_of(0, of_first), second = call_of(other, of_other);
    refuse(ErrorCode::collective_mismatch, std::string(call) + ": PEs passed different values of " +
                                               common::list_text(differing) + ". " + first + "; " + second +
                                               ". All PEs of the team pass the same");
}

void raise_together(const Team& team, const char* call, const std::optional<Error>& problem) {
    const int mine = problem ? team.my_pe() : team.n_pes();
    int first = 0;
    team.min_reduce(std::span(&first, 1), std::span(&mine, 1));
    if (first == team.n_pes()) return;
    std::uint64_t code = 0;
    const auto given = static_cast<std::uint64_t>(problem ? problem->code() : ErrorCode{});
    team.broadcast(std::span(&code, 1), std::span(&given, 1), first);
    const std::string text = text_from(team, first, problem ? problem->what() : "");
    refuse(static_cast<ErrorCode>(code), std::string(call) + ": PE " + std::to_string(first) + ": " + text);
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
