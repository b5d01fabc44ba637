#include "transport/ucx/engine.hpp"

#include "atoll/error.hpp"
#include "common/clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace atl::transport::ucx {
namespace {

constexpr std::uint64_t drain_ns = 2'000'000'000;
constexpr std::uint64_t goodbye_ns = 100'000'000;
/// The most messages that are carried out before their sender is acknowledged, even under load.
constexpr std::uint64_t most_unacknowledged = 64;
constexpr std::string_view magic = "atoll-ucx 4 ";

}  // namespace

Engine::Engine(UcxOptions options)
    : options_(std::move(options)),
      peers_(static_cast<std::size_t>(options_.n_pes)),
      worker_(library(options_.library), Rma::wanted(options_.rma, library(options_.library)),
              &Engine::deliver, this) {
    if (worker_.access() != OwnAccess::none) rma_ = std::make_unique<Rma>(*this, options_);
    options_.publish(std::string(magic) + worker_.ucp().version + "\n" + worker_.address());
}

Engine::~Engine() { close(); }

Peer& Engine::make_peer(int pe) {
    auto& made = peers_[static_cast<std::size_t>(pe)] = std::make_unique<Peer>();
    made->engine = this;
    made->pe = pe;
    met_.push_back(made.get());
    return *made;
}

void Engine::connect(int pe, const std::string& value) {
    if (is_connected(pe)) return;
    const std::size_t end = value.find('\n');
    const std::string expected = std::string(magic) + worker_.ucp().version;
    if (end == std::string::npos || value.substr(0, end) != expected)
        throw Error(
            ErrorCode::bootstrap,
            "PE " + std::to_string(pe) + " speaks \"" + value.substr(0, end) + "\", PE " +
                std::to_string(options_.pe) + " \"" + expected + "\" (of " + worker_.ucp().path +
                "): all PEs of a job need the same Atoll and the same UCX. ATOLL_UCX_LIBRARY names one; "
                "an MPI that is loaded before brings its own.");
    Peer& to = peer(pe);
    try {
        to.endpoint = worker_.connect(value.substr(end + 1), &Engine::lose, &to);
    } catch (const Error& error) {
        throw Error(error.code(), "PE " + std::to_string(options_.pe) + " cannot reach PE " +
                                      std::to_string(pe) + ": " + error.what());
    }
    greet(to);
}

void Engine::greet(Peer& peer) {
    const std::uint64_t sequence =
        post(peer, Header{.kind = Kind::hello}, worker_.address().data(), worker_.address().size());
    // A process of a group may have closed its transport before another one connects to it.
    if (options_.parts == nullptr) peer.awaited = sequence;
}

void Engine::check(const Peer& peer) const {
    if (closed_)
        throw Error(ErrorCode::not_initialized,
                    "The job has ended; nothing goes to PE " + std::to_string(peer.pe) + " any more.");
    if (peer.reported) throw Error(ErrorCode::pe_died, peer.why);
}

// ---- sending

void Engine::number(Peer& peer, Header& header, std::uint64_t done) {
    settle_device();
    header.sequence = ++peer.sent;
    header.done = peer.acknowledged = done;
    header.pe = static_cast<std::uint32_t>(options_.pe);
    // Makes this PE's stores visible before the message arrives.
    std::atomic_thread_fence(std::memory_order_release);
}

std::uint64_t Engine::send_numbered(Peer& peer, Packet& packet, std::size_t bytes) {
    if (const char* why = worker_.send(peer.endpoint, packet, bytes)) complain(peer, why);
    return peer.sent;
}

std::uint64_t Engine::post_filled(Peer& peer, const Header& header, Packet& packet, std::size_t bytes) {
    packet.header = header;
    number(peer, packet.header, peer.received());
    return send_numbered(peer, packet, bytes);
}

std::uint64_t Engine::post(Peer& peer, const Header& header, const void* data, std::size_t bytes) {
    Packet& packet = worker_.packet();
    if (bytes != 0) std::memcpy(packet.data, data, bytes);
    return post_filled(peer, header, packet, bytes);
}

std::uint64_t Engine::post_from(Peer& peer, const Header& header, const void* data, std::size_t bytes,
                                Flight* flight) {
    Packet& packet = worker_.packet();
    packet.header = header;
    number(peer, packet.header, peer.received());
    if (const char* why = worker_.send_from(peer.endpoint, packet, data, bytes, flight)) complain(peer, why);
    return peer.sent;
}

void Engine::note_sent(Peer& peer, std::uint32_t context, std::uint64_t sequence) {
    peer.awaited = sequence;
    if (peer.sequences.size() <= context) peer.sequences.resize(context + 1);
    Sequence& of_context = peer.sequences[context];
    if (const std::uint64_t fences = fences_.load(std::memory_order_relaxed); of_context.fences != fences) {
        of_context.fenced = of_context.last;
        of_context.fences = fences;
    }
    of_context.last = sequence;
}

std::uint64_t Engine::fenced(const Peer& peer, std::uint32_t context) const {
    if (context >= peer.sequences.size()) return 0;
    const Sequence& of_context = peer.sequences[context];
    return of_context.fences != fences_.load(std::memory_order_relaxed) ? of_context.last : of_context.fenced;
}

std::uint64_t Engine::expect(const Pending& pending) {
    pending_.emplace(++tokens_, pending);
    return tokens_;
}

// ---- receiving: within UCX's progress

void Engine::deliver(void* self, const Header& header, const char* data, std::size_t bytes) {
    static_cast<Engine*>(self)->receive(header, data, bytes);
}

