// Contexts, and the operations that do not use the window.
#include "atoll/context.hpp"

#include "common/text.hpp"
#include "core/context_state.hpp"
#include "core/device_memory.hpp"
#include "core/job_state.hpp"
#include "transport/apply_atomic.hpp"

#include <cstring>

namespace atl {

namespace core {

ContextState::ContextState(JobState& job, TeamState& team, const ContextOptions& options,
                           std::shared_ptr<TeamState> held)
    : job_(job), team_(team), held_(std::move(held)), options_(options), transport_(job.shared_transport()) {
    if (transport_ && (held_ || team.number() != 0)) id_ = transport_->create_context();
}

ContextState::~ContextState() {
    if (id_ != 0) transport_->destroy_context(id_);
}

}  // namespace core

Context::Context(std::shared_ptr<core::ContextState> state) {
    job_ = &state->job();
    has_devices_ = &job_->has_devices();
    window_ = job_->window();
    map_ = state->team().map();
    // With a polling transport, words change only through its progress: do not spin.
    const auto* transport = job_->transport();
    spins_ = transport && transport->polls() ? 0 : job_->spins();
    state_ = std::move(state);
}

void* Context::pointer(void* symmetric, int slot, int pe) const noexcept {
    if (const core::DeviceMemory* device = job_->device(); device && device->holds(symmetric))
        return device->at(symmetric, state_->team().world_pe(pe));
    // A constant of the executable has no place in another slot: a load there would not read that PE's.
    if (slot < 0 || (slot != window_.my_slot && !window_.shares(symmetric, 1))) return nullptr;
    return window_.at(static_cast<char*>(symmetric), slot);
}

namespace detail {

namespace {

std::uint64_t offset_of(const core::ContextState& ctx, const void* symmetric) {
    return ctx.job().window().offset_of(symmetric);
}

/// The device heap if it contains the address, else null.
const core::DeviceMemory* device_of(const core::ContextState& ctx, const void* symmetric) {
    const core::DeviceMemory* device = ctx.job().device();
    return device && device->holds(symmetric) ? device : nullptr;
}

/// The transport's offset of symmetric memory of either heap.
std::uint64_t place_of(const core::ContextState& ctx, const void* symmetric) {
    const core::DeviceMemory* device = device_of(ctx, symmetric);
    return device ? device->far_offset(symmetric) : offset_of(ctx, symmetric);
}

core::DeviceMemory::Far far(const core::ContextState& ctx, int world_pe) {
    return {*ctx.job().transport(), ctx.id(), world_pe};
}

/// Copies to host memory from memory that may be a GPU's.
void copy_from_any(const core::DeviceMemory* device, void* dst, const void* src, std::size_t bytes) {
    if (device && device->is_on_gpu(src))
        device->copy_to_host(dst, src, bytes);
    else
        copy(dst, src, bytes);
}
void copy_to_any(const core::DeviceMemory* device, void* dst, const void* src, std::size_t bytes) {
    if (device && device->is_on_gpu(dst))
        device->copy_from_host(dst, src, bytes);
    else
        copy(dst, src, bytes);
}

/// True for local memory that needs no check: outside the heap, and not a GPU's.
bool is_ordinary(const ContextBase& context, const void* local) {
    return local != nullptr && !context.window().heap_has(local) && !context.has_devices();
}

transport::Completion completion(bool blocking) {
    return blocking ? transport::Completion::local : transport::Completion::at_quiet;
}

}  // namespace

bool ContextBase::in_device_heap(const core::JobState& job, const void* address) noexcept {
    const core::DeviceMemory* device = job.device();
    return device && device->holds(address);
}

std::uint64_t load_device_word(core::ContextState& ctx, const void* word, std::size_t bytes) {
    std::uint64_t value = 0;
    load_device_words(ctx, &value, word, bytes);
    return value;
}

void check_device_words(core::ContextState& ctx, const void* words, std::size_t bytes) {
    if (ctx.job().window().check && bytes != 0) ctx.job().device()->check(words, bytes);
}

void load_device_words(core::ContextState& ctx, void* dst, const void* words, std::size_t bytes) {
    check_device_words(ctx, words, bytes);
    if (bytes != 0) ctx.job().device()->get(dst, words, bytes, ctx.job().pe());
}

int ContextBase::route_elsewhere(const void* symmetric, std::size_t bytes, int pe) const {
    if (job_->is_in_listed_block(symmetric, bytes)) [[likely]]  // ATOLL_CHECK=args
        return map_.slot(pe);
    if (const core::DeviceMemory* device = job_->device(); device && device->holds(symmetric)) {
        if (window_.check) device->check(symmetric, bytes);
        return -1;
    }
    check_range(symmetric, bytes);
    return map_.slot(pe);
}

void ContextBase::check_range(const void* symmetric, std::size_t bytes) const {
    if (!window_.check) return;
    if (!window_.holds(symmetric, bytes)) throw_not_symmetric(*job_, symmetric, bytes);
    if (window_.check_args && bytes != 0 && window_.heap_has(symmetric))
        job_->check_symmetric(symmetric, bytes);
}

void ContextBase::check_local_block(const void* local, std::size_t bytes) const {
    if (local == nullptr) throw_null(bytes);
    if (window_.heap_has(local)) job_->check_symmetric(local, bytes);
}

void RmaOps::put_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, bool blocking) const {
    if (job_->is_in_listed_block(dst, bytes) && is_ordinary(*this, src)) [[likely]] {
        if (const int slot = map_.slot(pe); slot >= 0) return copy(window_.heap_at(dst, slot), src, bytes);
    }
    const int slot = route_any(dst, bytes, pe);
    check_local_memory(src, bytes);
    if (slot >= 0)
        copy_from_any(job_->device(), window_.at(dst, slot), src, bytes);
    else
        put_routed(*state_, dst, src, bytes, pe, blocking);
}

void RmaOps::get_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, bool blocking) const {
    if (job_->is_in_listed_block(src, bytes) && is_ordinary(*this, dst)) [[likely]] {
        if (const int slot = map_.slot(pe); slot >= 0) return copy(dst, window_.heap_at(src, slot), bytes);
    }
    const int slot = route_any(src, bytes, pe);
    check_local_memory(dst, bytes);
    if (slot >= 0)
        copy_to_any(job_->device(), dst, window_.at(src, slot), bytes);
    else
        get_routed(*state_, dst, src, bytes, pe, blocking);
}

