#include "core/context/signal_notes.hpp"

#include "core/job/job_state.hpp"
#include "core/sync/wait_on_board.hpp"
#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

namespace {

/// Not inlined, so that words of the heap need no saved registers.
[[gnu::noinline]] void note_elsewhere(const JobState& job, const std::uint64_t* signal, std::uint64_t value,
                                      bool adds, int world_pe) noexcept {
    job.recorder->note_signal(place_of(job, signal), value, world_pe, adds);
}

}  // namespace

void note_signal(ContextState& ctx, const std::uint64_t* signal, std::uint64_t value, bool adds,
                 int pe) noexcept {
    const JobState& job = ctx.job();
    const int world_pe = ctx.team().world_pe(pe);
    const detail::Window& window = job.window();
    if (!window.heap_has(signal)) [[unlikely]]
        return note_elsewhere(job, signal, value, adds, world_pe);
    job.recorder->note_signal(window.heap_offset(signal), value, world_pe, adds);
}

}  // namespace atl::core
