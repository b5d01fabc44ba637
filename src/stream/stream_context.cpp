// Stream-ordered operations: checks arguments and computes addresses, then calls the device heap.
#include "atoll/stream.hpp"

#include "atoll/device/control.hpp"

#include "common/text.hpp"
#include "core/context/route.hpp"
#include "core/job/job_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/stream_checks.hpp"
#include "stream/stream_servers.hpp"
#include "transport/apply_atomic.hpp"

#include <algorithm>

namespace atl {

namespace stream {

device::Team stream_team(core::TeamState& team) {
    if (!team.job().devices().memory()) device_for_streams(team.job(), nullptr);  // throws
    return kernel_team(team, Memory::device);
}

device::Team stream_team(core::TeamState& team, Stream stream, bool far_too) {
    const gpu::DeviceMemory* device = team.job().devices().memory();
    if (device && !team.kernels.ready(Memory::device) && device->streams().is_capturing(stream.handle))
        throw Error(
            ErrorCode::invalid_argument,
            "A team's first use on a GPU cannot be captured in a CUDA graph: it writes to the GPU. Make "
            "the StreamContext or StreamTeam before the capture begins.");
    if (!far_too || !device) return stream_team(team);
    const auto needs_server = [&](int pe) {
        return core::path_to(team.job(), Memory::device, pe) == core::Path::staged;
    };
    if (std::any_of(team.members().begin(), team.members().end(), needs_server))
        StreamServers::of(team.job()).stream_server();  // before any capture
    return kernel_team(team, Memory::device, true);
}

const gpu::DeviceMemory& device_for_streams(const core::JobState& job, const void* stream) {
    const gpu::DeviceMemory* device = job.devices().memory();
    if (!device)
        throw Error(
            ErrorCode::not_initialized,
            "Operations on streams are for the device heap, which is not there yet; allocate memory on "
            "the GPU first (Memory::device).");
    if (job.window().check) device->streams().check(const_cast<void*>(stream));
    return *device;
}

void check_on_device(const core::JobState& job, const gpu::DeviceMemory& device, const void* symmetric,
                     std::size_t bytes) {
    if (!job.window().check || bytes == 0) return;
    if (!device.holds(symmetric))
        throw Error(
            ErrorCode::not_symmetric,
            common::bytes_text(bytes) + " at " + common::address_text(symmetric) +
                (device.in_window(symmetric)
                     ? " are in another PE's slot. Pass the address in this PE's own device heap and the "
                       "number of the PE that is meant."
                     : " are not in the device heap, where operations on streams need symmetric addresses "
                       "(allocate with Memory::device; in Python device=\"cuda\")."));
    device.check(symmetric, bytes);
}

}  // namespace stream

namespace {

/// The checks with which all calls begin.
class Checked {
  public:
    Checked(core::ContextState& context, Stream stream)
        : context_(context), job_(context.job()), device_(stream::device_for_streams(job_, stream.handle)) {}
    /// The route to the same object on `pe`.
    core::Route to(const void* symmetric, std::size_t bytes, int pe) const {
        check_pe(pe);
        stream::check_on_device(job_, device_, symmetric, bytes);
        return core::route_on_device(context_, device_, symmetric, pe);
    }
    core::Route to_word(const void* symmetric, std::size_t bytes, int pe) const {
        const core::Route word = to(symmetric, bytes, pe);
        if (job_.window().check && reinterpret_cast<std::uintptr_t>(symmetric) % bytes != 0)
            detail::throw_misaligned(symmetric, bytes);
        return word;
    }
    void check_pe(int pe) const {
        if (!job_.window().check) return;
        const int n = context_.team().n_pes();
        if (static_cast<unsigned>(pe) >= static_cast<unsigned>(n)) detail::throw_pe(pe, n);
    }
    const gpu::DeviceMemory& device() const { return device_; }
    /// This PE's own word to wait for: in the device heap, or pinned in the host heap.
    void* own_word(void* word, std::size_t bytes, bool consume) const {
        void* here = stream::own_words(context_, device_, word, bytes, bytes);
        if (consume && device_.local().pinned().has(word))
            throw Error(ErrorCode::unsupported,
                        "signal_consume subtracts on the GPU, and this word is in the host heap, where only "
                        "CPUs update words. Wait for it, or keep it in the device heap.");
        return here;
    }
    /// Starts a request to a PE that only a transport reaches. Returns false if the window reaches it.
    bool by_host(const device::Team& team, Stream stream, const core::Route& route,
                 gpu::FarRequest request) const {
        if (route.path != core::Path::staged) return false;
        request.pe = route.pe;
        stream::StreamServers::of(context_.job()).stream_server().start(team, request, stream.handle);
        return true;
    }

