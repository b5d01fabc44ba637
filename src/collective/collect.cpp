// fcollect and collect: every PE gets the blocks of all.
#include <string>

#include "atoll/error.hpp"
#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/on_device.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

void fcollect_line(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes) {
    state.team().exchange(call, src, bytes);
    for (int i = 0; i < state.n_pes(); ++i)
        copy_bytes(dst + static_cast<std::size_t>(i) * bytes, state.team().exchanged(i), bytes);
}

void fcollect_read(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes,
                   bool staged) {
    Sources sources(state, call, {.data = src, .block_bytes = bytes, .staged = staged});
    sources.run([&] {
        // Starts with the neighbour, so that the members do not all read the same PE's memory at once.
        for (int k = 1; k <= state.n_pes(); ++k) {
            const int i = (state.my_pe() + k) % state.n_pes();
            copy_bytes(dst + static_cast<std::size_t>(i) * bytes + sources.lo(), sources.at(i, 0),
                       sources.length(i));
        }
    });
}

/// The offsets of the members' blocks, followed by their total.
std::vector<std::size_t> block_offsets(const State& state, const Sources& sources) {
    std::vector<std::size_t> offsets(static_cast<std::size_t>(state.n_pes()) + 1);
    for (int i = 0; i < state.n_pes(); ++i)
        if (__builtin_add_overflow(offsets[static_cast<std::size_t>(i)], sources.block_bytes(i),
                                   &offsets[static_cast<std::size_t>(i) + 1]))
            throw_other_call(state, "collect", i);
    return offsets;
}

}  // namespace
}  // namespace collective

void Team::fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "fcollect");
    const core::Called call = check_call(state, "fcollect", {.bytes = src_bytes, .d = state.elements()});
    check_size("fcollect", "dst", dst_bytes, times(src_bytes, state.n_pes()));
    if (is_on_device(state, "fcollect", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::fcollect, .dst = dst, .src = src, .bytes = src_bytes});
    check_given(state, "fcollect", dst, dst_bytes, src, src_bytes);
    char* to = static_cast<char*>(dst);
    switch (const Algorithm algorithm = state.choose(Collective::fcollect, src_bytes, src_bytes)) {
        case Algorithm::line:
            return fcollect_line(state, call, to, src, src_bytes);
        default:
            return fcollect_read(state, call, to, src, src_bytes, algorithm == Algorithm::staged);
    }
}

std::size_t Team::collect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "collect");
    // Sizes may differ, so only the call itself is compared. Each PE decides for itself whether to stage.
    const core::Called call = check_call(state, "collect", {.d = state.elements()});
    if (is_on_device(state, "collect", dst, src)) [[unlikely]]
        return collect_on_device(
            state, call,
            {.kind = gpu::Group::collect, .dst = dst, .src = src, .bytes = src_bytes, .room = dst_bytes});
    check_given(state, "collect", "src", src, src_bytes);
    const bool staged = state.choose(Collective::collect, src_bytes, SIZE_MAX) == Algorithm::staged;
    Sources sources(state, call, {.data = src, .block_bytes = src_bytes, .staged = staged, .any_size = true});
    sources.meet();
    const std::vector<std::size_t> offsets = block_offsets(state, sources);
    // A member without room takes part to the end, because the others need it.
    const bool fits = offsets.back() <= dst_bytes;
    const bool is_given = dst != nullptr || offsets.back() == 0;
    do {
        sources.fetch();
        for (int k = 1; k <= state.n_pes() && fits && is_given; ++k) {
            const int i = (state.my_pe() + k) % state.n_pes();
            copy_bytes(static_cast<char*>(dst) + offsets[static_cast<std::size_t>(i)] + sources.lo(),
                       sources.at(i, 0), sources.length(i));
        }
    } while (sources.next_piece());
    sources.finish();
    if (!fits)
        throw Error(ErrorCode::shape_mismatch, "collect: dst has " + std::to_string(dst_bytes) +
                                                   " bytes, the PEs of " + state.team().name() + " sent " +
                                                   std::to_string(offsets.back()) +
                                                   " in all; pass a larger dst.");
    if (!is_given) throw_null("collect", "dst", offsets.back());
    return offsets.back();
}

}  // namespace atl
