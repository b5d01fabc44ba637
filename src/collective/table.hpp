// Selects the algorithm of a collective by size and by whether every PE has a core, from one table
// (docs/collectives.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/sync/control_block.hpp"

namespace atl::collective {

enum class Collective : std::uint8_t {
    broadcast,
    fcollect,
    collect,
    alltoall,
    gather,
    scatter,
    reduce,
    reduce_to,
    reduce_scatter,
    scan,
};

enum class Algorithm : std::uint8_t {
    line,    ///< data beside the flag in one cache line; one meeting
    staged,  ///< every PE copies into staging, meets once, reads
    pull,    ///< meet, read from the others' sources, meet
    both,    ///< meet; owners and readers of the data copy towards each other; meet
    push,    ///< meet, stream into the others' targets or staging, meet
    slices,  ///< meet, each PE folds its slice of all sources into all targets, meet
};

inline constexpr int collective_count = 10;

/// The algorithms that ATOLL_COLLECTIVE selects instead of the table's.
class Wishes {
  public:
    /// Parses "broadcast:65536=pull,reduce=slices": each applies from that size on (default 0). Throws
    /// Error(settings).
    explicit Wishes(const std::string& text);

    struct Wish {
        Collective collective;
        Algorithm algorithm;
        std::size_t from_bytes;
    };
    const std::vector<Wish>& all() const { return wishes_; }

  private:
    std::vector<Wish> wishes_;
};

/// The properties of a team that the table uses.
struct TeamShape {
    bool crowded;  ///< more PEs than cores
    int n_pes;
    bool spread = false;  ///< over several hosts
};

/// The algorithms of a team: the table and the wishes, resolved into a few comparisons.
class Choices {
  public:
    Choices(const Wishes& wishes, const TeamShape& team);

    /// `bytes` is the size that docs/collectives.md defines for each: of a block, or of the whole if there
    /// are no blocks. `line_bytes` is the size that a member would put into its line.
    Algorithm choose(Collective collective, std::size_t bytes, std::size_t line_bytes) const {
        const auto& steps = steps_[line_bytes <= core::exchange_bytes][static_cast<std::size_t>(collective)];
        std::size_t i = 0;
        while (bytes >= steps[i + 1].from_bytes) ++i;
        return steps[i].algorithm;
    }

  private:
    static constexpr std::size_t most_steps = 16;
    struct Step {
        std::size_t from_bytes = SIZE_MAX;
        Algorithm algorithm{};
    };
    using Steps = std::array<Step, most_steps>;
    void resolve(Steps& steps, Collective collective, const Wishes& wishes, bool fits_line,
                 const TeamShape& team);

    std::array<std::array<Steps, collective_count>, 2> steps_;
};

/// The algorithms that ATOLL_COLLECTIVE may select for a collective.
std::vector<Algorithm> algorithms_of(Collective);
const char* name_of(Collective);
const char* name_of(Algorithm);

}  // namespace atl::collective