  private:
    core::ContextState& context_;
    const core::JobState& job_;
    const gpu::DeviceMemory& device_;
};

}  // namespace

StreamContext::StreamContext(const Context& context, Stream stream) {
    stream_ = stream;
    if (!context)
        throw Error(ErrorCode::use_after_free,
                    "This context is empty; make one with create_context, or take a team's.");
    state_ = &context.state();
    team_ = stream::stream_team(state_->team(), stream, true);
}

void StreamContext::put_bytes(void* dst, const void* src, std::size_t bytes, int pe) const {
    const Checked call(*state_, stream_);
    const core::Route route = call.to(dst, bytes, pe);
    call.device().local().check_pinned(src, bytes);
    if (bytes == 0 ||
        call.by_host(
            team_, stream_, route,
            {.there = dst, .here = const_cast<void*>(src), .bytes = bytes, .kind = gpu::FarKind::put}))
        return;
    call.device().streams().start(gpu::CopyCall{route.there, src, bytes, nullptr, 0, SignalOp::set},
                                  stream_.handle);
}

void StreamContext::get_bytes(void* dst, const void* src, std::size_t bytes, int pe) const {
    const Checked call(*state_, stream_);
    const core::Route route = call.to(src, bytes, pe);
    call.device().local().check_pinned(dst, bytes);
    if (bytes == 0 ||
        call.by_host(
            team_, stream_, route,
            {.there = const_cast<void*>(src), .here = dst, .bytes = bytes, .kind = gpu::FarKind::get}))
        return;
    call.device().streams().start(gpu::CopyCall{dst, route.there, bytes, nullptr, 0, SignalOp::set},
                                  stream_.handle);
}

void StreamContext::put_signal_bytes(void* dst, const void* src, std::size_t bytes, std::uint64_t* signal,
                                     std::uint64_t value, SignalOp op, int pe) const {
    const Checked call(*state_, stream_);
    const core::Route word = call.to_word(signal, sizeof *signal, pe);
    void* there = bytes == 0 ? word.there : call.to(dst, bytes, pe).there;
    call.device().local().check_pinned(bytes == 0 ? there : src, bytes);
    if (call.by_host(team_, stream_, word,
                     {.there = bytes == 0 ? signal : dst,
                      .here = const_cast<void*>(bytes == 0 ? nullptr : src),
                      .bytes = bytes,
                      .signal = signal,
                      .value = value,
                      .kind = gpu::FarKind::put,
                      .signal_op = op}))
        return;
    call.device().streams().start(gpu::CopyCall{there, bytes == 0 ? there : src, bytes,
                                                static_cast<std::uint64_t*>(word.there), value, op},
                                  stream_.handle);
}

void StreamContext::strided(const detail::StridedBlocks& copy, int pe, bool is_put) const {
    const bool any = copy.block != 0 && copy.count != 0;
    if (any && (is_put ? copy.src_stride : copy.dst_stride) < 1)
        detail::throw_stride(copy.dst_stride, copy.src_stride);
    strided_any(copy, pe, is_put);
}

void StreamContext::strided_any(const detail::StridedBlocks& copy, int pe, bool is_put) const {
    const Checked call(*state_, stream_);
    call.check_pe(pe);
    if (copy.block == 0 || copy.count == 0) return;
    const std::ptrdiff_t stride = is_put ? copy.dst_stride : copy.src_stride;
    if (stride < 1) detail::throw_stride(copy.dst_stride, copy.src_stride);
    const auto size = static_cast<std::int64_t>(copy.element_bytes);
    gpu::StridedCall strided{
        copy.dst,  copy.src, copy.dst_stride * size, copy.src_stride * size, copy.block * copy.element_bytes,
        copy.count};
    const std::size_t reach = detail::extent_bytes(stride, copy.block, copy.count, copy.element_bytes);
    void* symmetric = is_put ? copy.dst : const_cast<void*>(copy.src);
    const core::Route route = call.to(symmetric, reach, pe);
    if (is_put)
        strided.dst = route.there;
    else
        strided.src = route.there;
    void* local = is_put ? const_cast<void*>(copy.src) : copy.dst;
    const gpu::LocalRange range = gpu::local_range(strided, is_put);
    call.device().local().check_pinned(range.low, range.bytes);
    if (call.by_host(team_, stream_, route,
                     {.there = symmetric,
                      .here = local,
                      .bytes = strided.block_bytes,
                      .there_stride = is_put ? strided.dst_stride : strided.src_stride,
                      .here_stride = is_put ? strided.src_stride : strided.dst_stride,
                      .count = copy.count,
                      .kind = is_put ? gpu::FarKind::strided_put : gpu::FarKind::strided_get}))
        return;
    call.device().streams().start(strided, stream_.handle);
}

void StreamContext::store(void* dst, std::uint64_t bits, std::size_t bytes, int pe) const {
    const Checked call(*state_, stream_);
    const DType type = bytes == 8   ? DType::uint64
                       : bytes == 4 ? DType::uint32
                       : bytes == 2 ? DType::uint16
                                    : DType::uint8;
    const core::Route word = call.to_word(dst, bytes, pe);
    if (call.by_host(team_, stream_, word,
                     {.there = dst, .bytes = bytes, .value = bits, .kind = gpu::FarKind::put}))
        return;
    call.device().streams().start(gpu::WordCall{word.there, nullptr, bits, 0, AtomicOp::set, type},
                                  stream_.handle);
}

void StreamContext::atomic(AtomicOp op, DType type, void* fetch, void* dst, std::uint64_t value,
                           std::uint64_t compare, int pe) const {
    transport::check_atomic(op, type);
    const Checked call(*state_, stream_);
    const core::Route word = call.to_word(dst, size_of(type), pe);
    if (transport::is_fetching(op) && !fetch)
        throw Error(ErrorCode::invalid_argument,
                    "fetch is null: a fetching atomic on a stream needs an address for the fetched value.");
    if (fetch) call.device().local().check_pinned(fetch, size_of(type));
    if (call.by_host(team_, stream_, word,
                     {.there = dst,
                      .here = fetch,
                      .value = value,
                      .compare = compare,
                      .kind = gpu::FarKind::atomic,
                      .op = op,
                      .type = type}))
        return;
    call.device().streams().start(gpu::WordCall{word.there, fetch, value, compare, op, type}, stream_.handle);
}

void StreamContext::wait(void* word, DType type, Compare cmp, std::uint64_t value) const {
    wait(device::Operation::wait_until, word, type, cmp, value);
}

void StreamContext::signal_wait_until(const std::uint64_t* signal, Compare cmp, std::uint64_t value) const {
    wait(device::Operation::signal_wait_until, const_cast<std::uint64_t*>(signal), DType::uint64, cmp, value);
}

void StreamContext::signal_consume(std::uint64_t* signal, std::uint64_t n) const {
    wait(device::Operation::signal_consume, signal, DType::uint64, Compare::ge, n);
}

void StreamContext::wait(device::Operation as, void* word, DType type, Compare cmp,
                         std::uint64_t value) const {
    const device::Values reported = stream::reported_values(type);
    const Checked call(*state_, stream_);
    void* here = call.own_word(word, size_of(type), as == device::Operation::signal_consume);
    call.device().streams().start(gpu::WaitCall{team_, here, value, cmp, type, as, reported}, stream_.handle);
}

void StreamContext::synchronize() const {
    stream::device_for_streams(state_->job(), stream_.handle).streams().finish(stream_.handle);
}

}  // namespace atl
