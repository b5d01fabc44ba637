// Reductions whose result goes to all PEs, or to one. All algorithms fold in PE order, so all give the same
// bits.
#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/folds/averages.hpp"
#include "collective/folds/fold.hpp"
#include "collective/on_device.hpp"
#include "collective/slices.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

/// The arguments of a reduction; `root` is -1 if every member gets the result.
struct Reduction {
    const core::Called& call;
    void* dst;
    const void* src;
    std::size_t bytes;
    Kernel kernel;
    int root = -1;

    bool wanted_by(int pe) const { return root < 0 || root == pe; }
};

void reduce_line(State& state, const Reduction& r) {
    core::TeamState& team = state.team();
    team.exchange(r.call, r.src, r.bytes);
    if (!r.wanted_by(state.my_pe()) || r.bytes == 0) return;
    alignas(16) unsigned char result[core::exchange_bytes];
    fold_line(
        r.kernel, state.n_pes(), [&](int i) { return team.exchanged(i); }, r.bytes, result);
    copy_bytes(r.dst, result, r.bytes);
}

/// Each member that gets the result folds the staged sources of all.
void reduce_staged(State& state, const Reduction& r) {
    Sources sources(state, r.call, {.data = r.src, .block_bytes = r.bytes, .staged = true},
                    {.count = r.wanted_by(state.my_pe()) ? -1 : 0, .agreed = r.root < 0});
    sources.run([&] {
        if (r.wanted_by(state.my_pe()))
            fold_to(
                r.kernel, state.n_pes(), [&](int i) { return sources.at(i, 0); }, sources.length(0),
                static_cast<char*>(r.dst) + sources.lo());
    });
}

void reduce_slices(State& state, const Reduction& r) {
    Slices slices(state, r.call,
                  {.src = r.src, .dst = r.dst, .bytes = r.bytes, .wants_result = r.wanted_by(state.my_pe())});
    slices.run([&](std::size_t lo, std::size_t hi) {
        FoldBlock block;
        for (; lo < hi; lo += fold_block) {
            const std::size_t bytes = std::min(fold_block, hi - lo);
            fold_block_to(
                r.kernel, state.n_pes(), [&](int i) { return slices.source(i, lo); }, 0, bytes, block.bytes,
                block);
            slices.write(lo, block.bytes, bytes);
        }
    });
}

void run(State& state, Collective collective, const Reduction& r) {
    switch (state.choose(collective, r.bytes, r.bytes)) {
        case Algorithm::line:
            return reduce_line(state, r);
        case Algorithm::staged:
            return reduce_staged(state, r);
        default:
            return reduce_slices(state, r);
    }
}

}  // namespace
}  // namespace collective

void Team::reduce_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op) const {
    reduce_scaled_erased(dst, src, count, type, op, 1);
}

void Team::reduce_scaled_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                                double factor) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "reduce");
    const std::size_t bytes = count * size_of(type);
    const core::Called call = check_call(
        state, "reduce",
        {.bytes = bytes, .c = static_cast<std::uint64_t>(type), .d = static_cast<std::uint64_t>(op)});
    if (is_on_device(state, "reduce", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::reduce,
                              .dst = dst,
                              .src = src,
                              .bytes = bytes,
                              .type = type,
                              .op = op,
                              .scale = factor});
    check_given(state, "reduce", dst, bytes, src, bytes);
    const Kernel kernel = reduction_kernel(type, op, factor);
    if (factor != 1 && !kernel.widens()) {
        multiply(dst, src, count, type, factor);
        src = dst;
    }
    run(state, Collective::reduce, {call, dst, src, bytes, kernel});
    finish_average(dst, count, type, op, state.n_pes());
}

void Team::reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t count, DType type,
                            ReduceOp op, int root) const {
    using namespace collective;
    State& state = State::of(this->state());
    const core::Meetings::Within within(state.team().meetings(), "reduce_to");
    const std::size_t bytes = count * size_of(type);
    const auto compared = [&](std::size_t size) {
        return AgreedArguments{size, root, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(op)};
    };
    const core::Called call = check_call(state, "reduce_to", compared(bytes),
                                         compared(state.my_pe() == root ? dst_count * size_of(type) : bytes));
    check_root(state, root);
    if (state.my_pe() == root) check_size("reduce_to", "dst", dst_count, count, "elements");
    if (is_on_device(state, "reduce_to", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = gpu::Group::reduce_to,
                              .dst = dst,
                              .src = src,
                              .bytes = bytes,
                              .root = root,
                              .type = type,
                              .op = op});
    check_given(state, "reduce_to", dst, state.my_pe() == root ? bytes : 0, src, bytes);
    run(state, Collective::reduce_to, {call, dst, src, bytes, reduction_kernel(type, op), root});
    if (state.my_pe() == root) finish_average(dst, count, type, op, state.n_pes());
}

}  // namespace atl
