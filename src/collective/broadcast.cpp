#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

void broadcast_line(State& state, void* dst, const void* src, std::size_t bytes, int root) {
    const bool is_root = state.my_pe() == root;
    const LineData mine(src, is_root ? bytes : 0);
    state.team().exchange("broadcast", mine.bytes, bytes);
    // The root too has its data in dst.
    if (!is_root)
        copy_bytes(dst, state.team().exchanged(root), bytes);
    else if (dst != src)
        copy_bytes(dst, src, bytes);
}

/// Everybody reads the root's source, or its copy in staging.
void broadcast_read(State& state, void* dst, const void* src, std::size_t bytes, int root, bool staged) {
    const bool is_root = state.my_pe() == root;
    Sources sources(state, "broadcast",
                    {.data = src, .block_bytes = bytes, .contributes = is_root, .staged = staged});
    sources.run([&] {
        if (!is_root)
            copy_bytes(static_cast<char*>(dst) + sources.lo(), sources.at(root, 0), sources.length(root));
    });
    if (is_root && dst != src) copy_bytes(dst, src, bytes);
}

}  // namespace
}  // namespace collective

void Team::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                           int root) const {
    using namespace collective;
    State& state = State::of(this->state());
    check_call(state, "broadcast", dst_bytes, root);
    check_root(state, root);
    // Only the root's source is read; elsewhere it may be empty.
    if (state.my_pe() == root || src_bytes != 0) check_size("broadcast", "src", src_bytes, dst_bytes);
    switch (const Algorithm algorithm = state.choose(Collective::broadcast, dst_bytes, dst_bytes)) {
        case Algorithm::line:
            return broadcast_line(state, dst, src, dst_bytes, root);
        default:
            return broadcast_read(state, dst, src, dst_bytes, root, algorithm == Algorithm::staged);
    }
}

}  // namespace atl
