// Notes the signals that Python's and OpenSHMEM's fronts send, for the hang report.
#pragma once

#include "atoll/export.hpp"

#include <cstdint>

namespace atl::core {

class ContextState;

/// `signal` is this PE's copy of the word, and `pe` the team's number of the other PE.
ATOLL_API void note_signal(ContextState& ctx, const std::uint64_t* signal, std::uint64_t value, bool adds,
                           int pe) noexcept;

}  // namespace atl::core
