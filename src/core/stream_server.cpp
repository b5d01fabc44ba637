#include "core/stream_server.hpp"

#include "core/job_state.hpp"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace atl::core {

namespace {

/// Looks at the ring before it is looked at by the clock: about a millisecond of them.
constexpr unsigned looks = 2000;
constexpr unsigned nap_us = 50;

std::string asked_text(const heap::FarRequest& request) {
    if (request.kind == heap::FarKind::group) return "a collective of a stream";
    if (request.kind == heap::FarKind::messages) return "messages of a stream";
    return "what a stream asked of PE " + std::to_string(request.pe);
}

}  // namespace

StreamServer::StreamServer(JobState& job, const DeviceMemory& device, heap::FarRing* ring,
                           std::uint64_t* tickets, Carry carry)
    : job_(job),
      device_(device),
      ring_(ring),
      tickets_(tickets),
      carry_(std::move(carry)),
      transport_(job.shared_transport()),
      context_(transport_->create_context()),
      lane_(device.take_pinned_lane()),
      thread_([this] { run(); }) {}

StreamServer::~StreamServer() {
    stops_.store(true);
    wake_.signal();
}

void StreamServer::start(const device::Team& team, const heap::FarRequest& request,
                         heap::StreamHandle stream) {
    if (device_.is_capturing(stream))
        in_graphs_.store(true);
    else
        begun_.fetch_add(1);
    wake_.signal();
    device_.start(heap::FarCall{team, ring_, tickets_, request}, stream);
}

void StreamServer::run() {
    unsigned idle = 0;
    for (std::uint64_t ticket = 0;;) {
        heap::FarRing::Slot& slot = ring_->slots[ticket % heap::FarRing::n_slots];
        const std::uint64_t here = 2 * (ticket / heap::FarRing::n_slots) + 1;
        if (__atomic_load_n(&slot.turn, __ATOMIC_ACQUIRE) != here) {
            if (!rest(ticket, idle++)) return;
            continue;
        }
        serve(slot.request);
        __atomic_store_n(&slot.turn, here + 1, __ATOMIC_RELEASE);
        ++ticket;
        idle = 0;
    }
}

bool StreamServer::rest(std::uint64_t ticket, unsigned idle) const {
    if (stops_.load()) return false;
    if (ticket < begun_.load() || in_graphs_.load()) {
        if (idle < looks)
            ::sched_yield();
        else
            ::usleep(nap_us);
        return true;
    }
    pollfd wake{wake_.fd(), POLLIN, 0};
    ::poll(&wake, 1, -1);
    wake_.clear();
    return !stops_.load();
}

/// A stream cannot be told of an error, so that ends the job, and with it the kernel that waits.
void StreamServer::serve(const heap::FarRequest& request) const {
    try {
        if (carry_)
            carry_(request, lane_);
        else
            carry_out(request);
    } catch (const std::exception& error) {
        if (stops_.load() || job_.is_over()) return;
        const std::string text = "PE " + std::to_string(job_.pe()) + " could not carry out " +
                                 asked_text(request) + ": " + error.what();
        job_.board().abort(job_.pe(), 1, text);
        job_.bootstrap().abort(1, text);
    }
}

void StreamServer::carry_out(const heap::FarRequest& r) const {
    const DeviceMemory::Far far{*transport_, context_, r.pe, &lane_};
    const std::uint64_t offset = device_.far_offset(r.there);
    switch (r.kind) {
        case heap::FarKind::put: {
            const void* from = r.here ? r.here : &r.value;
            if (r.signal) {
                const transport::Signal signal{device_.far_offset(r.signal), r.value, r.signal_op};
                device_.put_far(far, offset, from, r.bytes, &signal);
            } else {
                device_.put_far(far, offset, from, r.bytes);
            }
            break;
        }
        case heap::FarKind::get:
            return device_.get_far(far, r.here, offset, r.bytes);
        case heap::FarKind::strided_put:
            device_.strided_far(far, {r.there, r.here, r.there_stride, r.here_stride, r.bytes, r.count},
                                offset, true);
            break;
        case heap::FarKind::strided_get:
            return device_.strided_far(
                far, {r.here, r.there, r.here_stride, r.there_stride, r.bytes, r.count}, offset, false);
        case heap::FarKind::atomic: {
            const std::uint64_t before = device_.atomic_far(far, r.op, r.type, r.there, r.value, r.compare);
            if (r.here) device_.copy(r.here, &before, size_of(r.type));
            break;
        }
        case heap::FarKind::group:  // a team's, whose server has its own way
        case heap::FarKind::messages:
            return;
    }
    transport_->quiet(context_, r.pe);
}

}  // namespace atl::core
