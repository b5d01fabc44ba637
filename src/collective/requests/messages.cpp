#include "collective/requests/messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl::requests {
namespace {

constexpr std::size_t frame_bytes = 16;
/// The receiver starts after this many bytes, so that both sides copy at the same time.
constexpr std::size_t burst_bytes = 32 * 1024;

std::uint64_t padded(std::uint64_t bytes) { return (bytes + frame_bytes - 1) / frame_bytes * frame_bytes; }

}  // namespace

void Messages::post(const RequestPtr& request) {
    static_assert(sizeof(Frame) == frame_bytes);
    if (request->call.kind == Kind::send) {
        sends_[std::size_t(request->call.root)].push_back(request);
        ++n_sends_;
    } else if (deliver_early(*request)) {
        given_.push_back(request);
    } else {
        receives_.push_back(request);
    }
}

bool Messages::advance(std::vector<RequestPtr>& complete) {
    bool moved = !given_.empty();
    complete.insert(complete.end(), given_.begin(), given_.end());
    given_.clear();
    if (n_sends_ == 0 && receives_.empty() && n_open_ == 0) return moved;
    for (int i = 0; i < members_.n(); ++i) {
        if (!sends_[std::size_t(i)].empty()) moved |= push(i, complete);
        if (i != members_.rank()) moved |= pull(i, complete);
    }
    return moved;
}

// ---- sending

bool Messages::push(int to, std::vector<RequestPtr>& complete) {
    auto& queue = sends_[std::size_t(to)];
    bool moved = false;
    while (!queue.empty()) {
        Request& request = *queue.front();
        moved |= push_one(request, to);
        if (!request.started || request.moved < request.call.in[0].bytes) break;
        complete.push_back(queue.front());
        queue.pop_front();
        --n_sends_;
    }
    return moved;
}

/// Shows the receiver the ring up to `end`; it knows the part before `begin`.
void Messages::announce(int to, std::uint64_t begin, std::uint64_t end) {
    const Area& mine = members_.mine();
    std::atomic<std::uint64_t>& produced = mine.produced(to);
    produced.store(end, std::memory_order_release);
    if (members_.is_far(to)) {
        const std::uint64_t step = std::min(end - begin, ring_bytes - begin % ring_bytes);
        const std::uint64_t rest = end - begin - step;  // at the start of the ring
        if (rest != 0) members_.far()->pass(to, mine.ring(to) + begin % ring_bytes, step);
        const char* const last = mine.ring(to) + (rest != 0 ? 0 : begin % ring_bytes);
        members_.far()->pass_with_word(to, last, rest != 0 ? rest : step, &produced);
    }
    members_.ring(to);
}

/// Frees the sender's ring up to `end`.
void Messages::note_taken(int from, std::uint64_t end) {
    std::atomic<std::uint64_t>& taken = members_.mine().taken(from);
    taken.store(end, std::memory_order_release);
    if (!members_.is_far(from) || end - passed_[std::size_t(from)] < ring_bytes / 4) return;
    passed_[std::size_t(from)] = end;
    members_.far()->pass_word(from, nullptr, 0, &taken);
}

bool Messages::push_one(Request& request, int to) {
    const Area& mine = members_.mine();
    const Area& other = members_.area(to);
    std::atomic<std::uint64_t>& produced = mine.produced(to);
    const std::uint64_t taken = other ? other.taken(members_.rank()).load(std::memory_order_acquire) : 0;
    const Span& data = request.call.in[0];
    std::uint64_t end = produced.load(std::memory_order_relaxed);
    std::uint64_t room = ring_bytes - (end - taken);
    char* ring = mine.ring(to);
    const std::uint64_t begin = end;
    std::uint64_t announced = end;
    if (!request.started) {
        if (room < frame_bytes) return false;
        const Frame frame{data.bytes, request.call.tag};
        std::memcpy(ring + end % ring_bytes, &frame, sizeof frame);
        end += frame_bytes;
        room -= frame_bytes;
        request.started = true;
    }
    while (request.moved < data.bytes && room > 0) {
        const std::uint64_t step = std::min<std::uint64_t>(
            {data.bytes - request.moved, room, ring_bytes - end % ring_bytes, burst_bytes});
        std::memcpy(ring + end % ring_bytes, data.data + request.moved, step);
        request.moved += step;
        end += padded(step);
        room -= std::min(room, padded(step));
        announce(to, std::exchange(announced, end), end);
    }
    if (announced != end) announce(to, announced, end);
    return end != begin;
}

// ---- receiving

