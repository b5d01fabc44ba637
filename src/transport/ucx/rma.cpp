#include "transport/ucx/rma.hpp"

#include "transport/ucx/endpoint_transports.hpp"
#include "transport/ucx/engine.hpp"
#include "transport/ucx/waiting.hpp"

#include <algorithm>

namespace atl::transport::ucx {
namespace {

/// The limit of requests in flight; above it a put or a get waits.
constexpr std::size_t most_in_flight = 256;

RmaPeer& of(Peer& peer) {
    if (!peer.rma) peer.rma = std::make_unique<RmaPeer>();
    return *peer.rma;
}

RmaPeer::Context& of(Peer& peer, std::uint32_t context) {
    std::vector<RmaPeer::Context>& all = of(peer).of;
    if (all.size() <= context) all.resize(context + 1);
    return all[context];
}

}  // namespace

Rma::Rma(Engine& engine, const UcxOptions& options)
    : engine_(engine),
      ucp_(engine.worker().ucp()),
      option_(options.rma),
      // Shorter data are copied into the message, and their words are stored atomically.
      least_bytes_(std::max(options.rma_bytes, packet_data_bytes + 1)),
      own_(ucp_, engine.worker().context(), options.base, options.bytes) {}

OwnAccess Rma::wanted(UcxRma option, const Library& ucp) {
    if (option == UcxRma::device) return OwnAccess::device_memory;
    const bool itself = tells_transports(ucp) && (has_rdma_device() || is_shared_memory_only());
    const bool wanted = option == UcxRma::on || (option == UcxRma::automatic && itself);
    return wanted ? OwnAccess::host_memory : OwnAccess::none;
}

std::string Rma::describe(UcxRma option, const Library& ucp) {
    const std::string large = "large puts and gets ";
    if (option == UcxRma::off) return large + "by messages: ATOLL_UCX_RMA=off";
    if (option == UcxRma::on) return large + "by UCX's own: ATOLL_UCX_RMA=on";
    if (option == UcxRma::device) return large + "by UCX's own, device heaps' too: ATOLL_UCX_RMA=device";
    if (!tells_transports(ucp))
        return large + "by messages: UCX " + ucp.version +
               " does not tell what a connection uses (1.14 does)";
    if (wanted(option, ucp) == OwnAccess::none) return large + "by messages: no RDMA device here";
    return large + "by UCX's own where the network does them without the target's CPU, else by messages";
}

// ---- the way to a PE

/// True if the PE can be reached by UCX's own operations. That is known once the first acknowledgement shows
/// that the connection is made.
bool Rma::connects(Lock& lock, Waiting& waiting, const char* operation, Peer& peer) {
    if (of(peer).path == RmaPeer::Path::unknown) {
        if (peer.awaited == 0) engine_.greet(peer);
        waiting.until(lock, operation, peer.pe, [&] { return peer.done != 0; });
        if (of(peer).path == RmaPeer::Path::unknown)
            of(peer).path = does_it_itself(peer) ? RmaPeer::Path::rma : RmaPeer::Path::messages;
    }
    return of(peer).path == RmaPeer::Path::rma;
}

bool Rma::does_it_itself(const Peer& peer) const {
    return option_ != UcxRma::automatic || has_remote_access(ucp_, peer.endpoint, ReachedMemory::host);
}

bool Rma::reaches(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t offset,
                  std::size_t bytes) {
    if (bytes < least_bytes_ || (is_on_device(offset) && option_ != UcxRma::device) ||
        !connects(lock, waiting, operation, peer) || is_refused(peer, offset))
        return false;
    for (std::uint64_t at = offset, end = offset + bytes; at < end; at = of(peer).keys.at(at)->end) {
        if (of(peer).keys.at(at)) continue;
        peer.awaited =
            engine_.post(peer, Header{.offset = at, .a = end - at, .kind = Kind::ask_key}, nullptr, 0);
        const auto answered = [&] { return of(peer).keys.at(at) || is_refused(peer, offset); };
        waiting.until(lock, operation, peer.pe, answered);
        if (!of(peer).keys.at(at)) return false;
    }
    return true;
}

bool Rma::is_refused(Peer& peer, std::uint64_t offset) {
    return of(peer).path != RmaPeer::Path::rma || (is_on_device(offset) && of(peer).refuses_device);
}

void Rma::add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes, bool is_gpu_memory) {
    if (option_ != UcxRma::device) return;
    device_.try_emplace(offset, ucp_, engine_.worker().context(), memory, bytes,
                        is_gpu_memory ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST);
}

