// Reads the stacks of live PEs of this host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/stacks/stack_texts.hpp"
#include "common/board/board.hpp"

namespace atl::cli {

/// Names of frames are read from files, slowly, so that no more are read than are needed.
enum class StackDetail : std::uint8_t {
    site,     ///< PeStacks::site
    program,  ///< and PeStacks::program
    all,      ///< and PeStacks::text
};

/// Asks the PEs in `pes` for their stacks and waits for the answers, for at most `patience_s`.
std::vector<PeStacks> read_stacks(const common::BoardView& board, const std::vector<int>& pes,
                                  double patience_s, StackDetail detail);

/// True for a PE that runs, and is neither stopped nor on a host that does not answer.
inline bool may_answer(const common::PeDoing& one) {
    return one.state == common::PeState::running && one.process != 'T' &&
           one.process != common::silent_process;
}

/// A report names few PEs, and each PE that is asked is interrupted.
inline constexpr std::size_t most_asked = 16;

/// The activity of all PEs, with the places in the program of those that do not wait: of the first `most`.
std::vector<common::PeDoing> doing_with_sites(const common::BoardView& board, std::size_t most = most_asked);

/// core::report_of, and the stacks in the program of one PE of each line, at most eight, unless the report
/// has said as much. There is no newline at the end.
std::string report_with_stacks(const common::BoardView& board, const std::vector<common::PeDoing>& doing,
                               const std::string& heading, const std::string& begin);

}  // namespace atl::cli
