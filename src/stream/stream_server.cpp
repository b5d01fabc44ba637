#include "stream/stream_server.hpp"

#include "core/job/end_of_job.hpp"
#include "core/job/job_state.hpp"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace atl::stream {

namespace {

/// Polls of the ring before the thread naps: about a millisecond of them.
constexpr unsigned polls = 2000;
constexpr long nap_us = 50;
/// Number of naps after which the transport's own thread certainly makes progress again.
constexpr unsigned naps_at_transport = 60;

/// Text of a request; null: of several requests.
std::string asked_text(const gpu::FarRequest* request) {
    if (!request) return "requests of streams and kernels to other PEs";
    if (request->kind == gpu::FarKind::group) return "a collective of a stream";
    if (request->kind == gpu::FarKind::messages) return "messages of a stream";
    return "a request of a stream or kernel to PE " + std::to_string(request->pe);
}

}  // namespace

StreamServer::StreamServer(core::JobState& job, const gpu::DeviceMemory& device, gpu::FarRing* ring,
                           unsigned long long* tickets, Carry carry)
    : job_(job),
      device_(device),
      ring_(ring),
      tickets_(tickets),
      carry_(std::move(carry)),
      transport_(job.transport()),
      context_(transport_->create_context()),
      lane_(device.lanes().take_pinned()),
      thread_([this] {
          run();
          drained_.store(UINT64_MAX);
          drained_.notify_all();
      }) {}

StreamServer::~StreamServer() {
    stops_.store(true);
    wake_.signal();
}

void StreamServer::start(const device::Team& team, const gpu::FarRequest& request, gpu::StreamHandle stream) {
    if (device_.streams().is_capturing(stream))
        unannounced_.store(true);
    else
        begun_.fetch_add(1);
    wake_.signal();
    device_.streams().start(gpu::FarCall{team, ring_, tickets_, request}, stream);
}

void StreamServer::serve_kernels() {
    if (unannounced_.exchange(true)) return;
    wake_.signal();
}

/// Waits until the thread has carried out all unannounced requests: it must find the ring empty once.
void StreamServer::drain() {
    if (!unannounced_.load()) return;
    const std::uint64_t mine = drains_.fetch_add(1) + 1;
    wake_.signal();
    for (std::uint64_t seen = drained_.load(); seen < mine; seen = drained_.load()) drained_.wait(seen);
}

namespace {

void tell(gpu::FarRing::Slot& slot, unsigned more) {
    __atomic_store_n(&slot.turn, slot.turn + more, __ATOMIC_RELEASE);
}

}  // namespace

void StreamServer::run() {
    constexpr unsigned n = gpu::FarRing::n_slots, turns = gpu::FarRing::turns;
    unsigned idle = 0;
    for (std::uint64_t ticket = 0;;) {
        Slot& slot = ring_->slots[ticket % n];
        const std::uint64_t drains = drains_.load();
        const unsigned asked = static_cast<unsigned>(ticket / n) * turns + gpu::FarRing::asked;
        if (__atomic_load_n(&slot.turn, __ATOMIC_ACQUIRE) != asked) {
            if (settle()) continue;
            if (drained_.exchange(drains) != drains) drained_.notify_all();
            if (!rest(ticket, idle++)) return;
            continue;
        }
        serve(slot);
        ++ticket;
        idle = 0;
    }
}

void StreamServer::nap() const {
    pollfd wake{wake_.fd(), POLLIN, 0};
    const timespec most{0, nap_us * 1000};
    if (::ppoll(&wake, 1, &most, nullptr) > 0) wake_.clear();
}

bool StreamServer::rest(std::uint64_t ticket, unsigned idle) const {
    if (stops_.load()) return false;
    if (ticket < begun_.load() || unannounced_.load()) {
        // The transport's own thread pauses for a millisecond or two after this thread made progress. The
        // answer to a kernel's signal arrives in that time.
        if (idle >= polls) nap();
        const bool moved = idle < polls + naps_at_transport && transport_->progress_in_passing();
        if (!moved && idle < polls) ::sched_yield();
        return !stops_.load();
    }
    pollfd wake{wake_.fd(), POLLIN, 0};
    ::poll(&wake, 1, -1);
    wake_.clear();
    return !stops_.load();
}

