// Collectives on streams: checks arguments like the host's collectives, then makes one call of the device
// heap.
#include "atoll/stream.hpp"

#include "collective/arguments.hpp"
#include "collective/folds/halves.hpp"
#include "collective/folds/host_folds.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/kernels/team_memory.hpp"
#include "stream/on_device.hpp"
#include "stream/stream_arrays.hpp"
#include "stream/stream_calls.hpp"
#include "stream/stream_checks.hpp"
#include "stream/stream_servers.hpp"
#include "stream/stream_team.hpp"

namespace atl {

namespace stream {

void prepare_streams_of(core::TeamState& team, Stream stream) {
    const bool far = stream::is_far(team);
    stream_team(team, stream, far);
    if (far) StreamServers::of(team.job()).team_server(team);
}

void check_reduction(DType type, ReduceOp op, double scale) {
    const bool real = collective::is_half(type) || type == DType::float32 || type == DType::float64;
    if ((op == ReduceOp::avg || scale != 1) && !real)
        throw Error(ErrorCode::dtype_mismatch,
                    "Averages and sums of scaled elements take float32, float64, float16 and bfloat16.");
    if (op != ReduceOp::avg) collective::kernel_for(type, op);
    if (type == DType::long_double)
        throw Error(ErrorCode::dtype_mismatch,
                    "GPUs have no arithmetic for long double; reduce float64, or arrays in the host heap.");
}

void check_overlap(const char* operation, const GroupArguments& arguments, int my_pe, int n_pes) {
    if (!arguments.writes(my_pe) || !arguments.reads(my_pe) || arguments.bytes == 0) return;
    const auto dst = reinterpret_cast<std::uintptr_t>(arguments.dst);
    const auto src = reinterpret_cast<std::uintptr_t>(arguments.src);
    const std::size_t dst_bytes = arguments.dst_bytes(n_pes), src_bytes = arguments.src_bytes(n_pes);
    if (dst >= src + src_bytes || src >= dst + dst_bytes) return;
    const std::size_t own = static_cast<std::size_t>(my_pe) * arguments.bytes;
    const bool in_place = arguments.kind == gpu::Group::reduce || arguments.kind == gpu::Group::broadcast ||
                                  gpu::is_ranged(arguments.kind)
                              ? dst == src
                          : arguments.kind == gpu::Group::fcollect || arguments.kind == gpu::Group::gather
                              ? src == dst + own
                              : arguments.kind == gpu::Group::scatter && dst == src + own;
    if (in_place) return;
    throw Error(
        ErrorCode::invalid_argument,
        std::string(operation) + ": dst (" + common::bytes_text(dst_bytes) + " at " +
            common::address_text(arguments.dst) + ") and src (" + common::bytes_text(src_bytes) + " at " +
            common::address_text(arguments.src) +
            ") overlap; on a GPU only reduce, scans and broadcast work in place. In fcollect, gather and "
            "scatter src may be this PE's own block.");
}

namespace {

device::Operation named(const GroupArguments& arguments) {
    if (arguments.operation != device::Operation::none) return arguments.operation;
    switch (arguments.kind) {
        case gpu::Group::sync:
            return device::Operation::sync;
        case gpu::Group::broadcast:
            return device::Operation::broadcast;
        case gpu::Group::fcollect:
            return device::Operation::fcollect;
        case gpu::Group::alltoall:
            return device::Operation::alltoall;
        case gpu::Group::gather:
            return device::Operation::gather;
        case gpu::Group::scatter:
            return device::Operation::scatter;
        case gpu::Group::reduce_scatter:
            return device::Operation::reduce_scatter;
        case gpu::Group::inscan:
        case gpu::Group::exscan:
            return device::Operation::scan;
        case gpu::Group::collect:
            return device::Operation::collect;
        case gpu::Group::alltoalls:
            return device::Operation::alltoalls;
        case gpu::Group::reduce:
        case gpu::Group::reduce_part:
        case gpu::Group::reduce_to:
            break;
    }
    return device::Operation::reduce;
}

}  // namespace

gpu::GroupCall group_call(core::TeamState& team, const GroupArguments& arguments) {
    team.check_alive();
    const gpu::TeamRanges::Range memory = stream::team_memory(team);
    return {stream_team(team), memory.address,  memory.words_bytes, named(arguments), arguments.dst,
            arguments.src,     arguments.bytes, arguments.bytes,    arguments.bytes,  arguments.scale,
            arguments.root,    arguments.kind,  arguments.type,     arguments.op};
}

namespace {

/// Sends this PE's part of the result to all others by copy engines, which exceed the bandwidth of kernels'
/// stores (docs/measurements/2026-11-24-constants.md). It starts with the next PE, so that none has two
/// senders at a time. No other PE reads that part of its source, so dst may be src.
void send_part(const core::TeamState& team, const gpu::DeviceMemory& device, const gpu::GroupCall& call,
               gpu::StreamHandle stream) {
    const int n = call.team.n_pes, me = call.team.my_pe;
    const gpu::GroupPart part = gpu::group_part(call.bytes, n, me);
    if (part.first == part.last) return;
    char* mine = static_cast<char*>(call.dst) + part.first;
    for (int k = 1; k < n; ++k)
        device.streams().start(gpu::CopyCall{device.at(mine, team.world_pe((me + k) % n)), mine,
                                             part.last - part.first, nullptr, 0, SignalOp::set},
                               stream);
}

}  // namespace

/// Default for ATOLL_REDUCE_ENGINES. Two kernels and n - 1 copies cost more to start than one kernel, and
/// more PEs have more to copy (docs/measurements/2026-11-24-constants.md).
std::uint64_t reduce_engines_bytes(const core::TeamState& team) {
    const std::uint64_t set = team.job().settings().reduce_engines_bytes;
    if (set != 0) return set;
    const auto n = static_cast<std::uint64_t>(team.n_pes());
    return n <= 2 ? std::uint64_t{96} << 20 : n * (std::uint64_t{12} << 20);
}

void start_group(const core::TeamState& team, const gpu::DeviceMemory& device, const gpu::GroupCall& call,
                 gpu::StreamHandle stream) {
    const int n = call.team.n_pes;
    const gpu::GroupMemory memory{n, call.words_bytes};
    // Small arrays may be at different offsets on different PEs.
    if (call.kind != gpu::Group::reduce || n == 1 || call.bytes <= memory.exchange_limit_bytes() ||
        call.bytes < reduce_engines_bytes(team))
        return device.streams().start(call, stream);
    gpu::GroupCall step = call;
    step.kind = gpu::Group::reduce_part;
    device.streams().start(step, stream);
    send_part(team, device, call, stream);
    step.kind = gpu::Group::sync;
    device.streams().start(step, stream);
}

namespace {

/// Copies this member's block of each source, between two meetings. It starts with its own, so that none has
/// two readers at a time.
void start_alltoalls(const core::TeamState& team, const gpu::DeviceMemory& device,
                     const gpu::GroupCall& meeting, const GroupArguments& a, gpu::StreamHandle stream) {
    const int n = meeting.team.n_pes, me = meeting.team.my_pe;
    const auto element = static_cast<std::int64_t>(a.bytes);
    const std::int64_t to = a.strides.dst * element, from = a.strides.src * element;
    const auto at = [&](int block, std::int64_t stride) {
        return static_cast<std::int64_t>(a.strides.count) * block * stride;
    };
    device.streams().start(meeting, stream);
    for (int k = 0; k < n; ++k) {
        const int pe = (me + k) % n;
        const char* theirs = static_cast<const char*>(device.at(a.src, team.world_pe(pe)));
        device.streams().start(gpu::StridedCall{static_cast<char*>(a.dst) + at(pe, to), theirs + at(me, from),
                                                to, from, a.bytes, a.strides.count},
                               stream);
    }
    device.streams().start(meeting, stream);
}

}  // namespace

void start_collective(const core::TeamState& team, const gpu::DeviceMemory& device,
                      const GroupArguments& arguments, gpu::GroupCall call, gpu::StreamHandle stream) {
    if (arguments.kind == gpu::Group::collect)
        return device.streams().start(gpu::CollectCall{call, arguments.room}, stream);
    if (arguments.kind != gpu::Group::alltoalls) return start_group(team, device, call, stream);
    call.kind = gpu::Group::sync;
    call.bytes = 0;
    start_alltoalls(team, device, call, arguments, stream);
}

}  // namespace stream

namespace {

/// On a stream the host does not meet other hosts. So each member derives the others' addresses from its own.
/// The kernel sends the address of the root's source in broadcast and scatter.
void enqueue(const Team& team, Stream stream, const char* operation,
             const stream::GroupArguments& arguments) {
    core::TeamState& state = team.state();
    const gpu::DeviceMemory& device = stream::device_for_streams(state.job(), stream.handle);
    if (stream::is_far(state)) {
        const device::Team value = stream::kernel_team(state, Memory::device, true);
        stream::check_arrays(state, device, operation, arguments);
        if (!arguments.is_empty())
            stream::StreamServers::of(state.job()).team_server(state).start(value, arguments, stream.handle);
        return;
    }
    const gpu::GroupCall call = stream::group_call(state, arguments);
    const stream::Ordinary ordinary = stream::check_arrays(state, device, operation, arguments);
    stream::StreamCalls::compare(state, arguments);
    if (arguments.is_empty()) return;
    if (ordinary.dst || ordinary.src)
        return stream::start_ordinary(state, device, operation, arguments, call, ordinary, stream.handle);
    stream::start_collective(state, device, arguments, call, stream.handle);
}

}  // namespace

using collective::check_root;
using collective::check_size;
using collective::times;
using gpu::Group;

StreamTeam::StreamTeam(const Team& team, Stream stream) : team_(team), stream_(stream) {
    stream::prepare_streams_of(team.state(), stream);
}

void StreamTeam::sync() const { enqueue(team_, stream_, "sync", {.kind = Group::sync}); }

void StreamTeam::barrier() const {
    enqueue(team_, stream_, "barrier", {.kind = Group::sync, .operation = device::Operation::barrier});
}

void StreamTeam::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                                 int root) const {
    check_root(team_.n_pes(), root);
    if (team_.my_pe() == root) check_size("broadcast", "src", src_bytes, dst_bytes);
    enqueue(team_, stream_, "broadcast",
            {.kind = Group::broadcast, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
}

void StreamTeam::fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("fcollect", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    enqueue(team_, stream_, "fcollect",
            {.kind = Group::fcollect, .dst = dst, .src = src, .bytes = src_bytes});
}

void StreamTeam::alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("alltoall", "dst", dst_bytes, src_bytes);
    const auto n = static_cast<std::size_t>(team_.n_pes());
    check_size("alltoall", "src", src_bytes, src_bytes / n * n);
    enqueue(team_, stream_, "alltoall",
            {.kind = Group::alltoall, .dst = dst, .src = src, .bytes = src_bytes / n});
}

void StreamTeam::gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                              int root) const {
    check_root(team_.n_pes(), root);
    if (team_.my_pe() == root) check_size("gather", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    enqueue(team_, stream_, "gather",
            {.kind = Group::gather, .dst = dst, .src = src, .bytes = src_bytes, .root = root});
}

void StreamTeam::scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                               int root) const {
    check_root(team_.n_pes(), root);
    if (team_.my_pe() == root) check_size("scatter", "src", src_bytes, times(dst_bytes, team_.n_pes()));
    enqueue(team_, stream_, "scatter",
            {.kind = Group::scatter, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
}

void StreamTeam::reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                               DType type, ReduceOp op) const {
    reduce_scaled_erased(dst, dst_count, src, src_count, type, op, 1);
}

void StreamTeam::reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src,
                                       std::size_t src_count, DType type, ReduceOp op) const {
    reduce_scatter_scaled_erased(dst, dst_count, src, src_count, type, op, 1);
}

