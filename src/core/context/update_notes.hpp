// Notes the updates of words of other PEs by the language fronts, for the hang report.
#pragma once

#include "atoll/export.hpp"
#include "atoll/types.hpp"
#include "common/recorder/update_notes.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::core {

class ContextState;

/// `signal` is this PE's copy of the word, and `pe` the team's number of the other PE.
ATOLL_API void note_signal(ContextState& ctx, const std::uint64_t* signal, std::uint64_t value, bool adds,
                           int pe) noexcept;

/// The same for a put or an atomic operation. `value` as in UpdateNote.
ATOLL_API void note_write(ContextState& ctx, const void* target, common::UpdateKind kind, std::uint64_t value,
                          int pe) noexcept;

/// The same for a put of `bytes` bytes, for C and C++. A null `source` has an unknown value.
void note_put(ContextState& ctx, const void* target, const void* source, std::size_t bytes, int pe) noexcept;
/// The same for an atomic operation. Fetches update nothing.
void note_atomic(ContextState& ctx, AtomicOp op, DType type, const void* target, std::uint64_t value,
                 int pe) noexcept;

}  // namespace atl::core