void RmaOps::strided_any(const StridedBlocks& b, int pe, bool is_put) const {
    if (b.block == 0 || b.count == 0) return check_pe(pe);
    const std::ptrdiff_t stride = is_put ? b.dst_stride : b.src_stride;
    if (stride < 1) throw_stride(b.dst_stride, b.src_stride);
    route_any(is_put ? b.dst : b.src, extent_bytes(stride, b.block, b.count, b.element_bytes), pe);
    blocks_routed(*state_, b, pe, is_put);
}

void put_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes, int pe,
                bool blocking) {
    if (const core::DeviceMemory* device = device_of(ctx, dst)) {
        const int to = ctx.team().world_pe(pe);
        if (device->is_far(to)) return device->put_far(far(ctx, to), device->far_offset(dst), src, bytes);
        return device->put(dst, src, bytes, to);
    }
    if (const core::DeviceMemory* device = ctx.job().device(); device && device->is_on_gpu(src))
        return device->put_far(far(ctx, ctx.team().world_pe(pe)), offset_of(ctx, dst), src, bytes);
    ctx.job().transport()->put(ctx.id(), ctx.team().world_pe(pe), offset_of(ctx, dst), src, bytes,
                               completion(blocking));
}

void get_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes, int pe,
                bool blocking) {
    if (const core::DeviceMemory* device = device_of(ctx, src)) {
        const int from = ctx.team().world_pe(pe);
        if (device->is_far(from)) return device->get_far(far(ctx, from), dst, device->far_offset(src), bytes);
        return device->get(dst, src, bytes, from);
    }
    const core::DeviceMemory* device = ctx.job().device();
    if (!ctx.job().window().shares(src, bytes))  // a constant of the executable
        return copy_to_any(device, dst, src, bytes);
    if (device && device->is_on_gpu(dst))
        return device->get_far(far(ctx, ctx.team().world_pe(pe)), dst, offset_of(ctx, src), bytes);
    ctx.job().transport()->get(ctx.id(), ctx.team().world_pe(pe), offset_of(ctx, src), dst, bytes,
                               completion(blocking));
}

void blocks_routed(core::ContextState& ctx, const StridedBlocks& b, int pe, bool is_put) {
    const auto dst_stride = b.dst_stride * static_cast<std::ptrdiff_t>(b.element_bytes),
               src_stride = b.src_stride * static_cast<std::ptrdiff_t>(b.element_bytes);
    const std::size_t bytes = b.block * b.element_bytes;
    const heap::StridedCall copy{b.dst, b.src, dst_stride, src_stride, bytes, b.count};
    const int other = ctx.team().world_pe(pe);
    if (const core::DeviceMemory* device = device_of(ctx, is_put ? b.dst : b.src)) {
        if (device->is_far(other))
            return device->strided_far(far(ctx, other), copy, device->far_offset(is_put ? b.dst : b.src),
                                       is_put);
        return device->strided(copy, other, is_put);
    }
    const core::DeviceMemory* device = ctx.job().device();
    const bool on_gpu = device && device->is_on_gpu(is_put ? b.src : b.dst);
    const int slot = ctx.team().map().slot(pe);
    // Reads of the executable's constants take this path too: they are equal on all PEs.
    if (slot >= 0 || (!is_put && !ctx.job().window().shares(b.src, 1))) {
        heap::StridedCall here = copy;
        if (is_put) here.dst = ctx.job().window().at(b.dst, slot);
        if (!is_put && slot >= 0) here.src = ctx.job().window().at(b.src, slot);
        return on_gpu ? device->strided_with_host(here, is_put) : core::copy_on_host(here);
    }
    if (on_gpu)
        return device->strided_far(far(ctx, other), copy, offset_of(ctx, is_put ? b.dst : b.src), is_put);
    if (dst_stride < 1 || src_stride < 1) throw_stride(b.dst_stride, b.src_stride);
    auto& transport = *ctx.job().transport();
    const auto d = static_cast<std::size_t>(dst_stride), s = static_cast<std::size_t>(src_stride);
    if (is_put)
        transport.put_blocks(ctx.id(), other, offset_of(ctx, b.dst), b.src, {bytes, b.count, d, s});
    else
        transport.get_blocks(ctx.id(), other, offset_of(ctx, b.src), b.dst, {bytes, b.count, s, d});
}

