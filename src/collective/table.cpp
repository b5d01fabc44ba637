#include "collective/table.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "atoll/error.hpp"
#include "core/sync/control_block.hpp"

namespace atl::collective {
namespace {

using enum Algorithm;

constexpr const char* collective_names[] = {"broadcast", "fcollect", "collect",   "alltoall",       "gather",
                                            "scatter",   "reduce",   "reduce_to", "reduce_scatter", "scan"};
constexpr const char* algorithm_names[] = {"line", "staged", "pull", "both", "push", "slices"};

constexpr std::size_t never = SIZE_MAX;

/// A row of the table: the sizes from which an algorithm is used. They differ between teams with a core for
/// every PE, oversubscribed teams, and teams on several hosts.
struct Entry {
    Collective collective;
    Algorithm algorithm;
    std::size_t from_with_cores;
    std::size_t from_crowded;
    std::size_t from_spread;
    bool times_pes = false;  ///< the sizes are of all PEs' data together: what each would have to fold

    std::size_t from(const TeamShape& team) const {
        const std::size_t bytes = team.spread ? from_spread : team.crowded ? from_crowded : from_with_cores;
        return times_pes && bytes != never ? bytes / static_cast<std::size_t>(team.n_pes) : bytes;
    }
};

constexpr std::size_t KiB = 1024;

// Measured in docs/collectives.md. Of the rows whose size is reached, the last one counts.
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

bool has(Collective collective, Algorithm algorithm) {
    return std::any_of(std::begin(table), std::end(table), [&](const Entry& entry) {
        return entry.collective == collective && entry.algorithm == algorithm;
    });
}

[[noreturn]] void refuse(const std::string& text, const std::string& sentence) {
    throw Error(ErrorCode::settings, "ATOLL_COLLECTIVE=" + text + " cannot be read: " + sentence);
}

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

Collective collective_named(const std::string& text, std::string_view name) {
    const auto* found = std::find(std::begin(collective_names), std::end(collective_names), name);
    if (found == std::end(collective_names))
        refuse(text, "\"" + std::string(name) + "\" is not one of " +
                         list({std::begin(collective_names), std::end(collective_names)}) + ".");
    return static_cast<Collective>(found - collective_names);
}

Algorithm algorithm_named(const std::string& text, Collective collective, std::string_view name) {
    std::vector<std::string> good;
    for (const Algorithm algorithm : algorithms_of(collective)) {
        if (name == name_of(algorithm)) return algorithm;
        good.emplace_back(name_of(algorithm));
    }
    refuse(text, std::string(name_of(collective)) + " goes by " + list(good) + ", not by \"" +
                     std::string(name) + "\".");
}

std::size_t size_named(const std::string& text, std::string_view digits) {
    std::size_t bytes = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (error != std::errc{} || rest != digits.data() + digits.size())
        refuse(text, "\"" + std::string(digits) + "\" is not a number of bytes.");
    return bytes;
}

}  // namespace

Wishes::Wishes(const std::string& text) {
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(item.size() + 1, rest.size()));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            refuse(text,
                   "expected COLLECTIVE[:BYTES]=ALGORITHM, such as broadcast:65536=pull,reduce=slices.");
        const std::string_view left = item.substr(0, equals);
        const std::size_t colon = left.find(':');
        Wish wish{};
        wish.collective = collective_named(text, left.substr(0, colon));
        wish.algorithm = algorithm_named(text, wish.collective, item.substr(equals + 1));
        if (colon != std::string_view::npos) wish.from_bytes = size_named(text, left.substr(colon + 1));
        wishes_.push_back(wish);
    }
}

namespace {

/// False for an algorithm that is impossible between hosts; such a wish is ignored.
bool goes(Collective collective, Algorithm algorithm, const TeamShape& team) {
    return std::any_of(std::begin(table), std::end(table), [&](const Entry& entry) {
        return entry.collective == collective && entry.algorithm == algorithm &&
               (!team.spread || entry.from_spread != never);
    });
}

/// The last row whose size is reached, then the last wish. Of rows with equal sizes the first counts, so
/// `line` is preferred to `staged`.
Algorithm choose_at(std::size_t bytes, Collective collective, const Wishes& wishes, bool fits_line,
                    const TeamShape& team) {
    const Entry* chosen = nullptr;
    const auto from = [&](const Entry& entry) { return entry.from(team); };
    for (const Entry& entry : table) {
        if (entry.collective != collective || (entry.algorithm == line && !fits_line)) continue;
        if (bytes >= from(entry) && (!chosen || from(entry) > from(*chosen))) chosen = &entry;
    }
    Algorithm algorithm = chosen->algorithm;
    for (const Wishes::Wish& wish : wishes.all())
        if (wish.collective == collective && bytes >= wish.from_bytes &&
            (wish.algorithm != line || fits_line) && goes(collective, wish.algorithm, team))
            algorithm = wish.algorithm;
    return algorithm;
}

}  // namespace

Choices::Choices(const Wishes& wishes, const TeamShape& team) {
    for (int c = 0; c < collective_count; ++c)
        for (const bool fits_line : {false, true})
            resolve(steps_[fits_line][static_cast<std::size_t>(c)], static_cast<Collective>(c), wishes,
                    fits_line, team);
}

void Choices::resolve(Steps& steps, Collective collective, const Wishes& wishes, bool fits_line,
                      const TeamShape& team) {
    std::set<std::size_t> sizes = {0};
    for (const Entry& entry : table)
        if (entry.collective == collective) sizes.insert(entry.from(team));
    for (const Wishes::Wish& wish : wishes.all())
        if (wish.collective == collective) sizes.insert(wish.from_bytes);
    sizes.erase(never);
    std::size_t count = 0;
    for (const std::size_t bytes : sizes) {
        const Algorithm algorithm = choose_at(bytes, collective, wishes, fits_line, team);
        if (count != 0 && steps[count - 1].algorithm == algorithm) continue;
        // The last step stays empty: it ends the search. Further wishes are ignored.
        if (count + 1 < steps.size()) steps[count++] = {bytes, algorithm};
    }
}

std::vector<Algorithm> algorithms_of(Collective collective) {
    std::vector<Algorithm> all;
    for (const Algorithm algorithm : {line, staged, pull, both, push, slices})
        if (has(collective, algorithm)) all.push_back(algorithm);
    return all;
}

const char* name_of(Collective collective) { return collective_names[static_cast<int>(collective)]; }
const char* name_of(Algorithm algorithm) { return algorithm_names[static_cast<int>(algorithm)]; }

}  // namespace atl::collective
