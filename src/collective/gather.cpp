// gather and scatter: blocks of all PEs to one, and from one to all.
#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/on_device.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

void gather_line(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes,
                 int root) {
    state.team().exchange(call, src, bytes);
    if (state.my_pe() != root) return;
    for (int i = 0; i < state.n_pes(); ++i)
        copy_bytes(dst + static_cast<std::size_t>(i) * bytes, state.team().exchanged(i), bytes);
}

void gather_read(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes,
                 int root, bool staged) {
    Sources sources(state, call, {.data = src, .block_bytes = bytes, .staged = staged},
                    {.count = state.my_pe() == root ? -1 : 0, .agreed = false});
    sources.run([&] {
        for (int i = 0; i < state.n_pes() && state.my_pe() == root; ++i)
            copy_bytes(dst + static_cast<std::size_t>(i) * bytes + sources.lo(), sources.at(i, 0),
                       sources.length(i));
    });
}

void scatter_line(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes,
                  int root) {
    const std::size_t all = bytes * static_cast<std::size_t>(state.n_pes());
    state.team().exchange(call, state.my_pe() == root ? src : nullptr, all);
    const unsigned char* line = state.team().exchanged(root);
    copy_bytes(dst, line + static_cast<std::size_t>(state.my_pe()) * bytes, bytes);
}

void scatter_read(State& state, const core::Called& call, char* dst, const void* src, std::size_t bytes,
                  int root, bool staged) {
    const auto me = static_cast<std::size_t>(state.my_pe());
    const bool is_root = state.my_pe() == root;
    Sources sources(state, call,
                    {.data = src,
                     .blocks = static_cast<std::size_t>(state.n_pes()),
                     .block_bytes = bytes,
                     .contributes = is_root,
                     .staged = staged},
                    {.first = root, .count = is_root ? 0 : 1, .block = me, .agreed = false, .most = 1});
    sources.run([&] {
        if (!is_root) copy_bytes(dst + sources.lo(), sources.at(root, me), sources.length(root));
    });
    if (!is_root) return;
    const char* my_block = static_cast<const char*>(src) + me * bytes;
    if (dst != my_block) copy_bytes(dst, my_block, bytes);
}

}  // namespace
}  // namespace collective

void Team::gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                        int root) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "gather");
    const std::size_t all = times(src_bytes, state.n_pes());
    const core::Called call =
        check_call(state, "gather", {src_bytes, root, 0, state.elements()},
                   {src_bytes, root, state.my_pe() == root ? dst_bytes : all, state.elements()});
    check_root(state, root);
    if (state.my_pe() == root) check_size("gather", "dst", dst_bytes, all);
    if (is_on_device(state, "gather", dst, src)) [[unlikely]]
        return run_on_device(
            state, call,
            {.kind = gpu::Group::gather, .dst = dst, .src = src, .bytes = src_bytes, .root = root});
    check_given(state, "gather", dst, state.my_pe() == root ? all : 0, src, src_bytes);
    char* to = static_cast<char*>(dst);
    switch (const Algorithm algorithm = state.choose(Collective::gather, src_bytes, src_bytes)) {
        case Algorithm::line:
            return gather_line(state, call, to, src, src_bytes, root);
        default:
            return gather_read(state, call, to, src, src_bytes, root, algorithm == Algorithm::staged);
    }
}

void Team::scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                         int root) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "scatter");
    const std::size_t all = times(dst_bytes, state.n_pes());
    const core::Called call =
        check_call(state, "scatter", {dst_bytes, root, 0, state.elements()},
                   {dst_bytes, root, state.my_pe() == root ? src_bytes : all, state.elements()});
    check_root(state, root);
    if (state.my_pe() == root) check_size("scatter", "src", src_bytes, all);
    if (is_on_device(state, "scatter", dst, src)) [[unlikely]]
        return run_on_device(
            state, call,
            {.kind = gpu::Group::scatter, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
    check_given(state, "scatter", dst, dst_bytes, src, state.my_pe() == root ? all : 0);
    char* to = static_cast<char*>(dst);
    switch (const Algorithm algorithm = state.choose(Collective::scatter, dst_bytes, all)) {
        case Algorithm::line:
            return scatter_line(state, call, to, src, dst_bytes, root);
        default:
            return scatter_read(state, call, to, src, dst_bytes, root, algorithm == Algorithm::staged);
    }
}

}  // namespace atl