void Rma::drop_device_chunks() noexcept {
    for (auto& [begin, keys] : device_) keys.unregister_all();
    device_.clear();
}

void Rma::unregister_all() noexcept {
    drop_device_chunks();
    own_.unregister_all();
}

std::pair<OwnKeys*, std::uint64_t> Rma::own_keys(std::uint64_t offset) {
    if (!is_on_device(offset)) return {&own_, 0};
    const auto after = device_.upper_bound(offset_on_device(offset));
    if (after == device_.begin()) return {};
    auto& [begin, keys] = *std::prev(after);
    return {&keys, begin | in_device_heap};
}

/// True if UCX's own operations may be used for this memory. Over networks without GPUDirect, UCX sends GPU
/// memory by messages and copies that wait for kernels. Those kernels may wait for the messages.
bool Rma::admits(const Peer& peer, const OwnKeys& own) const {
    return !own.is_of_gpu() || has_remote_access(ucp_, peer.endpoint, ReachedMemory::gpu);
}

Rma::Key Rma::key_to(const Peer& peer, std::uint64_t offset, std::uint64_t bytes) {
    const auto [own, from] = own_keys(offset);
    const OwnKeys::Entry* entry = own && admits(peer, *own) ? own->cover(offset - from, bytes) : nullptr;
    if (!entry || entry->second.key.size() > packet_data_bytes) return {};
    const auto& [begin, region] = *entry;
    return {from + begin, from + region.end, reinterpret_cast<std::uintptr_t>(own->address(begin)),
            region.key};
}

/// An empty key is a refusal: that PE registers no (further) memory.
void Rma::take_key(Peer& peer, const Header& header, const char* data, std::size_t bytes) {
    const KnownKeys::Region region{header.offset, header.a, header.b, nullptr};
    const bool usable =
        header.a > header.offset && of(peer).keys.add(ucp_, peer.endpoint, region, {data, bytes});
    if (usable) return;
    if (is_on_device(header.offset))
        of(peer).refuses_device = true;
    else
        of(peer).path = RmaPeer::Path::messages;
}

// ---- operations

template <class Begin>
void Rma::for_each_part(Peer& peer, std::uint64_t offset, std::size_t bytes, Begin&& begin) {
    for (std::uint64_t at = offset, end = offset + bytes; at < end;) {
        const KnownKeys::Region& region = *of(peer).keys.at(at);
        const std::uint64_t part = std::min(end, region.end) - at;
        begin(region.key, region.address + (at - region.begin), at - offset, part);
        at += part;
    }
}

static ucp_request_param_t parameters(void (*done)(void*, ucs_status_t, void*), void* argument) {
    ucp_request_param_t param;
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.cb.send = done;
    param.user_data = argument;
    param.memory_type = UCS_MEMORY_TYPE_HOST;
    return param;
}

void Rma::issue_put(Peer& peer, std::uint64_t offset, const void* src, std::size_t bytes, Operations& of) {
    const ucp_request_param_t param = parameters(&Rma::done, &of);
    // Makes stores visible that other threads made to the source and this thread has observed.
    std::atomic_thread_fence(std::memory_order_release);
    for_each_part(peer, offset, bytes,
                  [&](ucp_rkey_h key, std::uint64_t there, std::uint64_t at, std::uint64_t part) {
                      const char* from = static_cast<const char*>(src) + at;
                      take_request(ucp_.put_nbx(peer.endpoint, from, part, there, key, &param), of);
                  });
}

