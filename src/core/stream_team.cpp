// Collectives on streams: arguments checked as the host's are, then one call of the device heap.
#include "atoll/stream.hpp"

#include "collective/arguments.hpp"
#include "collective/kernels.hpp"
#include "common/text.hpp"
#include "core/job_state.hpp"
#include "core/stream_team.hpp"
#include "core/streams.hpp"

namespace atl {

namespace core {

void check_reduction(DType type, ReduceOp op, double scale) {
    const bool half = type == DType::float16 || type == DType::bfloat16;
    const bool real = half || type == DType::float32 || type == DType::float64;
    if ((op == ReduceOp::avg || scale != 1) && !real)
        throw Error(ErrorCode::dtype_mismatch,
                    "Averages and sums of scaled elements take float32, float64, float16 and bfloat16.");
    // Halves take what float does; long double has no arithmetic on GPUs.
    if (op != ReduceOp::avg) collective::kernel_for(half ? DType::float32 : type, op);
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
    const bool in_place = arguments.kind == heap::Group::reduce || arguments.kind == heap::Group::broadcast
                              ? dst == src
                          : arguments.kind == heap::Group::fcollect || arguments.kind == heap::Group::gather
                              ? src == dst + own
                              : arguments.kind == heap::Group::scatter && dst == src + own;
    if (in_place) return;
    throw Error(ErrorCode::invalid_argument,
                std::string(operation) + ": dst (" + common::bytes_text(dst_bytes) + " at " +
                    common::address_text(arguments.dst) + ") and src (" + common::bytes_text(src_bytes) +
                    " at " + common::address_text(arguments.src) +
                    ") overlap; on a GPU only reduce and broadcast work in place, and a PE's own block may "
                    "stand where it goes to.");
}

heap::GroupCall group_call(TeamState& team, const DeviceMemory& device, const GroupArguments& arguments) {
    team.check_alive();
    const DeviceMemory::GroupPlace place = device.group_place(team);
    return {stream_team(team), place.address,   place.words_bytes, arguments.dst,   arguments.src,
            arguments.bytes,   arguments.bytes, arguments.bytes,   arguments.scale, arguments.root,
            arguments.kind,    arguments.type,  arguments.op};
}

}  // namespace core

namespace {

/// On a stream the host meets nobody, so each member finds the others' arrays by its own; the root's source
/// of broadcast and scatter is told within the kernel.
void start(const Team& team, Stream stream, const char* operation, const core::GroupArguments& arguments) {
    core::TeamState& state = team.state();
    const core::JobState& job = state.job();
    const core::DeviceMemory& device = core::device_for_streams(job, stream.handle);
    const heap::GroupCall call = core::group_call(state, device, arguments);
    const int me = state.my_pe(), n = state.n_pes();
    if (arguments.writes(me)) core::check_on_device(job, device, arguments.dst, arguments.dst_bytes(n));
    if (arguments.reads(me)) core::check_on_device(job, device, arguments.src, arguments.src_bytes(n));
    if (job.window().check) core::check_overlap(operation, arguments, me, n);
    if (arguments.bytes != 0 || arguments.kind == heap::Group::sync) device.start(call, stream.handle);
}

void check_root(const Team& team, int root) {
    if (static_cast<unsigned>(root) >= static_cast<unsigned>(team.n_pes()))
        detail::throw_pe(root, team.n_pes());
}

}  // namespace

using collective::check_size;
using collective::times;
using heap::Group;

StreamTeam::StreamTeam(const Team& team, Stream stream) : team_(team), stream_(stream) {
    core::stream_team(team.state(), stream);
}

void StreamTeam::sync() const { start(team_, stream_, "sync", {.kind = Group::sync}); }

void StreamTeam::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                                 int root) const {
    check_root(team_, root);
    if (team_.my_pe() == root) check_size("broadcast", "src", src_bytes, dst_bytes);
    start(team_, stream_, "broadcast",
          {.kind = Group::broadcast, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
}

void StreamTeam::fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("fcollect", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    start(team_, stream_, "fcollect", {.kind = Group::fcollect, .dst = dst, .src = src, .bytes = src_bytes});
}

void StreamTeam::alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("alltoall", "dst", dst_bytes, src_bytes);
    const auto n = static_cast<std::size_t>(team_.n_pes());
    check_size("alltoall", "src", src_bytes, src_bytes / n * n);
    start(team_, stream_, "alltoall",
          {.kind = Group::alltoall, .dst = dst, .src = src, .bytes = src_bytes / n});
}

void StreamTeam::gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                              int root) const {
    check_root(team_, root);
    if (team_.my_pe() == root) check_size("gather", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    start(team_, stream_, "gather",
          {.kind = Group::gather, .dst = dst, .src = src, .bytes = src_bytes, .root = root});
}

void StreamTeam::scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                               int root) const {
    check_root(team_, root);
    if (team_.my_pe() == root) check_size("scatter", "src", src_bytes, times(dst_bytes, team_.n_pes()));
    start(team_, stream_, "scatter",
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
    core::check_reduction(type, op, factor);
    start(team_, stream_, "reduce",
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
    core::check_reduction(type, op, factor);
    start(team_, stream_, "reduce_scatter",
          {.kind = Group::reduce_scatter,
           .dst = dst,
           .src = src,
           .bytes = dst_count * size_of(type),
           .type = type,
           .op = op,
           .scale = factor});
}

}  // namespace atl
