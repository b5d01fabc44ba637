// Contexts, and the operations that do not use the window.
#include "atoll/context.hpp"

#include "atoll/detail/measured.hpp"

#include "common/recorder/operation_names.hpp"
#include "common/text.hpp"
#include "core/context/route.hpp"
#include "core/context/update_notes.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/poll_watch.hpp"
#include "core/team/context_state.hpp"
#include "transport/apply_atomic.hpp"

#include <cstring>

namespace atl {

Context::Context(std::shared_ptr<core::ContextState> state) {
    job_ = &state->job();
    has_devices_ = &job_->devices().is_open();
    window_ = job_->window();
    if (state->notes_moves()) window_.fast_bytes = 0;
    map_ = state->team().map();
    // With a polling transport, words change only through its progress: do not spin.
    const auto& transport = job_->transport();
    spins_ = transport && transport->polls() ? 0 : job_->pace().spins;
    state_ = std::move(state);
}

void* Context::pointer(void* symmetric, detail::Slot slot, int pe) const noexcept {
    if (const gpu::DeviceMemory* device = job_->devices().memory(); device && device->holds(symmetric))
        return device->at(symmetric, state_->team().world_pe(pe));
    // A constant of the executable has no place in another slot: a load there would not read that PE's.
    if (slot.number() != window_.my_slot && !window_.shares(symmetric, 1)) return nullptr;
    return window_.near_at(static_cast<char*>(symmetric), slot);
}

namespace detail {

namespace {

using core::Access;
using core::Path;
using core::Route;

gpu::Far far(const core::ContextState& ctx, const Route& route) {
    return {*ctx.job().transport(), ctx.id(), route.pe};
}

/// Copies from local memory, which may be a GPU's, to an address of the window.
void store_by(const Route& route, const void* src, std::size_t bytes) {
    if (route.local_on_gpu)
        route.device->copies().copy_to_host(route.there, src, bytes);
    else
        copy(route.there, src, bytes);
}
/// Copies from an address of the window to local memory, which may be a GPU's.
void load_by(const Route& route, void* dst, std::size_t bytes) {
    if (route.local_on_gpu)
        route.device->copies().copy_from_host(dst, route.there, bytes);
    else
        copy(dst, route.there, bytes);
}

/// True for local memory that needs no check: outside the heap, and not a GPU's.
bool is_ordinary(const ContextBase& context, const void* local) {
    return local != nullptr && !context.window().heap_has(local) && !context.has_devices();
}

transport::Completion completion(bool blocking) {
    return blocking ? transport::Completion::local : transport::Completion::at_quiet;
}

/// Measures an operation on team PE `pe`, which moves `bytes`.
Measured measure(const core::ContextState& ctx, const char* operation, std::size_t bytes, int pe) {
    const bool is_on = ctx.job().window().counts;
    return {ctx.job(), is_on, Measured::Kind::move, operation, bytes, is_on ? ctx.team().world_pe(pe) : -1};
}

void put_by(core::ContextState& ctx, const Route& route, void* dst, const void* src, std::size_t bytes,
            bool blocking) {
    switch (route.path) {
        case Path::window:
            return store_by(route, src, bytes);
        case Path::gpu:
            return route.device->copies().put(dst, src, bytes, route.pe);
        case Path::staged:
            return route.device->far().put(far(ctx, route), route.offset, src, bytes);
        case Path::transport:
            return ctx.job().transport()->put(ctx.id(), route.pe, route.offset, src, bytes,
                                              completion(blocking));
    }
}

std::uint64_t atomic_by(core::ContextState& ctx, const Route& route, AtomicOp op, DType type, void* dst,
                        std::uint64_t value, std::uint64_t compare) {
    switch (route.path) {
        case Path::window:
            return transport::apply_atomic(op, type, route.there, value, compare);
        case Path::gpu:
            return route.device->copies().atomic(op, type, dst, value, compare, route.pe);
        case Path::staged:
        case Path::transport:
            break;
    }
    return ctx.job().transport()->atomic(ctx.id(), route.pe, route.offset, op, type, value, compare);
}

/// An atomic operation that may change nothing: it is a poll if the word stays the same.
void note_poll_of(const ContextBase& context, AtomicOp op, const void* word, std::size_t bytes, int pe) {
    context.state().note_again();  // a loop would soon use up what is noted
    const char* const loop = core::loop_of(op);
    const void* const there = context.window().near_at(word, context.map().slot(pe));
    if (loop == nullptr || there == nullptr) return;
    std::uint64_t found = 0;
    if (bytes == sizeof(std::uint64_t))
        found = atomic_load(static_cast<const std::uint64_t*>(there));
    else
        found = atomic_load(static_cast<const std::uint32_t*>(there));
    core::note_poll(context.job(), loop, word, bytes, context.world_pe(pe), found);
}

}  // namespace

bool ContextBase::in_device_heap(const core::JobState& job, const void* address) noexcept {
    const gpu::DeviceMemory* device = job.devices().memory();
    return device && device->holds(address);
}

std::uint64_t load_device_word(core::ContextState& ctx, const void* word, std::size_t bytes) {
    std::uint64_t value = 0;
    load_device_words(ctx, &value, word, bytes);
    return value;
}

void check_device_words(core::ContextState& ctx, const void* words, std::size_t bytes) {
    if (ctx.job().window().check && bytes != 0) ctx.job().devices().memory()->check(words, bytes);
}

void load_device_words(core::ContextState& ctx, void* dst, const void* words, std::size_t bytes) {
    check_device_words(ctx, words, bytes);
    if (bytes != 0) ctx.job().devices().memory()->copies().get(dst, words, bytes, ctx.job().pe());
}

void ContextBase::count_first_move() const noexcept {
    if (window_.fast_limit() != 0) [[likely]]
        return;
    if (!state_->notes_moves() || state_->notes_next_move()) return;
    // The next moves take the fast path, if checks allow one. A thread that still reads the old limit takes
    // this path once more.
    window_.set_fast_limit(job_->window().fast_bytes);
    job_->recorder->writes().has_lost.store(1, std::memory_order_relaxed);
    if (!job_->settings().front_notes_signals)
        job_->recorder->signals().has_lost.store(1, std::memory_order_relaxed);
}

Slot ContextBase::route_elsewhere(const void* symmetric, std::size_t bytes, int pe) const {
    count_first_move();
    if (job_->heap().is_in_listed_block(symmetric, bytes)) [[likely]]  // ATOLL_CHECK=args
        return window_.counts ? Slot() : map_.slot(pe);
    if (const gpu::DeviceMemory* device = job_->devices().memory(); device && device->holds(symmetric)) {
        if (window_.check) device->check(symmetric, bytes);
        return {};
    }
    check_range(symmetric, bytes);
    return window_.counts ? Slot() : map_.slot(pe);
}

Slot ContextBase::route_checked(const void* symmetric, std::size_t bytes, int pe) const {
    count_first_move();
    check_range(symmetric, bytes);
    return window_.counts ? Slot() : map_.slot(pe);
}

void ContextBase::note_atomic(AtomicOp op, DType type, const void* symmetric, std::uint64_t value,
                              int pe) const {
    if (!state_->notes_moves()) return;
    core::note_atomic(*state_, op, type, symmetric, value, pe);
    if (core::polls_are_watched.load(std::memory_order_relaxed)) [[unlikely]]
        note_poll_of(*this, op, symmetric, size_of(type), pe);
}

void ContextBase::note_stored(DType type, const void* symmetric, std::uint64_t value, int pe) const {
    if (state_->notes_moves()) core::note_atomic(*state_, AtomicOp::swap, type, symmetric, value, pe);
}

void ContextBase::note_update(SignalOp op, const std::uint64_t* signal, std::uint64_t value, int pe) const {
    if (state_->notes_moves() && !job_->settings().front_notes_signals)
        core::note_signal(*state_, signal, value, op == SignalOp::add, pe);
}

int ContextBase::world_pe(int pe) const noexcept { return state_->team().world_pe(pe); }

void ContextBase::check_range(const void* symmetric, std::size_t bytes) const {
    if (!window_.check) return;
    if (!window_.holds(symmetric, bytes)) throw_not_symmetric(*job_, symmetric, bytes);
    if (window_.check_args && bytes != 0 && window_.heap_has(symmetric))
        job_->heap().check_symmetric(symmetric, bytes);
}

void ContextBase::check_local_block(const void* local, std::size_t bytes) const {
    if (local == nullptr) throw_null(bytes);
    if (window_.heap_has(local)) job_->heap().check_symmetric(local, bytes);
}

void RmaOps::put_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const {
    if (window_.fast_limit() == 0 && state_->notes_moves()) [[unlikely]]
        return put_noted(dst, src, bytes, pe, kind);
    put_unnoted(dst, src, bytes, pe, kind);
}

void RmaOps::put_noted(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const {
    put_unnoted(dst, src, bytes, pe, kind);
    if (job_->heap().is_in_listed_block(dst, bytes)) count_first_move();  // else put_unnoted's route has
    core::note_put(*state_, dst, is_ordinary(*this, src) ? src : nullptr, bytes, pe);
}

void RmaOps::put_unnoted(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const {
    constexpr const char* names[] = {"put_nbi", "put", "p"};
    Measured measured = measure(*state_, names[static_cast<int>(kind)], bytes, pe);
    measured.set_subject(dst);
    if (kind == Move::nonblocking) core::note_context(measured, *state_);
    if (job_->heap().is_in_listed_block(dst, bytes) && is_ordinary(*this, src)) [[likely]] {
        if (void* const there = window_.near_at(dst, map_.slot(pe))) return copy(there, src, bytes);
    }
    route_any(dst, bytes, pe);
    check_local_memory(src, bytes);
    put_routed(*state_, dst, src, bytes, pe, kind != Move::nonblocking);
}

void RmaOps::get_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const {
    constexpr const char* names[] = {"get_nbi", "get", "g"};
    Measured measured = measure(*state_, names[static_cast<int>(kind)], bytes, pe);
    measured.set_subject(src);
    if (kind == Move::nonblocking) core::note_context(measured, *state_);
    if (job_->heap().is_in_listed_block(src, bytes) && is_ordinary(*this, dst)) [[likely]] {
        if (const void* const there = window_.near_at(src, map_.slot(pe))) return copy(dst, there, bytes);
    }
    route_any(src, bytes, pe);
    check_local_memory(dst, bytes);
    get_routed(*state_, dst, src, bytes, pe, kind != Move::nonblocking);
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
    put_by(ctx, route_of(ctx, Access::write, dst, src, pe), dst, src, bytes, blocking);
}

void get_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes, int pe,
                bool blocking) {
    const Route route = route_of(ctx, Access::read, src, dst, pe);
    switch (route.path) {
        case Path::window:
            return load_by(route, dst, bytes);
        case Path::gpu:
            return route.device->copies().get(dst, src, bytes, route.pe);
        case Path::staged:
            return route.device->far().get(far(ctx, route), dst, route.offset, bytes);
        case Path::transport:
            return ctx.job().transport()->get(ctx.id(), route.pe, route.offset, dst, bytes,
                                              completion(blocking));
    }
}

void blocks_routed(core::ContextState& ctx, const StridedBlocks& b, int pe, bool is_put) {
    Measured measured = measure(ctx, is_put ? "iput" : "iget", b.block * b.element_bytes * b.count, pe);
    measured.set_subject(is_put ? b.dst : b.src);
    const auto dst_stride = b.dst_stride * static_cast<std::ptrdiff_t>(b.element_bytes),
               src_stride = b.src_stride * static_cast<std::ptrdiff_t>(b.element_bytes);
    const std::size_t bytes = b.block * b.element_bytes;
    gpu::StridedCall copy{b.dst, b.src, dst_stride, src_stride, bytes, b.count};
    const Route route = is_put ? route_of(ctx, Access::write, b.dst, b.src, pe)
                               : route_of(ctx, Access::read, b.src, b.dst, pe);
    switch (route.path) {
        case Path::window:
            if (is_put)
                copy.dst = route.there;
            else
                copy.src = route.there;
            return route.local_on_gpu ? route.device->copies().strided_with_host(copy, is_put)
                                      : gpu::copy_on_host(copy);
        case Path::gpu:
            return route.device->copies().strided(copy, route.pe, is_put);
        case Path::staged:
            return route.device->far().strided(far(ctx, route), copy, route.offset, is_put);
        case Path::transport:
            break;
    }
    if (dst_stride < 1 || src_stride < 1) throw_stride(b.dst_stride, b.src_stride);
    auto& transport = *ctx.job().transport();
    const auto d = static_cast<std::size_t>(dst_stride), s = static_cast<std::size_t>(src_stride);
    if (is_put)
        transport.put_blocks(ctx.id(), route.pe, route.offset, b.src, {bytes, b.count, d, s});
    else
        transport.get_blocks(ctx.id(), route.pe, route.offset, b.dst, {bytes, b.count, s, d});
}

namespace {

Measured measure_atomic(const core::ContextState& ctx, AtomicOp op, DType type, int pe) {
    return measure(ctx, common::atomic_name(op), size_of(type), pe);
}

}  // namespace

std::uint64_t atomic_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                            std::uint64_t compare, int pe) {
    Measured measured = measure_atomic(ctx, op, type, pe);
    measured.set_subject(dst, value);
    return atomic_by(ctx, route_of(ctx, Access::write, dst, nullptr, pe), op, type, dst, value, compare);
}

void order_routed(core::ContextState& ctx, int pe, bool quiet) {
    const int world_pe = pe < 0 ? -1 : ctx.team().world_pe(pe);
    Measured measured(ctx.job(), ctx.job().window().counts, Measured::Kind::call, quiet ? "quiet" : "fence",
                      0, world_pe);
    core::note_context(measured, ctx);
    if (!ctx.job().transport()) return;  // the call is only measured: stores need no more than the fence
    if (quiet) {
        ctx.job().transport()->quiet(ctx.id(), world_pe);
        if (core::StreamServices* services = ctx.job().devices().services()) services->quiet_kernels();
    } else {
        ctx.job().transport()->fence(ctx.id(), world_pe);
    }
}

void fetch_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                  std::uint64_t compare, int pe, void* result) {
    Measured measured = measure_atomic(ctx, op, type, pe);
    measured.set_subject(dst, value);
    const Route route = route_of(ctx, Access::write, dst, nullptr, pe);
    if (route.path == Path::window) {  // only while statistics are counted
        const std::uint64_t word = atomic_by(ctx, route, op, type, dst, value, compare);
        std::memcpy(result, &word, size_of(type));
        return;
    }
    ctx.job().transport()->fetch_atomic(ctx.id(), route.pe, route.offset, op, type, value, compare, result);
}

void put_signal_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes,
                       std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe, bool blocking) {
    Measured measured = measure(ctx, blocking ? "put_signal" : "put_signal_nbi", bytes, pe);
    measured.set_subject(signal, value);
    if (!blocking) core::note_context(measured, ctx);
    const Route word = route_of(ctx, Access::write, signal, nullptr, pe);
    const Route data = bytes == 0 ? word : route_of(ctx, Access::write, dst, src, pe);
    const transport::Signal announced{word.offset, value, op};
    // Data and signal are one message if both travel by the transport, or if either is in a device
    // heap that only the transport reaches.
    if (data.path == Path::staged || word.path == Path::staged)
        return data.device->far().put(far(ctx, data), data.offset, src, bytes, &announced);
    if (data.path == Path::transport && word.path == Path::transport)
        return ctx.job().transport()->put_signal(ctx.id(), data.pe, data.offset, src, bytes, announced,
                                                 transport::Completion::local);
    if (bytes != 0 && data.path == Path::window && !data.local_on_gpu) {
        copy_for_reader(data.there, src, bytes, ctx.job().window().nontemporal_bytes);
    } else if (bytes != 0) {
        put_by(ctx, data, dst, src, bytes, true);
        if (data.path != Path::window && ctx.job().transport()) order_routed(ctx, pe, false);
    }
    atomic_by(ctx, word, op == SignalOp::set ? AtomicOp::set : AtomicOp::add, DType::uint64, signal, value,
              0);
}

void signal_routed(core::ContextState& ctx, std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe) {
    Measured measured = measure(ctx, op == SignalOp::set ? "signal_set" : "signal_add", sizeof *signal, pe);
    measured.set_subject(signal, value);
    atomic_routed(ctx, op == SignalOp::set ? AtomicOp::set : AtomicOp::add, DType::uint64, signal, value, 0,
                  pe);
}

void progress_routed(core::JobState& job) { job.transport()->progress(); }

std::uint64_t AtomicOps::atomic_erased(AtomicOp op, DType type, void* dst, std::uint64_t value,
                                       std::uint64_t compare, int pe) const {
    transport::check_atomic(op, type);
    const std::size_t bytes = size_of(type);
    void* const there = window_.near_at(dst, route_any(dst, bytes, pe));
    if (window_.check && !aligned_to(dst, bytes)) throw_misaligned(dst, bytes);
    if (there == nullptr) return atomic_routed(*state_, op, type, dst, value, compare, pe);
    return transport::apply_atomic(op, type, there, value, compare);
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