void Rma::issue_get(Peer& peer, std::uint64_t offset, void* dst, std::size_t bytes, Operations& of) {
    const ucp_request_param_t param = parameters(&Rma::done, &of);
    for_each_part(peer, offset, bytes,
                  [&](ucp_rkey_h key, std::uint64_t there, std::uint64_t at, std::uint64_t part) {
                      char* to = static_cast<char*>(dst) + at;
                      take_request(ucp_.get_nbx(peer.endpoint, to, part, there, key, &param), of);
                  });
}

void Rma::take_request(void* request, Operations& of) {
    if (is_request(request)) {
        ++of.left;
        ++in_flight_;
    } else if (request) {
        of.failed = true;
        engine_.complain(*of.peer, ucp_.status_string(status_of(request)));
    }
}

void Rma::done(void* request, ucs_status_t status, void* argument) {
    auto* of = static_cast<Operations*>(argument);
    Rma& self = *of->rma;
    self.ucp_.request_free(request);
    --self.in_flight_;
    --of->left;
    if (status != UCS_OK) {
        of->failed = true;
        self.engine_.complain(*of->peer, self.ucp_.status_string(status));
    }
    if (of->abandoned && of->left == 0) delete of;
}

template <class Issue>
void Rma::run(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, Issue&& issue) {
    auto operations = std::make_unique<Operations>(Operations{.rma = this, .peer = &peer});
    issue(*operations);
    try {
        waiting.until(lock, operation, peer.pe, [&] { return operations->left == 0 && !operations->failed; });
    } catch (...) {
        if (!lock) lock.lock();
        operations->abandoned = true;
        if (operations->left != 0) static_cast<void>(operations.release());  // the last request deletes it
        throw;
    }
}

/// Applies a change to a PE's state and keeps the count of open PEs. All changes of openness go through it.
template <class Change> void Rma::change(RmaPeer& rma, Change&& what) {
    const bool was_open = rma.is_open();
    what();
    if (rma.is_open() != was_open) n_open_.fetch_add(was_open ? -1 : 1, std::memory_order_relaxed);
}

void Rma::note(Peer& peer, std::uint32_t context, bool is_put, std::uint64_t offset) {
    RmaPeer& rma = of(peer);
    RmaPeer::Context& its = of(peer, context);
    change(rma, [&] {
        its.last = ++rma.begun;
        if (is_put) its.last_put = its.last;
        if (is_put && is_on_device(offset)) rma.on_device = its.last;
    });
    rma.at_quiet.rma = this;
    rma.at_quiet.peer = &peer;
}

void Rma::put(Lock& lock, Waiting& waiting, Peer& peer, std::uint32_t context, std::uint64_t offset,
              const void* src, std::size_t bytes, bool at_quiet) {
    const std::uint64_t before = engine_.fenced(peer, context);
    waiting.until(lock, "put", peer.pe, [&] { return peer.done >= before; });
    note(peer, context, true, offset);
    if (!at_quiet)
        return run(lock, waiting, "put", peer,
                   [&](Operations& its) { issue_put(peer, offset, src, bytes, its); });
    issue_put(peer, offset, src, bytes, of(peer).at_quiet);
    throttle(lock, waiting, peer);
}

void Rma::get(Lock& lock, Waiting& waiting, Peer& peer, std::uint32_t context, std::uint64_t offset,
              void* dst, std::size_t bytes, bool at_quiet) {
    complete_puts(lock, waiting, "get", peer, context);
    const std::uint64_t before = engine_.last(peer, context);
    waiting.until(lock, "get", peer.pe, [&] { return peer.done >= before; });
    if (!at_quiet)
        return run(lock, waiting, "get", peer,
                   [&](Operations& its) { issue_get(peer, offset, dst, bytes, its); });
    note(peer, context, false, offset);
    issue_get(peer, offset, dst, bytes, of(peer).at_quiet);
    throttle(lock, waiting, peer);
}

