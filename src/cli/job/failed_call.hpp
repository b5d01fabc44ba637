// The cause behind the error of a collective call: the PE whose call differs, or the PE that has ended.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/board/board.hpp"

namespace atl::cli {

/// The calls behind a CollectiveMismatch: "PE 3 called barrier as call 2 of the world team, where PE 0-2 …".
/// `error` is its text; `site` is its place on PE `pe`. Empty if the recorders do not have these calls.
std::string differing_calls(const common::BoardView& board, int pe, std::string_view error,
                            const std::string& site);

/// The same for the last call of PE `pe`, which died within it: of C++'s abort after an uncaught exception,
/// the launcher has no text. An earlier call of the same team that failed and differs comes first. Empty if
/// the PE was outside calls, or no call differs.
std::string differing_last_call(const common::BoardView& board, int pe);

/// Returns a text such as "; PE 1 handled ValueError at x.py:6": exceptions in whose handling PEs made calls
/// that differ or wait.
std::string handled_text(const common::BoardView& board);

/// Why the groups of PE `pe` failed; empty if they did not.
std::string failed_group(const common::BoardView& board, int pe);

/// The PE whose end an error names: "PE 1 left the job without finalize, so this cannot end: barrier.".
struct EndedPe {
    int pe = -1;
    bool has_finalized = false;
    std::string call;  ///< such as "barrier", in which others need it
};
std::optional<EndedPe> ended_pe_of(std::string_view error);

/// The sentence for such an error of PE `pe`, with `how` PE `ended` ended: "has finalized".
std::string ended_text(const common::BoardView& board, const EndedPe& ended, const std::string& how, int pe,
                       const std::string& site);

/// Returns a text such as "its last collective call was reduce(bytes=8, …)", of PE `pe`; empty without one.
std::string last_call_text(const common::BoardView& board, int pe);

}  // namespace atl::cli
