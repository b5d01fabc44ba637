// Reads the stacks of live PEs of this host.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/stacks/stack_texts.hpp"
#include "common/board/board.hpp"

namespace atl::cli {

/// Asks the PEs in `pes` for their stacks and waits for the answers, for at most `patience_s`. With
/// `sites_only` the texts may lack frames.
std::vector<PeStacks> read_stacks(const common::BoardView& board, const std::vector<int>& pes,
                                  double patience_s, bool sites_only);

/// A report names few PEs, and each PE that is asked is interrupted.
inline constexpr std::size_t most_asked = 16;

/// The activity of all PEs, with the places in the program of those that do not wait: of the first `most`.
std::vector<common::PeDoing> doing_with_sites(const common::BoardView& board, std::size_t most = most_asked);

}  // namespace atl::cli