void Rma::throttle(Lock& lock, Waiting& waiting, Peer& peer) {
    if (in_flight_ < most_in_flight) return;
    waiting.until(lock, "put or get", peer.pe, [&] { return in_flight_ < most_in_flight / 2; });
}

// ---- completion

void Rma::complete(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint32_t context) {
    if (peer.rma) await_flush(lock, waiting, operation, peer, of(peer, context).last);
}

void Rma::complete_puts(Lock& lock, Waiting& waiting, const char* operation, Peer& peer,
                        std::uint32_t context) {
    if (peer.rma) await_flush(lock, waiting, operation, peer, of(peer, context).last_put);
}

bool Rma::is_complete(Peer& peer, std::uint32_t context) {
    if (!peer.rma) return true;
    const std::uint64_t last = of(peer, context).last;
    return last <= of(peer).flushed && of(peer).shown >= std::min(last, of(peer).on_device);
}

void Rma::begin_completing(Peer& peer, std::uint32_t context) {
    if (peer.rma && of(peer, context).last > of(peer).flushed) begin_flush(peer);
}

void Rma::await_flush(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t number) {
    if (of(peer).flushed < number)
        waiting.until(lock, operation, peer.pe, [&] {
            // A flush already in flight may have begun too early.
            if (of(peer).flushed < number) begin_flush(peer);
            return of(peer).flushed >= number;
        });
    show(lock, waiting, operation, peer, number);
}

/// Makes a network's writes into a GPU's memory visible to kernels there, by a message to the owner.
void Rma::show(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t number) {
    RmaPeer& rma = of(peer);
    if (rma.shown >= std::min(number, rma.on_device)) return;
    const std::uint64_t flushed = rma.flushed;
    const std::uint64_t message =
        engine_.post(peer, Header{.offset = in_device_heap, .kind = Kind::show_puts}, nullptr, 0);
    peer.awaited = message;
    waiting.until(lock, operation, peer.pe, [&] { return peer.done >= message; });
    change(rma, [&] { rma.shown = std::max(rma.shown, flushed); });
}

void Rma::begin_flush(Peer& peer) {
    RmaPeer& rma = of(peer);
    if (rma.flushing != 0 || peer.failed) return;
    rma.flushing = rma.begun;
    const ucp_request_param_t param = parameters(&Rma::flush_done, &peer);
    void* request = ucp_.ep_flush_nbx(peer.endpoint, &param);
    if (is_request(request))
        ++in_flight_;
    else
        end_flush(peer, status_of(request));
}

void Rma::end_flush(Peer& peer, ucs_status_t status) {
    RmaPeer& rma = of(peer);
    const std::uint64_t flushed = std::exchange(rma.flushing, 0);
    if (status != UCS_OK) return engine_.complain(peer, ucp_.status_string(status));
    change(rma, [&] { rma.flushed = flushed; });
}

void Rma::flush_done(void* request, ucs_status_t status, void* argument) {
    auto& peer = *static_cast<Peer*>(argument);
    Rma& self = *peer.engine->rma();
    self.ucp_.request_free(request);
    --self.in_flight_;
    self.end_flush(peer, status);
}

// ---- the end

bool Rma::settle(const std::vector<Peer*>& met) {
    bool settled = true;
    for (Peer* peer : met) {
        if (!peer->rma || peer->failed || peer->over || peer->rma->flushed == peer->rma->begun) continue;
        settled = false;
        begin_flush(*peer);
    }
    return settled;
}

void Rma::drop_keys(const std::vector<Peer*>& met) noexcept {
    for (Peer* peer : met)
        if (peer->rma) peer->rma->keys.destroy_all(ucp_);
}

}  // namespace atl::transport::ucx
