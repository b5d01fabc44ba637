// Stream-ordered collect: concatenates blocks of any size of all members. Members exchange the offsets and
// sizes of their sources, synchronize, fetch, and synchronize again.
#include "gpu/cuda/kernels/groups.cuh"
#include "gpu/cuda/kernels/whole_grid.cuh"

namespace atl::kernels {

using gpu::CollectCall;

namespace {

/// The words that `from` wrote for the block of this number on PE `at`: an offset in its slot, then a number
/// of bytes.
__device__ unsigned long long* source_words(const GroupCall& call, int at, int from) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    return reinterpret_cast<unsigned long long*>(device::detail::at(call.team, call.memory, at) +
                                                 memory.source_at(blockIdx.x, from));
}

/// Publishes the offset and the size of src to the members. Call before the blocks meet. The old values were
/// read before the second meeting of the previous collect.
__device__ void publish_source(const GroupCall& call) {
    const auto offset = static_cast<unsigned long long>(
        static_cast<const char*>(call.src) - call.team.window - call.team.my_slot * call.team.stride);
    for (int pe = static_cast<int>(threadIdx.x); pe < call.team.n_pes; pe += static_cast<int>(blockDim.x)) {
        unsigned long long* words = source_words(call, pe, call.team.my_pe);
        device::store_relaxed(words, offset);
        device::store_relaxed(words + 1, static_cast<unsigned long long>(call.bytes));
    }
}
__device__ unsigned long long bytes_of(const GroupCall& call, int pe) {
    return device::load_relaxed(source_words(call, call.team.my_pe, pe) + 1);
}
__device__ const char* source_of(const GroupCall& call, int pe) {
    return call.team.window + device::slot_of(call.team, pe) * call.team.stride +
           device::load_relaxed(source_words(call, call.team.my_pe, pe));
}

/// The number of bytes of the members before `pe`.
__device__ unsigned long long before(const GroupCall& call, int pe) {
    unsigned long long bytes = 0;
    for (int i = 0; i < pe; ++i) bytes += bytes_of(call, i);
    return bytes;
}

/// Stops the kernel with a report, or by a trap if reports are off. Nothing is written past dst.
__device__ void stop(const CollectCall& collect, unsigned long long total) {
    const GroupCall& call = collect.group;
    if (!call.team.control->watch) __trap();
    device::Report report = device::detail::waiting(call.team.control, {call.operation, 0, 0}, call.dst, -1);
    report.subject = device::Subject::word;
    report.compare = device::Compare::le;
    report.expected = collect.dst_bytes;
    report.found = total;
    device::detail::report_and_trap(const_cast<device::Watch*>(call.team.control->watch), report, 4);
}

__device__ void fetch(const CollectCall& collect) {
    const GroupCall& call = collect.group;
    const int n = call.team.n_pes, me = call.team.my_pe;
    const unsigned long long total = before(call, n);
    if (total > collect.dst_bytes) [[unlikely]]
        return stop(collect, total);
    unsigned long long at = before(call, me);
    for (int k = 0; k < n; ++k) {
        const int pe = (me + k) % n;
        if (pe == 0) at = 0;
        const unsigned long long bytes = bytes_of(call, pe);
        device::detail::copy(static_cast<char*>(call.dst) + at, source_of(call, pe), bytes, WholeGrid{});
        at += bytes;
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(512, 1) atoll_collect(const CollectCall collect) {
    publish_source(collect.group);
    between_meetings(collect.group, [&] { fetch(collect); });
}

}  // namespace atl::kernels
