// Reads the stacks of live PEs of this host.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::cli {

struct PeStacks {
    std::string text;  ///< lines, each with two spaces before it; or the reason why there is no stack
    std::string site;  ///< place of the PE's main thread in the program; empty if unknown
};

/// Asks the PEs in `pes` for their stacks and waits for the answers, for at most `patience_s`. With
/// `sites_only` the texts may lack frames.
std::vector<PeStacks> read_stacks(const common::BoardView& board, const std::vector<int>& pes,
                                  double patience_s, bool sites_only);

/// The activity of all PEs, with the places in the program of those that do not wait.
std::vector<common::PeDoing> doing_with_sites(const common::BoardView& board);

}  // namespace atl::cli
