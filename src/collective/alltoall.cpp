// alltoall and alltoalls: block j of PE i becomes block i of PE j.
#include "atoll/error.hpp"
#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/on_device.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

void alltoall_line(State& state, const core::Called& call, char* dst, const void* src, std::size_t block) {
    const auto n = static_cast<std::size_t>(state.n_pes());
    state.team().exchange(call, src, n * block);
    for (int i = 0; i < state.n_pes(); ++i)
        copy_bytes(dst + static_cast<std::size_t>(i) * block,
                   state.team().exchanged(i) + static_cast<std::size_t>(state.my_pe()) * block, block);
}

Reads my_blocks(const State& state) {
    return {.block = static_cast<std::size_t>(state.my_pe()), .agreed = false};
}

/// Calls `take(i, range of my block of member i)` for all members, beginning with the neighbour.
template <class Take> void read_my_block(State& state, Sources& sources, Take take) {
    sources.run([&] {
        for (int k = 1; k <= state.n_pes(); ++k) {
            const int i = (state.my_pe() + k) % state.n_pes();
            take(i, sources.at(i, static_cast<std::size_t>(state.my_pe())), sources.length(i));
        }
    });
}

void alltoall_read(State& state, const core::Called& call, char* dst, const void* src, std::size_t block,
                   bool staged) {
    const auto n = static_cast<std::size_t>(state.n_pes());
    Sources sources(state, call, {.data = src, .blocks = n, .block_bytes = block, .staged = staged},
                    my_blocks(state));
    read_my_block(state, sources, [&](int i, const char* from, std::size_t bytes) {
        copy_bytes(dst + static_cast<std::size_t>(i) * block + sources.lo(), from, bytes);
    });
}

}  // namespace
}  // namespace collective

void Team::alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "alltoall");
    const core::Called call = check_call(state, "alltoall", {.bytes = src_bytes, .d = state.elements()});
    check_size("alltoall", "dst", dst_bytes, src_bytes);
    const std::size_t block = src_bytes / static_cast<std::size_t>(state.n_pes());
    if (block * static_cast<std::size_t>(state.n_pes()) != src_bytes)
        throw Error(ErrorCode::shape_mismatch,
                    "alltoall: src has " + std::to_string(src_bytes) + " bytes, which do not divide into " +
                        std::to_string(state.n_pes()) + " blocks, one for each PE of " + state.team().name() +
                        ".");
    if (is_on_device(state, "alltoall", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::alltoall, .dst = dst, .src = src, .bytes = block});
    check_given(state, "alltoall", dst, src_bytes, src, src_bytes);
    char* to = static_cast<char*>(dst);
    switch (const Algorithm algorithm = state.choose(Collective::alltoall, block, src_bytes)) {
        case Algorithm::line:
            return alltoall_line(state, call, to, src, block);
        default:
            return alltoall_read(state, call, to, src, block, algorithm == Algorithm::staged);
    }
}

void Team::alltoalls_bytes(void* dst, const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                           std::size_t count, std::size_t element_bytes) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "alltoalls");
    const std::size_t block = count * element_bytes;
    const core::Called call = check_call(state, "alltoalls",
                                         {.bytes = block,
                                          .c = static_cast<std::uint64_t>(dst_stride),
                                          .d = static_cast<std::uint64_t>(src_stride),
                                          .more = state.elements()});
    if (dst_stride < 1 || src_stride < 1) detail::throw_stride(dst_stride, src_stride);
    if (is_on_device(state, "alltoalls", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::alltoalls,
                              .dst = dst,
                              .src = src,
                              .bytes = element_bytes,
                              .strides = {count, dst_stride, src_stride}});
    check_given(state, "alltoalls", dst, block, src, block);
    // Packed into staging, because strided elements would use only parts of the cache lines that others read.
    Sources sources(state, call,
                    {.data = src,
                     .blocks = static_cast<std::size_t>(state.n_pes()),
                     .block_bytes = block,
                     .staged = true,
                     .element_bytes = element_bytes,
                     .stride = src_stride},
                    my_blocks(state));
    read_my_block(state, sources, [&](int i, const char* from, std::size_t bytes) {
        char* to = static_cast<char*>(dst) +
                   static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * block) * dst_stride;
        scatter_strided(to, from, element_bytes, dst_stride, sources.lo(), bytes);
    });
}

}  // namespace atl
