#include "collective/messages/channel.hpp"

#include "collective/messages/far_channel.hpp"
#include "common/futex.hpp"
#include "common/text.hpp"
#include "core/calls/call_text.hpp"

#include <algorithm>
#include <cstring>

namespace atl::collective {

namespace {

/// The cells of a ring: as many as fit into a second-level cache; fewer in big teams, which may have many
/// channels.
std::uint32_t ring_for(int n_pes) { return n_pes <= 16 ? 16 : 4; }

/// Wakes member `pe` if it sleeps until messages arrive. The load is not ordered after the preceding stores.
/// A member that falls asleep at this moment is missed, and wakes by SlowWait's time-out. A barrier here
/// would slow down every message.
void ring_doorbell(core::TeamState& team, int pe) {
    detail::Flag& bell = team.member(pe).doorbell.flag;
    if (bell.sleepers.load(std::memory_order_seq_cst) == 0) return;
    bell.value.fetch_add(1, std::memory_order_acq_rel);
    common::futex_wake_all(bell.value);
}

}  // namespace

Messages& Messages::of(core::TeamState& team) {
    std::call_once(team.messages_once, [&] { team.messages = std::make_unique<Messages>(team); });
    return static_cast<Messages&>(*team.messages);
}

Messages::Messages(core::TeamState& team)
    : team_(team),
      ring_(ring_for(team.n_pes())),
      senders_(static_cast<std::size_t>(team.n_pes())),
      receivers_(static_cast<std::size_t>(team.n_pes())) {}

void Messages::release() noexcept {
    for (const Endpoint& end : senders_)
        if (end.channel) team_.job().arena().free(end.channel);
    if (outbox_) team_.job().arena().free(outbox_);
}

/// Requests delivery of notifications and returned cells. Without it they could overwrite later memory at
/// that address after the team's end.
void Messages::subscribe() {
    const core::Spread& spread = *team_.spread();
    for (int pe = 0; pe < team_.n_pes(); ++pe) {
        if (spread.is_local(pe)) continue;
        if (sender(pe).cells != 0) spread.subscribe(spread.first_of_part(pe));
        if (receiver(pe).cells != 0) spread.subscribe(pe);
    }
}

void Messages::open(int pe) {
    core::JobState& job = team_.job();
    const std::lock_guard lock(mutex_);
    if (team_.spread()) {  // the notification will contain its address
        sender(pe).channel = static_cast<Channel*>(job.arena().allocate(Channel::total_bytes(ring_)));
        return;
    }
    if (!outbox_) {
        outbox_ = static_cast<Entry*>(
            job.arena().allocate(sizeof(Entry) * static_cast<std::size_t>(team_.n_pes())));
        team_.member(team_.my_pe()).outbox.store(job.arena().offset(outbox_) + 1, std::memory_order_release);
    }
    auto* channel = static_cast<Channel*>(job.arena().allocate(Channel::total_bytes(ring_)));
    sender(pe).channel = channel;
    outbox_[pe].store(job.arena().offset(channel) + 1, std::memory_order_release);
}

/// Null until `pe` has made its channel to this PE.
Channel* Messages::channel_from(int pe) {
    core::JobState& job = team_.job();
    const std::uint64_t table = team_.member(pe).outbox.load(std::memory_order_acquire);
    if (table == 0) return nullptr;
    const int owner = team_.world_pe(pe);
    auto* entries = static_cast<Entry*>(job.arena().address(owner, table - 1));
    const std::uint64_t channel = entries[team_.my_pe()].load(std::memory_order_acquire);
    return channel == 0 ? nullptr : static_cast<Channel*>(job.arena().address(owner, channel - 1));
}

bool Messages::find(int pe) {
    receiver(pe).channel = channel_from(pe);
    return receiver(pe).channel != nullptr;
}

common::OtherMessage Messages::other_than(int awaited) {
    common::OtherMessage found;
    for (int pe = 0; pe < team_.n_pes(); ++pe) {
        if (pe == awaited || pe == team_.my_pe()) continue;
        Channel* const channel = channel_from(pe);
        if (channel == nullptr) continue;
        const std::uint32_t cells = receiver(pe).cells.load(std::memory_order_relaxed);
        const Cell& cell = channel->cell(cells % ring_);
        if (cell.number.load(std::memory_order_acquire) != cells + 1) continue;
        if (found.from >= 0) return {};
        found = {.from = team_.world_pe(pe), .bytes = cell.message_bytes};
    }
    return found;
}

Transfer::Transfer(Messages& messages, const MessageGroup::Message& message)
    : messages_(&messages),
      data_(static_cast<char*>(message.data)),
      bytes_(message.bytes),
      pe_(message.pe),
      is_send_(message.is_send),
      compares_(messages.team().job().settings().compares_calls()),
      elements_(message.elements) {
    check_usable();
    const core::Spread* spread = messages.team().spread();
    if (!spread) return;
    far_ = !spread->is_local(pe_);
    if (far_) return;
    messages_ = &Messages::of(spread->local());
    pe_ = spread->local_index(pe_);
    check_usable();
}

void Transfer::check_usable() const {
    const core::TeamState& team = messages_->team();
    if (static_cast<unsigned>(pe_) >= static_cast<unsigned>(team.n_pes()))
        detail::throw_pe(pe_, team.n_pes());
    if (endpoint().broken)
        throw Error(ErrorCode::invalid_argument, std::string("Messages ") + (is_send_ ? "to" : "from") +
                                                     " PE " + std::to_string(pe_) + " of " + team.name() +
                                                     " are out of step since an earlier call ended by an "
                                                     "error in the middle of one. Use a new team.");
}

bool Transfer::same_elements() const {
    return !compares_ || message_bytes_ == 0 || core::are_same(message_elements_, elements_);
}

void Transfer::check_received() const {
    if (is_send_ || (message_bytes_ == bytes_ && same_elements())) return;
    const bool differ = !same_elements();
    const auto described = [&](std::uint64_t bytes, const MessageElements& elements) {
        std::string text = std::to_string(bytes) + " bytes";
        if (!differ) return text;
        return text + " of " + core::elements_text(core::elements_of(elements));
    };
    throw Error(message_bytes_ == bytes_ ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
                "The message from PE " + std::to_string(pe_) + " has " +
                    described(message_bytes_, message_elements_) + ", the buffer of recv " +
                    described(bytes_, elements_) +
                    "; they must be equal. The message was taken and dropped; later ones can be received.");
}

Transfer::Progress Transfer::advance() { return is_send_ ? send() : receive(); }

Transfer::Progress Transfer::send() {
    Endpoint& end = endpoint();
    if (!end.channel) messages_->open(pe_);
    const std::uint32_t ring = messages_->ring();
    std::uint32_t cells = end.cells.load(std::memory_order_relaxed);
    auto progress = Progress::stuck;
    for (;;) {
        if (cells - end.taken == ring) {
            end.taken = end.channel->taken.load(std::memory_order_acquire);
            if (cells - end.taken == ring) return progress;
        }
        Cell& cell = end.channel->cell(cells % ring);
        const std::size_t length = std::min(Cell::data_bytes, bytes_ - moved_);
        cell.head = Head(length, elements_).word();
        cell.message_bytes = bytes_;
        if (length != 0) std::memcpy(cell.data, data_ + moved_, length);
        end.cells.store(++cells, std::memory_order_relaxed);
        cell.number.store(cells, std::memory_order_release);
        if (far_)
            notify(messages_->team(), pe_, end.channel, cells);
        else
            ring_doorbell(messages_->team(), pe_);
        begun_ = true;
        moved_ += length;
        progress = Progress::moved;
        if (moved_ == bytes_) break;
    }
    done_ = true;
    return Progress::done;
}

const Cell* Transfer::next_cell() {
    Endpoint& end = endpoint();
    const std::uint32_t cells = end.cells.load(std::memory_order_relaxed);
    if (far_) {
        core::TeamState& team = messages_->team();
        if (static_cast<std::int32_t>(read_notification(team, pe_) - cells) <= 0) return nullptr;
        if (!end.fetched) end.fetched = std::make_unique<Cell>();
        fetch_cell(team, pe_, cells % messages_->ring(), *end.fetched);
        return end.fetched.get();
    }
    if (!end.channel && !messages_->find(pe_)) return nullptr;
    const Cell& cell = end.channel->cell(cells % messages_->ring());
    return cell.number.load(std::memory_order_acquire) == cells + 1 ? &cell : nullptr;
}

void Transfer::release_cells() {
    Endpoint& end = endpoint();
    const std::uint32_t cells = end.cells.load(std::memory_order_relaxed) + 1;
    end.cells.store(cells, std::memory_order_relaxed);
    if (far_) return return_cells(messages_->team(), pe_, cells);
    end.channel->taken.store(cells, std::memory_order_release);
    ring_doorbell(messages_->team(), pe_);
}

Transfer::Progress Transfer::receive() {
    auto progress = Progress::stuck;
    for (;;) {
        const Cell* cell = next_cell();
        if (!cell) return progress;
        const Head head(cell->head);
        const std::size_t length = head.length();
        message_bytes_ = cell->message_bytes;
        message_elements_ = head.elements();
        // A message of another size or dtype is received too, so that the next one can be.
        if (message_bytes_ == bytes_ && length != 0 && same_elements())
            std::memcpy(data_ + moved_, cell->data, length);
        release_cells();
        begun_ = true;
        moved_ += length;
        progress = Progress::moved;
        if (moved_ == message_bytes_) break;
    }
    done_ = true;
    return Progress::done;
}

}  // namespace atl::collective
