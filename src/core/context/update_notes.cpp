#include "core/context/update_notes.hpp"

#include "core/job/job_state.hpp"
#include "core/sync/wait_on_board.hpp"
#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

#include <cstring>
#include <optional>

namespace atl::core {

namespace {

using common::UpdateKind;
using common::UpdateNotes;

/// Not inlined, so that words of the heap need no saved registers.
[[gnu::noinline]] void note_elsewhere(const JobState& job, UpdateNotes& notes, const void* target,
                                      UpdateKind kind, std::uint64_t value, int world_pe) noexcept {
    notes.note(word_offset(job, target), value, world_pe, kind);
}

[[gnu::always_inline]] inline void note(const JobState& job, UpdateNotes& notes, const void* target,
                                        UpdateKind kind, std::uint64_t value, int world_pe) noexcept {
    const detail::Window& window = job.window();
    if (!window.heap_has(target)) [[unlikely]]
        return note_elsewhere(job, notes, target, kind, value, world_pe);
    notes.note(window.heap_offset(target), value, world_pe, kind);
}

std::uint64_t sign_extended(std::uint64_t value, std::size_t bytes) {
    const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

/// The integer of a put, if its bytes are a word of the size of a flag or a counter. The bits of
/// floating-point numbers are larger, and no report should show them as an integer.
std::optional<std::uint64_t> small_word(const void* source, std::size_t bytes) {
    if (source == nullptr || (bytes != sizeof(std::uint32_t) && bytes != sizeof(std::uint64_t)))
        return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, source, bytes);
    value = sign_extended(value, bytes);
    constexpr std::uint64_t limit = 1u << 24;
    if (value + limit >= 2 * limit) return std::nullopt;
    return value;
}

}  // namespace

void note_signal(ContextState& ctx, const std::uint64_t* signal, std::uint64_t value, bool adds,
                 int pe) noexcept {
    const JobState& job = ctx.job();
    note(job, job.recorder->signals(), signal, adds ? UpdateKind::add : UpdateKind::set, value,
         ctx.team().world_pe(pe));
}

void note_write(ContextState& ctx, const void* target, UpdateKind kind, std::uint64_t value,
                int pe) noexcept {
    const JobState& job = ctx.job();
    note(job, job.recorder->writes(), target, kind, value, ctx.team().world_pe(pe));
}

void note_put(ContextState& ctx, const void* target, const void* source, std::size_t bytes, int pe) noexcept {
    const std::optional<std::uint64_t> word = small_word(source, bytes);
    note_write(ctx, target, word ? UpdateKind::set : UpdateKind::put, word.value_or(bytes), pe);
}

void note_atomic(ContextState& ctx, AtomicOp op, DType type, const void* target, std::uint64_t value,
                 int pe) noexcept {
    // A compare_swap is noted after it, if it stored its value.
    if (op == AtomicOp::fetch || op == AtomicOp::compare_swap) return;
    UpdateKind kind = UpdateKind::change;
    if (type != DType::float32 && type != DType::float64) {
        if (op == AtomicOp::set || op == AtomicOp::swap) kind = UpdateKind::set;
        if (op == AtomicOp::add || op == AtomicOp::fetch_add) kind = UpdateKind::add;
    }
    note_write(ctx, target, kind, sign_extended(value, size_of(type)), pe);
}

}  // namespace atl::core