void Engine::receive(const Header& header, const char* data, std::size_t bytes) {
    if (header.pe >= static_cast<std::uint32_t>(options_.n_pes) || closed_) return;
    Peer& from = peer(static_cast<int>(header.pe));
    from.inbox.accept(header, data, bytes,
                      [&](const Header& next, const char* its_data, std::size_t its_bytes) {
                          carry_out(from, next, its_data, its_bytes);
                      });
}

void Engine::carry_out(Peer& peer, const Header& header, const char* data, std::size_t bytes) {
    try {
        act(peer, header, data, bytes);
    } catch (const std::exception& error) {
        complain(peer, error.what());
    }
    // after the copy: what the message acknowledges must be in place
    peer.done = std::max(peer.done, header.done);
    const bool is_answer = header.kind >= Kind::value;
    if (!is_answer && header.is_awaited && !peer.owed) {
        peer.owed = true;
        owed_.push_back(peer.pe);
    }
}

// ---- answering and telling

bool Engine::progress() {
    if (closed_) return false;
    if (device_ && worker_.access() == OwnAccess::device_memory) device_->make_current();
    const bool moved = worker_.progress();
    answer_all();
    if (!owed_.empty()) acknowledge_all(moved ? most_unacknowledged : 1);
    if (!lost_.empty()) check_lost();
    return moved;
}

void Engine::answer_all() {
    while (!greetings_.empty()) {
        const auto [pe, address] = std::move(greetings_.back());
        greetings_.pop_back();
        Peer& from = peer(pe);
        if (from.endpoint) continue;  // both connected at once
        try {
            from.endpoint = worker_.connect(address, &Engine::lose, &from);
        } catch (const Error& error) {
            complain(from, error.what());
        }
    }
    if (requests_.empty()) return;
    for (const Header& request : requests_) {
        Peer& from = peer(static_cast<int>(request.pe));
        if (from.endpoint) answer(from, request);
    }
    requests_.clear();
}

/// Sends acknowledgements to PEs for which at least `least` messages are unacknowledged.
void Engine::acknowledge_all(std::uint64_t least) {
    std::erase_if(owed_, [&](int pe) {
        Peer& to = peer(pe);
        const std::uint64_t unacknowledged = to.received() - to.acknowledged;
        if (unacknowledged != 0 && unacknowledged < least) return false;
        to.owed = false;
        if (unacknowledged != 0 && to.endpoint && !to.failed) post(to, Header{}, nullptr, 0);
        return true;
    });
}

// ---- ends

void Engine::lose(void* argument, ucp_ep_h, ucs_status_t status) {
    auto& peer = *static_cast<Peer*>(argument);
    Engine& self = *peer.engine;
    self.complain(peer, self.worker_.ucp().status_string(status));
}

void Engine::complain(Peer& peer, const std::string& why) {
    if (peer.failed) return;
    peer.failed = true;
    peer.failed_ns = common::now_ns();
    peer.why = "PE " + std::to_string(peer.pe) + " cannot be reached any more: " + why + ".";
    lost_.push_back(&peer);
}

void Engine::check_lost() {
    const std::uint64_t now = common::now_ns();
    std::erase_if(lost_, [&](Peer* peer) {
        if (peer->over || ending_) return true;
        if (now - peer->failed_ns < options_.explain_ns) return false;
        peer->reported = true;
        options_.lost(peer->pe, peer->why);
        return true;
    });
}

bool Engine::is_settled() const {
    return std::all_of(met_.begin(), met_.end(), [](const Peer* peer) {
        return peer->failed || peer->over || peer->done >= peer->awaited;
    });
}

template <class Done> void Engine::drain(std::uint64_t ns, Done&& done) {
    const std::uint64_t start = common::now_ns();
    for (int round = 0; !done() && common::now_ns() - start < ns; ++round) {
        if (progress()) round = 0;
        if (round > 100) ::usleep(200);
    }
}

void Engine::close() noexcept {
    if (closed_) return;
    const bool together = ending_;
    ending_ = true;
    // A PE whose host is gone never answers; only the monitor can distinguish it from a slow one.
    const auto is_over = [&] { return options_.is_over && options_.is_over(); };
    try {
        drain(drain_ns, [&] { return is_over() || (is_settled() && (!rma_ || rma_->settle(met_))); });
        acknowledge_all(1);
        Header bye;
        bye.kind = Kind::bye;
        for (Peer* to : met_)
            if (to->endpoint && !to->failed) post(*to, bye, nullptr, 0);
        drain(goodbye_ns, [&] { return is_over() || worker_.in_flight() == 0; });
    } catch (const std::exception&) {
        // Memory is exhausted. The job is over in any case.
    }
    closed_ = true;
    if (together)
        end_connections();
    else
        worker_.abandon();
}

/// UCX 1.13 ends the process if a worker is destroyed while connections are being made or closed. Unsettled
/// connections are therefore left to the end of the process.
void Engine::end_connections() noexcept {
    const bool orderly =
        worker_.in_flight() == 0 && (!rma_ || rma_->in_flight() == 0) &&
        std::none_of(met_.begin(), met_.end(), [](const Peer* p) { return p->failed && !p->over; });
    if (!orderly) return worker_.abandon();
    if (rma_) rma_->drop_keys(met_);
    for (const Peer* to : met_)
        if (to->endpoint) worker_.disconnect(to->endpoint);
    const std::uint64_t start = common::now_ns();
    while (!worker_.has_disconnected() && common::now_ns() - start < goodbye_ns) worker_.progress();
    if (rma_ && worker_.has_disconnected()) rma_->unregister_all();
}

}  // namespace atl::transport::ucx