std::uint64_t atomic_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                            std::uint64_t compare, int pe) {
    if (const core::DeviceMemory* device = device_of(ctx, dst)) {
        const int on = ctx.team().world_pe(pe);
        if (device->is_far(on)) return device->atomic_far(far(ctx, on), op, type, dst, value, compare);
        return device->atomic(op, type, dst, value, compare, on);
    }
    return ctx.job().transport()->atomic(ctx.id(), ctx.team().world_pe(pe), offset_of(ctx, dst), op, type,
                                         value, compare);
}

void order_routed(core::ContextState& ctx, int pe, bool quiet) {
    const int world_pe = pe < 0 ? -1 : ctx.team().world_pe(pe);
    if (quiet) {
        ctx.job().transport()->quiet(ctx.id(), world_pe);
        if (const core::DeviceMemory* device = ctx.job().device()) device->quiet_kernels();
    } else {
        ctx.job().transport()->fence(ctx.id(), world_pe);
    }
}

void fetch_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                  std::uint64_t compare, int pe, void* result) {
    ctx.job().transport()->fetch_atomic(ctx.id(), ctx.team().world_pe(pe), offset_of(ctx, dst), op, type,
                                        value, compare, result);
}

void put_signal_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes,
                       std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe) {
    const core::DeviceMemory* data = bytes == 0 ? nullptr : device_of(ctx, dst);
    const core::DeviceMemory* word = device_of(ctx, signal);
    const int to = ctx.team().world_pe(pe);
    if (const core::DeviceMemory* device = data ? data : word; device && device->is_far(to)) {
        const transport::Signal announced{place_of(ctx, signal), value, op};
        return device->put_far(far(ctx, to), place_of(ctx, bytes == 0 ? signal : dst), src, bytes,
                               &announced);
    }
    const int slot = ctx.team().map().slot(pe);
    if (!data && slot >= 0 && bytes != 0) {
        const Window& window = ctx.job().window();
        void* there = window.at(static_cast<char*>(dst), slot);
        if (const core::DeviceMemory* device = ctx.job().device(); device && device->is_on_gpu(src))
            device->copy_to_host(there, src, bytes);
        else
            copy_for_reader(there, src, bytes, window.nontemporal_bytes);
    } else if (!data && !word) {
        const transport::Signal announced{offset_of(ctx, signal), value, op};
        if (const core::DeviceMemory* device = ctx.job().device(); device && device->is_on_gpu(src))
            return device->put_far(far(ctx, to), offset_of(ctx, dst), src, bytes, &announced);
        return ctx.job().transport()->put_signal(ctx.id(), to, bytes == 0 ? 0 : offset_of(ctx, dst), src,
                                                 bytes, announced, transport::Completion::local);
    } else if (bytes != 0) {
        put_routed(ctx, dst, src, bytes, pe, true);
        if (ctx.job().transport()) order_routed(ctx, pe, false);
    }
    const AtomicOp change = op == SignalOp::set ? AtomicOp::set : AtomicOp::add;
    if (!word && slot >= 0)
        transport::apply_atomic(change, DType::uint64, ctx.job().window().at(signal, slot), value, 0);
    else
        atomic_routed(ctx, change, DType::uint64, signal, value, 0, pe);
}

void progress_routed(core::JobState& job) { job.transport()->progress(); }

std::uint64_t AtomicOps::atomic_erased(AtomicOp op, DType type, void* dst, std::uint64_t value,
                                       std::uint64_t compare, int pe) const {
    transport::check_atomic(op, type);
    const std::size_t bytes = size_of(type);
    const int slot = route_any(dst, bytes, pe);
    if (window_.check && !aligned_to(dst, bytes)) throw_misaligned(dst, bytes);
    if (slot < 0) return atomic_routed(*state_, op, type, dst, value, compare, pe);
    return transport::apply_atomic(op, type, window_.at(static_cast<char*>(dst), slot), value, compare);
}

std::size_t WaitOps::next_start(std::size_t n) noexcept {
    // Steps of the golden section visit all starts soon and evenly. A plain counter would not, if another
    // wait of this thread takes every second or third step.
    static thread_local std::uint64_t turn = 0;
    turn += 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>((static_cast<unsigned __int128>(turn) * n) >> 64);
}

}  // namespace detail
}  // namespace atl
