// Collectives on streams: arguments checked as the host's are, then one call of the device heap.
#include "atoll/stream.hpp"

#include "collective/arguments.hpp"
#include "collective/kernels.hpp"
#include "core/job_state.hpp"
#include "core/stream_team.hpp"
#include "core/streams.hpp"

namespace atl {

namespace core {

void check_reduction(DType type, ReduceOp op) {
    const bool half = type == DType::float16 || type == DType::bfloat16;
    // Halves take what float does; long double has no arithmetic on GPUs.
    collective::kernel_for(half ? DType::float32 : type, op);
    if (type == DType::long_double)
        throw Error(ErrorCode::dtype_mismatch,
                    "GPUs have no arithmetic for long double; reduce float64, or arrays in the host heap.");
}

heap::GroupCall group_call(TeamState& team, const DeviceMemory& device, const GroupArguments& arguments) {
    team.check_alive();
    const auto n = static_cast<std::size_t>(team.n_pes());
    check_on_device(team.job(), device, arguments.dst, arguments.bytes * (arguments.dst_blocks ? n : 1));
    check_on_device(team.job(), device, arguments.src, arguments.bytes * (arguments.src_blocks ? n : 1));
    const DeviceMemory::GroupPlace place = device.group_place(team);
    return {stream_team(team), place.address,  place.words_bytes, arguments.dst,  arguments.src,
            arguments.bytes,   arguments.root, arguments.kind,    arguments.type, arguments.op};
}

}  // namespace core

namespace {

void start(const Team& team, Stream stream, const core::GroupArguments& arguments) {
    const core::DeviceMemory& device = core::device_for_streams(team.state().job(), stream.handle);
    const heap::GroupCall call = core::group_call(team.state(), device, arguments);
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
    core::stream_team(team.state());
}

void StreamTeam::sync() const { start(team_, stream_, {.kind = Group::sync}); }

void StreamTeam::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                                 int root) const {
    check_root(team_, root);
    check_size("broadcast", "src", src_bytes, dst_bytes);
    start(team_, stream_,
          {.kind = Group::broadcast, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
}

void StreamTeam::fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("fcollect", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    start(team_, stream_,
          {.kind = Group::fcollect, .dst = dst, .src = src, .bytes = src_bytes, .dst_blocks = true});
}

void StreamTeam::alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src,
                                std::size_t src_bytes) const {
    check_size("alltoall", "dst", dst_bytes, src_bytes);
    const auto n = static_cast<std::size_t>(team_.n_pes());
    check_size("alltoall", "src", src_bytes, src_bytes / n * n);
    start(team_, stream_,
          {.kind = Group::alltoall,
           .dst = dst,
           .src = src,
           .bytes = src_bytes / n,
           .dst_blocks = true,
           .src_blocks = true});
}

void StreamTeam::gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                              int root) const {
    check_root(team_, root);
    check_size("gather", "dst", dst_bytes, times(src_bytes, team_.n_pes()));
    start(team_, stream_,
          {.kind = Group::gather,
           .dst = dst,
           .src = src,
           .bytes = src_bytes,
           .root = root,
           .dst_blocks = true});
}

void StreamTeam::scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                               int root) const {
    check_root(team_, root);
    check_size("scatter", "src", src_bytes, times(dst_bytes, team_.n_pes()));
    start(team_, stream_,
          {.kind = Group::scatter,
           .dst = dst,
           .src = src,
           .bytes = dst_bytes,
           .root = root,
           .src_blocks = true});
}

void StreamTeam::reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                               DType type, ReduceOp op) const {
    check_size("reduce", "dst", dst_count, src_count, "elements");
    core::check_reduction(type, op);
    start(team_, stream_,
          {.kind = Group::reduce,
           .dst = dst,
           .src = src,
           .bytes = src_count * size_of(type),
           .type = type,
           .op = op});
}

void StreamTeam::reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src,
                                       std::size_t src_count, DType type, ReduceOp op) const {
    check_size("reduce_scatter", "src", src_count, times(dst_count, team_.n_pes()), "elements");
    core::check_reduction(type, op);
    start(team_, stream_,
          {.kind = Group::reduce_scatter,
           .dst = dst,
           .src = src,
           .bytes = dst_count * size_of(type),
           .src_blocks = true,
           .type = type,
           .op = op});
}

}  // namespace atl
