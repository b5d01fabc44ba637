// Which algorithm a collective takes: one table by size and by whether every PE has a core
// (docs/collectives.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/control.hpp"

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
    staged,  ///< everybody copies into staging, meets once, reads what it needs
    pull,    ///< meet, read from the others' sources, meet
    both,    ///< meet; owners and readers of the data copy towards each other; meet
    push,    ///< meet, stream into the others' targets or staging, meet
    slices,  ///< meet, each PE folds its slice of everybody's source into everybody's target, meet
};

inline constexpr int collective_count = 10;

/// What ATOLL_COLLECTIVE says instead of the table.
class Wishes {
  public:
    /// "broadcast:65536=pull,reduce=slices": from so many bytes on (else from 0 on). Throws Error(settings).
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

/// What of a team the table looks at.
struct TeamShape {
    bool crowded;  ///< more PEs than cores
    int n_pes;
    bool spread = false;  ///< over several hosts
};

/// The choices for a team: the table and the wishes, resolved so that choosing is a comparison or two.
class Choices {
  public:
    Choices(const Wishes& wishes, const TeamShape& team);

    /// `bytes` is what docs/collectives.md says for each: a block, or the whole where there are no blocks.
    /// `line_bytes` is what a member would put into its line.
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

/// What ATOLL_COLLECTIVE may name for a collective.
std::vector<Algorithm> algorithms_of(Collective);
const char* name_of(Collective);
const char* name_of(Algorithm);

}  // namespace atl::collective
