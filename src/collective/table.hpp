// Which algorithm a collective takes: one table by size and by whether every PE has a core
// (docs/collectives.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
    push,    ///< meet, stream into the others' targets or staging, meet
    slices,  ///< meet, each PE folds its slice of everybody's source into everybody's target, meet
};

/// The choices of a job: the table, and what ATOLL_COLLECTIVE says instead.
class Choices {
  public:
    Choices() = default;
    /// "broadcast:65536=push,reduce=slices": from so many bytes on (else from 0 on). Throws Error(settings).
    explicit Choices(const std::string& text);

    /// `bytes` is what docs/collectives.md says for each: a block, or the whole where there are no blocks.
    /// `line_bytes` is what a member would put into its line.
    Algorithm choose(Collective, std::size_t bytes, std::size_t line_bytes, bool crowded) const;

  private:
    struct Wish {
        Collective collective;
        Algorithm algorithm;
        std::size_t from_bytes;
    };
    std::vector<Wish> wishes_;
};

/// What ATOLL_COLLECTIVE may name for a collective.
std::vector<Algorithm> algorithms_of(Collective);
const char* name_of(Collective);
const char* name_of(Algorithm);

}  // namespace atl::collective