void StreamTeam::reduce_scaled_erased(void* dst, std::size_t dst_count, const void* src,
                                      std::size_t src_count, DType type, ReduceOp op, double factor) const {
    check_size("reduce", "dst", dst_count, src_count, "elements");
    stream::check_reduction(type, op, factor);
    enqueue(team_, stream_, "reduce",
            {.kind = Group::reduce,
             .dst = dst,
             .src = src,
             .bytes = src_count * size_of(type),
             .type = type,
             .op = op,
             .scale = factor});
}

void StreamTeam::reduce_scatter_scaled_erased(void* dst, std::size_t dst_count, const void* src,
                                              std::size_t src_count, DType type, ReduceOp op,
                                              double factor) const {
    check_size("reduce_scatter", "src", src_count, times(dst_count, team_.n_pes()), "elements");
    stream::check_reduction(type, op, factor);
    enqueue(team_, stream_, "reduce_scatter",
            {.kind = Group::reduce_scatter,
             .dst = dst,
             .src = src,
             .bytes = dst_count * size_of(type),
             .type = type,
             .op = op,
             .scale = factor});
}

void StreamTeam::reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                                  DType type, ReduceOp op, int root) const {
    check_root(team_.n_pes(), root);
    if (team_.my_pe() == root) check_size("reduce_to", "dst", dst_count, src_count, "elements");
    stream::check_reduction(type, op);
    enqueue(team_, stream_, "reduce_to",
            {.kind = Group::reduce_to,
             .dst = dst,
             .src = src,
             .bytes = src_count * size_of(type),
             .root = root,
             .type = type,
             .op = op});
}

void StreamTeam::scan_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                             bool inclusive) const {
    collective::check_scan(op, inclusive);
    stream::check_reduction(type, op);
    enqueue(team_, stream_, "scan",
            {.kind = inclusive ? Group::inscan : Group::exscan,
             .dst = dst,
             .src = src,
             .bytes = count * size_of(type),
             .type = type,
             .op = op});
}

void StreamTeam::collect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                               std::size_t src_bytes) const {
    enqueue(team_, stream_, "collect",
            {.kind = Group::collect, .dst = dst, .src = src, .bytes = src_bytes, .room = dst_bytes});
}

void StreamTeam::alltoalls_bytes(void* dst, const void* src, std::ptrdiff_t dst_stride,
                                 std::ptrdiff_t src_stride, std::size_t count,
                                 std::size_t element_bytes) const {
    if (dst_stride < 1 || src_stride < 1) detail::throw_stride(dst_stride, src_stride);
    enqueue(team_, stream_, "alltoalls",
            {.kind = Group::alltoalls,
             .dst = dst,
             .src = src,
             .bytes = element_bytes,
             .strides = {count, dst_stride, src_stride}});
}

}  // namespace atl
