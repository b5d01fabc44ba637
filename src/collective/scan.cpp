// Prefix reductions: PE i gets the fold over PEs 0 … i, or 0 … i - 1 if exclusive.
#include "atoll/error.hpp"
#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/folds/fold.hpp"
#include "collective/on_device.hpp"
#include "collective/slices.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

struct Scan {
    const core::Called& call;
    void* dst;
    const void* src;
    std::size_t bytes;
    Kernel kernel;
    bool inclusive;

    /// The number of members whose sources PE `pe` folds. With no member, the result is the neutral element
    /// of a sum, zero.
    int folds(int pe) const { return inclusive ? pe + 1 : pe; }
};

void scan_line(State& state, const Scan& s) {
    core::TeamState& team = state.team();
    team.exchange(s.call, s.src, s.bytes);
    if (s.bytes == 0) return;
    alignas(16) unsigned char result[core::exchange_bytes] = {};
    const int n = s.folds(state.my_pe());
    if (n > 0)
        fold_line(
            s.kernel, n, [&](int i) { return team.exchanged(i); }, s.bytes, result);
    std::memcpy(s.dst, result, s.bytes);
}

void scan_staged(State& state, const Scan& s) {
    Sources sources(state, s.call, {.data = s.src, .block_bytes = s.bytes, .staged = true});
    sources.run([&] {
        const int n = s.folds(state.my_pe());
        char* to = static_cast<char*>(s.dst) + sources.lo();
        if (sources.length(0) == 0) return;
        if (n == 0)
            std::memset(to, 0, sources.length(0));
        else
            fold_to(
                s.kernel, n, [&](int i) { return sources.at(i, 0); }, sources.length(0), to);
    });
}

/// Computes one block of all prefixes of halves. The running fold stays in float, and each prefix is rounded
/// once.
void scan_halves(State& state, const Scan& s, Slices& slices, std::size_t at, std::size_t bytes) {
    constexpr std::size_t elements = fold_block / sizeof(float);
    alignas(64) float running[elements], next[elements], rounded[elements];
    for (const std::size_t end = at + bytes; at < end; at += elements * s.kernel.element_bytes) {
        const std::size_t count =
            std::min(end - at, elements * s.kernel.element_bytes) / s.kernel.element_bytes;
        const auto show = [&](int i) {
            std::memcpy(rounded, running, count * sizeof(float));
            s.kernel.narrow(slices.target(i) + at, rounded, count, 1);
        };
        std::memset(running, 0, sizeof running);
        for (int i = 0; i < state.n_pes(); ++i) {
            s.kernel.widen(next, slices.source(i, at), count);
            if (!s.inclusive) show(i);
            if (i == 0)
                std::memcpy(running, next, sizeof running);
            else
                s.kernel.fold(running, running, next, count);
            if (s.inclusive) show(i);
        }
    }
}

/// Computes one block of all prefixes: the running fold goes to each target after that PE's source was read.
void scan_block(State& state, const Scan& s, Slices& slices, std::size_t at, std::size_t bytes) {
    FoldBlock running, next;
    FoldBlock *now = &running, *then = &next;
    std::memset(now->bytes, 0, bytes);
    for (int i = 0; i < state.n_pes(); ++i) {
        if (i == 0)
            std::memcpy(then->bytes, slices.source(0, at), bytes);
        else
            s.kernel(then->bytes, now->bytes, slices.source(i, at), bytes);
        std::memcpy(slices.target(i) + at, s.inclusive ? then->bytes : now->bytes, bytes);
        std::swap(now, then);
    }
}

void scan_slices(State& state, const Scan& s) {
    Slices slices(state, s.call, {.src = s.src, .dst = s.dst, .bytes = s.bytes});
    slices.run([&](std::size_t lo, std::size_t hi) {
        const auto& block = s.kernel.widens() ? scan_halves : scan_block;
        for (; lo < hi; lo += fold_block) block(state, s, slices, lo, std::min(fold_block, hi - lo));
    });
}

}  // namespace
}  // namespace collective

void Team::scan_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                       bool inclusive) const {
    using namespace collective;
    State& state = State::of(this->state());
    const std::size_t bytes = count * size_of(type);
    static constexpr core::Called scans[] = {"exscan", "inscan"};
    const core::Meetings::Within within(state.team().meetings(), scans[inclusive ? 1 : 0]);
    const core::Called call = check_call(
        state, scans[inclusive ? 1 : 0],
        {.bytes = bytes, .c = static_cast<std::uint64_t>(type), .d = static_cast<std::uint64_t>(op)});
    check_scan(op, inclusive);
    if (is_on_device(state, "scan", dst, src)) [[unlikely]]
        return run_on_device(state, call,
                             {.kind = inclusive ? gpu::Group::inscan : gpu::Group::exscan,
                              .dst = dst,
                              .src = src,
                              .bytes = bytes,
                              .type = type,
                              .op = op});
    check_given(state, call.operation(), dst, bytes, src, bytes);
    const Scan scan{call, dst, src, bytes, kernel_for(type, op), inclusive};
    switch (state.choose(Collective::scan, bytes, bytes)) {
        case Algorithm::line:
            return scan_line(state, scan);
        case Algorithm::staged:
            return scan_staged(state, scan);
        default:
            return scan_slices(state, scan);
    }
}

}  // namespace atl