bool Messages::expects(int from) const {
    return std::any_of(receives_.begin(), receives_.end(), [&](const RequestPtr& request) {
        return request->call.root == from || request->call.root == any_source;
    });
}

RequestPtr Messages::matching(int from, std::int64_t tag) {
    for (auto it = receives_.begin(); it != receives_.end(); ++it) {
        const Call& call = (*it)->call;
        if (call.tag != tag || (call.root != from && call.root != any_source)) continue;
        RequestPtr request = *it;
        receives_.erase(it);
        return request;
    }
    return nullptr;
}

/// Reads the frame of the next message, if a receive waits for this sender. A message of another tag is then
/// moved to memory of this process, so that it does not hold up the one behind it.
bool Messages::open(int from) {
    Incoming& in = incoming_[std::size_t(from)];
    if (!expects(from)) return false;
    const Area& other = members_.area(from);
    if (!other) return false;
    std::atomic<std::uint64_t>& taken = members_.mine().taken(from);
    const std::uint64_t at = taken.load(std::memory_order_relaxed);
    if (other.produced(members_.rank()).load(std::memory_order_acquire) - at < frame_bytes) return false;
    std::memcpy(&in.frame, other.ring(members_.rank()) + at % ring_bytes, sizeof in.frame);
    note_taken(from, at + frame_bytes);
    in.open = true;
    ++n_open_;
    in.got = 0;
    in.receive = matching(from, in.frame.tag);
    if (!in.receive) {
        in.early.tag = in.frame.tag;
        in.early.data.resize(in.frame.bytes);
    } else {
        check_room(from, in.frame.tag, in.frame.bytes, in.receive->call.out[0]);
    }
    return true;
}

void Messages::check_room(int from, std::int64_t tag, std::uint64_t bytes, const Span& to) const {
    if (bytes <= to.bytes) return;
    throw Error(ErrorCode::shape_mismatch,
                members_.name(from) + " sent " + std::to_string(bytes) + " bytes by tag " +
                    std::to_string(tag) + ", but the receive of " + members_.me() + " has room for " +
                    std::to_string(to.bytes) + "; both sides must give equal sizes.");
}

bool Messages::take(int from) {
    Incoming& in = incoming_[std::size_t(from)];
    const Area& other = members_.area(from);
    const char* ring = other.ring(members_.rank());
    std::atomic<std::uint64_t>& taken = members_.mine().taken(from);
    char* to = in.receive ? in.receive->call.out[0].data : in.early.data.data();
    bool moved = false;
    while (in.got < in.frame.bytes) {
        const std::uint64_t at = taken.load(std::memory_order_relaxed);
        const std::uint64_t there = other.produced(members_.rank()).load(std::memory_order_acquire) - at;
        if (there == 0) break;
        // The sender pads each step to a multiple of a frame. All steps but the last are multiples already.
        const std::uint64_t step = std::min<std::uint64_t>(
            {in.frame.bytes - in.got, there, ring_bytes - at % ring_bytes, burst_bytes});
        std::memcpy(to + in.got, ring + at % ring_bytes, step);
        in.got += step;
        note_taken(from, at + padded(step));
        members_.ring(from);
        moved = true;
    }
    return moved;
}

bool Messages::pull(int from, std::vector<RequestPtr>& complete) {
    Incoming& in = incoming_[std::size_t(from)];
    bool moved = false;
    for (;;) {
        if (!in.open && !open(from)) return moved;
        moved |= take(from);
        if (in.got < in.frame.bytes) return moved;
        moved = true;
        close(from, complete);
    }
}

void Messages::close(int from, std::vector<RequestPtr>& complete) {
    Incoming& in = incoming_[std::size_t(from)];
    in.open = false;
    --n_open_;
    if (!in.receive) {
        in.earlier.push_back(std::move(in.early));
        in.early = {};
        // A receive may have been posted while this message was on its way.
        if (RequestPtr late = matching(from, in.frame.tag)) {
            if (deliver_early(*late))
                complete.push_back(late);
            else
                receives_.push_front(late);
        }
        return;
    }
    in.receive->source = from;
    complete.push_back(std::move(in.receive));
    in.receive = nullptr;
}

/// Completes a receive by a message that arrived before.
bool Messages::deliver_early(Request& request) {
    for (int from = 0; from < members_.n(); ++from) {
        if (request.call.root != from && request.call.root != any_source) continue;
        auto& earlier = incoming_[std::size_t(from)].earlier;
        const auto it = std::find_if(earlier.begin(), earlier.end(),
                                     [&](const Early& early) { return early.tag == request.call.tag; });
        if (it == earlier.end()) continue;
        const Span& to = request.call.out[0];
        check_room(from, it->tag, it->data.size(), to);
        if (!it->data.empty()) std::memcpy(to.data, it->data.data(), it->data.size());
        request.source = from;
        earlier.erase(it);
        return true;
    }
    return false;
}

