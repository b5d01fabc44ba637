#include "core/context/update_notes.hpp"

#include "core/job/job_state.hpp"
#include "core/sync/wait_on_board.hpp"
#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

namespace {

using common::UpdateKind;
using common::UpdateNotes;

/// Not inlined, so that words of the heap need no saved registers.
[[gnu::noinline]] void note_elsewhere(const JobState& job, UpdateNotes& notes, const void* target,
                                      UpdateKind kind, std::uint64_t value, int world_pe) noexcept {
    notes.note(place_of(job, target), value, world_pe, kind);
}

[[gnu::always_inline]] inline void note(const JobState& job, UpdateNotes& notes, const void* target,
                                        UpdateKind kind, std::uint64_t value, int world_pe) noexcept {
    const detail::Window& window = job.window();
    if (!window.heap_has(target)) [[unlikely]]
        return note_elsewhere(job, notes, target, kind, value, world_pe);
    notes.note(window.heap_offset(target), value, world_pe, kind);
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

}  // namespace atl::core
