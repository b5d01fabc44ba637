// Selects the algorithm of a collective by size and by whether every PE has a core, from one table
// (docs/collectives.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/settings/algorithms.hpp"
#include "core/base/control_block.hpp"

namespace atl::collective {

using common::Algorithm;
using common::AlgorithmRules;
using common::Collective;
using common::collective_count;

/// The properties of a team that the table uses.
struct TeamShape {
    bool oversubscribed;  ///< more PEs than cores
    int n_pes;
    bool spread = false;  ///< over several hosts
};

/// The algorithms of a team: the table and the rules of ATOLL_COLLECTIVE, resolved into a few comparisons.
class Choices {
  public:
    Choices(const AlgorithmRules& rules, const TeamShape& team);

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
    void resolve(Steps& steps, Collective collective, const AlgorithmRules& rules, bool fits_line,
                 const TeamShape& team);

    std::array<std::array<Steps, collective_count>, 2> steps_;
};

}  // namespace atl::collective
