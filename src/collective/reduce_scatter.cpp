#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/folds/averages.hpp"
#include "collective/folds/fold.hpp"
#include "collective/on_device.hpp"
#include "collective/sources.hpp"

#include <vector>

namespace atl {

namespace collective {
namespace {

void reduce_scatter_line(State& state, const core::Called& call, void* dst, const void* src,
                         std::size_t block, const Kernel& kernel) {
    const std::size_t all = block * static_cast<std::size_t>(state.n_pes());
    const std::size_t at = block * static_cast<std::size_t>(state.my_pe());
    core::TeamState& team = state.team();
    team.exchange(call, src, all);
    if (block == 0) return;
    alignas(16) unsigned char result[core::exchange_bytes];
    fold_line(
        kernel, state.n_pes(), [&](int i) { return team.exchanged(i) + at; }, block, result);
    std::memcpy(dst, result, block);
}

void reduce_scatter_read(State& state, const core::Called& call, void* dst, const void* src,
                         std::size_t block, const Kernel& kernel, bool staged) {
    const auto n = static_cast<std::size_t>(state.n_pes());
    const auto me = static_cast<std::size_t>(state.my_pe());
    const auto* begin = static_cast<const char*>(src);
    // In place: the others must not read memory that this PE is about to overwrite.
    staged |= dst < begin + n * block && begin < static_cast<char*>(dst) + block;
    Sources sources(state, call, {.data = src, .blocks = n, .block_bytes = block, .staged = staged},
                    {.block = me, .agreed = false});
    sources.run([&] {
        fold_to(
            kernel, state.n_pes(), [&](int i) { return sources.at(i, me); }, sources.length(0),
            static_cast<char*>(dst) + sources.lo());
    });
}

}  // namespace
}  // namespace collective

void Team::reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                                 DType type, ReduceOp op) const {
    reduce_scatter_scaled_erased(dst, dst_count, src, src_count, type, op, 1);
}

void Team::reduce_scatter_scaled_erased(void* dst, std::size_t dst_count, const void* src,
                                        std::size_t src_count, DType type, ReduceOp op, double factor) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "reduce_scatter");
    const std::size_t block = dst_count * size_of(type);
    const core::Called call = check_call(
        state, "reduce_scatter",
        {.bytes = block, .c = static_cast<std::uint64_t>(type), .d = static_cast<std::uint64_t>(op)});
    check_size("reduce_scatter", "src", src_count, times(dst_count, state.n_pes()), "elements");
    if (is_on_device(state, "reduce_scatter", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::reduce_scatter,
                              .dst = dst,
                              .src = src,
                              .bytes = block,
                              .type = type,
                              .op = op,
                              .scale = factor});
    check_given(state, "reduce_scatter", dst, block, src, block);
    const Kernel kernel = reduction_kernel(type, op, factor);
    std::vector<std::byte> scaled;
    if (factor != 1 && !kernel.widens()) {
        scaled.resize(src_count * size_of(type));
        multiply(scaled.data(), src, src_count, type, factor);
        src = scaled.data();
    }
    const Algorithm algorithm = state.choose(Collective::reduce_scatter, block, times(block, state.n_pes()));
    if (algorithm == Algorithm::line)
        reduce_scatter_line(state, call, dst, src, block, kernel);
    else
        reduce_scatter_read(state, call, dst, src, block, kernel, algorithm == Algorithm::staged);
    finish_average(dst, dst_count, type, op, state.n_pes());
}

}  // namespace atl