// ---- ends

std::vector<int> Messages::missing(const Request& request) const {
    std::vector<int> ranks;
    for (int i = 0; i < members_.n(); ++i)
        if (request.call.root == i || (request.call.root == any_source && i != members_.rank()))
            ranks.push_back(i);
    return ranks;
}

std::uint64_t Messages::moved(const Request& request) const {
    std::uint64_t bytes = request.moved;
    for (const Incoming& in : incoming_)
        if (in.receive.get() == &request) bytes += in.got;
    return bytes;
}

std::string Messages::details(const Request& request) {
    const Call& call = request.call;
    const bool sends = call.kind == Kind::send;
    std::string text =
        std::to_string((sends ? call.in : call.out)[0].bytes) + " bytes by tag " + std::to_string(call.tag);
    if (!sends) text += call.root == any_source ? " from any rank" : others_of(request);
    return text;
}

/// The header of a message that has come, and that no receive has begun to take. A sender
/// whose messages a receive searches has none.
std::optional<Messages::Frame> Messages::arrived_from(int sender) const {
    const Area& other = members_.area(sender);
    if (incoming_[std::size_t(sender)].open || !other) return std::nullopt;
    const std::uint64_t at = members_.mine().taken(sender).load(std::memory_order_relaxed);
    if (other.produced(members_.rank()).load(std::memory_order_acquire) - at < frame_bytes)
        return std::nullopt;
    Frame frame{};
    std::memcpy(&frame, other.ring(members_.rank()) + at % ring_bytes, sizeof frame);
    return frame;
}

common::OtherMessage Messages::other_than(const Request& request) const {
    const Call& call = request.call;
    if (call.kind == Kind::send || call.root == any_source) return {};
    if (const auto& earlier = incoming_[std::size_t(call.root)].earlier; !earlier.empty())
        return {.from = call.root, .tag = earlier.front().tag, .bytes = earlier.front().data.size()};
    common::OtherMessage found;
    for (int i = 0; i < members_.n(); ++i) {
        if (i == members_.rank() || i == call.root || expects(i)) continue;
        const std::optional<Frame> frame = arrived_from(i);
        if (!frame) continue;
        if (found.from >= 0) return {};
        found = {.from = i, .tag = frame->tag, .bytes = frame->bytes};
    }
    return found;
}

/// Returns the part of a report about messages that may be meant for the waiting receive. They have another
/// tag, or another sender or receiver.
std::string Messages::others_of(const Request& request) {
    const int sender = request.call.root;
    const common::OtherMessage other = other_than(request);
    if (other.from == sender) return ", while one by tag " + std::to_string(other.tag) + " is here";
    const Area& from = members_.area(sender);
    for (int i = 0; from && i < members_.n(); ++i) {
        const Area& to = members_.area(i);
        if (i == members_.rank() || i == sender || !to || members_.is_far(i)) continue;
        if (from.produced(i).load(std::memory_order_acquire) >
            to.taken(sender).load(std::memory_order_acquire))
            return ", while " + members_.name(i) + " has not received one of " + members_.name(sender);
    }
    return other.from < 0 ? "" : ", while one of " + members_.name(other.from) + " is here";
}

bool Messages::withdraw(const Request& request) {
    const auto is_it = [&](const RequestPtr& other) { return other.get() == &request; };
    if (request.call.kind == Kind::send) {
        auto& queue = sends_[std::size_t(request.call.root)];
        const auto it = std::find_if(queue.begin(), queue.end(), is_it);
        if (it == queue.end() || request.started) return false;
        queue.erase(it);
        --n_sends_;
        return true;
    }
    const auto it = std::find_if(receives_.begin(), receives_.end(), is_it);
    if (it == receives_.end()) return false;
    receives_.erase(it);
    return true;
}

void Messages::append_all(std::vector<RequestPtr>& requests) const {
    for (const auto& queue : sends_) requests.insert(requests.end(), queue.begin(), queue.end());
    requests.insert(requests.end(), receives_.begin(), receives_.end());
    requests.insert(requests.end(), given_.begin(), given_.end());
    for (const Incoming& in : incoming_)
        if (in.receive) requests.push_back(in.receive);
}

void Messages::clear() {
    for (auto& queue : sends_) queue.clear();
    receives_.clear();
    given_.clear();
    for (Incoming& in : incoming_) in = {};
    n_sends_ = 0;
    n_open_ = 0;
}

}  // namespace atl::requests