/// Ends the job on an error, and with it the waiting kernel: a GPU cannot receive the error.
template <class Call> void StreamServer::guarded(const gpu::FarRequest* request, Call&& call) const {
    try {
        call();
    } catch (const std::exception& error) {
        if (stops_.load() || job_.waits().is_over()) return;
        core::end_job(job_, "PE " + std::to_string(job_.pe()) + " could not carry out " +
                                asked_text(request) + ": " + error.what());
    }
}

void StreamServer::serve(Slot& slot) {
    const gpu::FarRequest& r = slot.request;
    const bool waits = r.waits, completes = r.completes;
    guarded(&r, [&] {
        if (carry_)
            carry_(r, lane_);
        else
            carry_out(slot);
    });
    if (!waits)
        tell(slot, gpu::FarRing::turns - gpu::FarRing::asked);
    else if (completes && is_unfinished_)
        held_.push_back(&slot);
    else
        tell(slot, gpu::FarRing::done - gpu::FarRing::asked);
}

bool StreamServer::settle() {
    if (!is_unfinished_) return false;
    guarded(nullptr, [&] { transport_->quiet(context_, -1); });
    is_unfinished_ = false;
    for (Slot* slot : held_) tell(*slot, gpu::FarRing::done - gpu::FarRing::asked);
    held_.clear();
    return true;
}

void StreamServer::carry_out(Slot& slot) {
    const gpu::FarRequest& r = slot.request;
    if (r.is_release && is_unfinished_) transport_->fence(context_, r.pe);
    const gpu::Far far{*transport_, context_, r.pe, &lane_};
    switch (r.kind) {
        case gpu::FarKind::put:
            put(slot);
            break;
        case gpu::FarKind::get:
            return get(slot);
        case gpu::FarKind::strided_put:
            device_.far().strided(far, {r.there, r.here, r.there_stride, r.here_stride, r.bytes, r.count},
                                  device_.far().offset(r.there), true);
            break;
        case gpu::FarKind::strided_get:
            return device_.far().strided(far,
                                         {r.here, r.there, r.here_stride, r.there_stride, r.bytes, r.count},
                                         device_.far().offset(r.there), false);
        case gpu::FarKind::atomic:
            atomic(slot);
            break;
        case gpu::FarKind::fence:
            if (is_unfinished_) transport_->fence(context_, -1);
            return;
        case gpu::FarKind::quiet:
            settle();
            return;
        case gpu::FarKind::flush:  // requests are carried out in order, and have released their sources by
                                   // then
        case gpu::FarKind::group:  // handled by a team's server
        case gpu::FarKind::messages:
            return;
    }
    is_unfinished_ = true;
}

void StreamServer::put(const Slot& slot) const {
    const gpu::FarRequest& r = slot.request;
    const gpu::Far far{*transport_, context_, r.pe, &lane_};
    const void* from = r.is_in_slot ? slot.data : r.here ? r.here : static_cast<const void*>(&r.value);
    const bool is_long = r.signal && r.type == DType::uint64;  // transports support signals of 8 bytes
    const transport::Signal signal{r.signal ? device_.far().offset(r.signal) : 0, r.value, r.signal_op};
    const std::uint64_t to = device_.far().offset(r.there);
    constexpr auto local = transport::Completion::local;
    if (!r.is_in_slot)
        device_.far().put(far, to, from, r.bytes, is_long ? &signal : nullptr);
    else if (is_long)
        transport_->put_signal(context_, r.pe, to, from, r.bytes, signal, local);
    else if (r.bytes != 0)
        transport_->put(context_, r.pe, to, from, r.bytes, local);
    if (!r.signal || is_long) return;
    transport_->fence(context_, r.pe);
    device_.far().atomic(far, r.signal_op == SignalOp::set ? AtomicOp::set : AtomicOp::add, r.type, r.signal,
                         r.value, 0);
}

void StreamServer::get(Slot& slot) const {
    const gpu::FarRequest& r = slot.request;
    const std::uint64_t from = device_.far().offset(r.there);
    if (r.is_in_slot)
        transport_->get(context_, r.pe, from, slot.data, r.bytes, transport::Completion::local);
    else
        device_.far().get({*transport_, context_, r.pe, &lane_}, r.here, from, r.bytes);
}

void StreamServer::atomic(Slot& slot) const {
    const gpu::FarRequest& r = slot.request;
    slot.result = device_.far().atomic({*transport_, context_, r.pe, &lane_}, r.op, r.type, r.there, r.value,
                                       r.compare);
    if (r.here && !r.is_in_slot) device_.copies().copy(r.here, &slot.result, size_of(r.type));
}

}  // namespace atl::stream
