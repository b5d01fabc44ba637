// The owner of memory carries out operations of other PEs.
#include "atoll/detail/memory_ops.hpp"
#include "atoll/error.hpp"
#include "transport/apply_atomic.hpp"
#include "transport/ucx/engine.hpp"

#include <algorithm>
#include <cstring>

namespace atl::transport::ucx {

void store(char* dst, const char* data, std::size_t bytes) {
    if (bytes > sizeof(std::uint64_t)) {
        std::memcpy(dst, data, bytes);
        return;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, data, bytes);
    detail::copy(dst, &word, bytes);
}

char* Engine::address_at(std::uint64_t offset, std::uint64_t bytes) {
    if (offset <= options_.bytes && bytes <= options_.bytes - offset) return options_.base + offset;
    throw Error(ErrorCode::not_symmetric, "it sent an operation on " + std::to_string(bytes) + " bytes at " +
                                              std::to_string(offset) + ", outside of a slot of " +
                                              std::to_string(options_.bytes));
}

void Engine::put_to_parts(const Header& header, const char* data, std::size_t bytes) {
    const Signal signal{.offset = header.a, .value = header.b};
    options_.parts->put(header.offset, data, bytes, header.kind == Kind::put_signal ? &signal : nullptr);
}

void Engine::act(Peer& peer, const Header& header, const char* data, std::size_t bytes) {
    const bool is_put = header.kind == Kind::put || header.kind == Kind::put_signal;
    if (options_.parts != nullptr && is_put) return put_to_parts(header, data, bytes);
    const bool is_signal = header.kind == Kind::put_signal && is_on_device(header.a);
    if (header.kind < Kind::value && (is_on_device(header.offset) || is_signal))
        return act_on_device(peer, header, data, bytes);
    if (header.kind < Kind::value) settle_device();  // completes the earlier puts to the GPU
    switch (header.kind) {
        case Kind::hello:
            greetings_.emplace_back(peer.pe, std::string(data, bytes));
            return;
        case Kind::put:
            return store(address_at(header.offset, bytes), data, bytes);
        case Kind::put_signal:
            if (bytes != 0) store(address_at(header.offset, bytes), data, bytes);
            apply_atomic(header.op, DType::uint64, address_at(header.a, sizeof header.b), header.b, 0);
            return;
        case Kind::put_blocks:
            return put_blocks(header, data, bytes);
        case Kind::atomic:
            apply_atomic(header.op, header.type, address_at(header.offset, size_of(header.type)), header.a,
                         header.b);
            return;
        case Kind::fetch: {
            Header request = header;
            request.a = apply_atomic(header.op, header.type, address_at(header.offset, size_of(header.type)),
                                     header.a, header.b);
            return take_request(peer, request, 0);
        }
        case Kind::get:
        case Kind::get_blocks:
            return take_request(peer, header, header.a);
        case Kind::ask_key:
            return take_request(peer, header, chunk_bytes);  // registering memory takes long
        case Kind::value:
            return take_value(header);
        case Kind::data:
            return take_data(header, data, bytes);
        case Kind::key:
            if (rma_) rma_->take_key(peer, header, data, bytes);
            return;
        case Kind::bye:
            peer.over = true;
            if (options_.parts != nullptr) options_.lost(peer.pe, "its process ended");
            return;
        case Kind::show_puts:
        case Kind::nothing:
            return;
    }
}

void Engine::put_blocks(const Header& header, const char* data, std::size_t bytes) {
    for (std::uint64_t i = 0; i * header.b < bytes; ++i)
        store(address_at(header.offset + i * header.a, header.b), data + i * header.b, header.b);
}

// ---- answers
//
// Each answer acknowledges its own request and those before it. Later requests are not yet answered.

/// Sends a short answer at once, unless an earlier request is unanswered. That saves a round of UCX's
/// progress.
void Engine::take_request(Peer& peer, const Header& request, std::uint64_t bytes) {
    if (peer.endpoint && requests_.empty() && bytes <= packet_data_bytes) return answer(peer, request);
    requests_.push_back(request);
}

void Engine::answer(Peer& peer, const Header& request) {
    try {
        if (request.kind == Kind::get) return answer_get(peer, request);
        if (request.kind == Kind::get_blocks) return answer_blocks(peer, request);
        if (request.kind == Kind::ask_key) return answer_key(peer, request);
    } catch (const Error& error) {
        return is_on_device(request.offset) ? lose_device(error.what()) : complain(peer, error.what());
    }
    Packet& packet = worker_.packet();
    packet.header = Header{.a = request.a, .token = request.token, .kind = Kind::value};
    number(peer, packet.header, request.sequence);
    send_numbered(peer, packet, 0);
}

void Engine::answer_get(Peer& peer, const Header& request) {
    if (is_on_device(request.offset)) return answer_get_from_device(peer, request);
    answer_from(peer, request, address_at(request.offset, request.a), nullptr);
}

/// A PE without UCX's own puts and gets refuses with an empty key.
void Engine::answer_key(Peer& peer, const Header& request) {
    if (!is_on_device(request.offset)) address_at(request.offset, request.a);
    const Rma::Key key = rma_ ? rma_->key_to(peer, request.offset, request.a) : Rma::Key{};
    Packet& packet = worker_.packet();
    packet.header = Header{.offset = key.begin, .a = key.end, .b = key.address, .kind = Kind::key};
    if (key.end == 0) packet.header.offset = packet.header.a = request.offset;
    std::memcpy(packet.data, key.packed.data(), key.packed.size());
    number(peer, packet.header, request.sequence);
    send_numbered(peer, packet, key.packed.size());
}

void Engine::answer_from(Peer& peer, const Header& request, const char* from, Flight* flight) {
    for (std::uint64_t at = 0; at < request.a;) {
        const std::size_t bytes = std::min<std::uint64_t>(request.a - at, chunk_bytes);
        const bool last = at + bytes == request.a;
        Packet& packet = worker_.packet();
        packet.header = Header{.a = at, .token = request.token, .kind = Kind::data};
        number(peer, packet.header, last ? request.sequence : request.sequence - 1);
        if (bytes <= packet_data_bytes) {
            std::memcpy(packet.data, from + at, bytes);
            send_numbered(peer, packet, bytes);
        } else if (const char* why = worker_.send_from(peer.endpoint, packet, from + at, bytes, flight)) {
            complain(peer, why);
        }
        at += bytes;
    }
}

void Engine::answer_blocks(Peer& peer, const Header& request) {
    for (std::uint64_t at = 0; at < request.a;) {
        Packet& packet = worker_.packet();
        const std::uint64_t whole = packet_data_bytes / request.b * request.b;
        const std::size_t bytes = std::min(request.a - at, whole);
        const std::uint64_t first = at / request.b;
        if (is_on_device(request.offset))
            get_device_blocks(request, first, packet.data, bytes);
        else
            for (std::size_t i = 0; i < bytes; i += request.b)
                store(packet.data + i,
                      address_at(request.offset + (first + i / request.b) * request.c, request.b), request.b);
        packet.header = Header{.a = at, .token = request.token, .kind = Kind::data};
        number(peer, packet.header, at + bytes == request.a ? request.sequence : request.sequence - 1);
        send_numbered(peer, packet, bytes);
        at += bytes;
    }
}

// ---- replies from other PEs

void Engine::take_value(const Header& header) {
    const auto found = pending_.find(header.token);
    if (found == pending_.end()) return;  // its caller no longer waits
    std::memcpy(found->second.dst, &header.a, found->second.left);
    pending_.erase(found);
}

void Engine::take_data(const Header& header, const char* data, std::size_t bytes) {
    const auto found = pending_.find(header.token);
    if (found == pending_.end() || bytes > found->second.left) return;
    Pending& pending = found->second;
    if (pending.blocks.block_bytes == 0) {
        store(pending.dst + header.a, data, bytes);
    } else {
        const std::size_t block = pending.blocks.block_bytes;
        for (std::size_t i = 0; i < bytes; i += block)
            store(pending.dst + (header.a + i) / block * pending.blocks.local_stride, data + i, block);
    }
    pending.left -= bytes;
    if (pending.left == 0) pending_.erase(found);
}

}  // namespace atl::transport::ucx
