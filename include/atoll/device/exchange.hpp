// Exchange: the basis of small collectives. Every member sends every other a message of flagged words, in
// slots of the team's control blocks. Calls alternate between two slots, so a slot is reused two calls later.
// By then its writer has received the reader's message of the call in between. The reader sent that message
// after it had read the slot, so no credit is needed.
#pragma once

#include "atoll/device/scope.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

/// Loads bytes from 8 * i on of an array of any alignment. Bytes past its end are 0.
ATOLL_ANYWHERE inline unsigned long long load_part(const void* from, unsigned long long bytes,
                                                   unsigned long long i) {
    const char* at = static_cast<const char*>(from) + 8 * i;
    unsigned long long data = 0;
    if (i < bytes / 8 && reinterpret_cast<unsigned long long>(at) % 8 == 0)
        return reinterpret_cast<const Raw<unsigned long long>*>(at)->word;
    for (unsigned k = 0; k < 8 && 8 * i + k < bytes; ++k)
        data |= static_cast<unsigned long long>(static_cast<unsigned char>(at[k])) << (8 * k);
    return data;
}
ATOLL_ANYWHERE inline void store_part(void* to, unsigned long long bytes, unsigned long long i,
                                      unsigned long long data) {
    char* at = static_cast<char*>(to) + 8 * i;
    if (i < bytes / 8 && reinterpret_cast<unsigned long long>(at) % 8 == 0)
        reinterpret_cast<Raw<unsigned long long>*>(at)->word = data;
    else
        for (unsigned k = 0; k < 8 && 8 * i + k < bytes; ++k) at[k] = static_cast<char>(data >> (8 * k));
}

/// True if all parts of an array are 8-byte words: tested once, not for each part.
ATOLL_ANYWHERE inline bool has_whole_parts(const void* array, unsigned long long bytes) {
    return bytes != 0 && (reinterpret_cast<unsigned long long>(array) | bytes) % 8 == 0;
}

/// Number of parts that a thread has in flight.
constexpr unsigned parts_at_once = 2;

/// Loads the parts i, i + step … that exist, of an array with whole parts.
ATOLL_ANYWHERE inline void load_parts(const void* from, unsigned i, unsigned step, unsigned pairs,
                                      unsigned long long* data) {
    const auto* at = static_cast<const Raw<unsigned long long>*>(from) + i;
    for (unsigned k = 0; k < parts_at_once; ++k)
        if (i + k * step < pairs) data[k] = at[static_cast<unsigned long long>(k) * step].word;
}
/// Number of word pairs of a message. An empty message has one, too.
ATOLL_ANYWHERE inline unsigned long long pairs_of(unsigned long long bytes) {
    return bytes == 0 ? 1 : (bytes + 7) / 8;
}
/// True if message `number` must fill its whole slot, one of `Slots` used in turn. Flags are 32 bits of the
/// number. Short messages leave words with old flags behind. A refresh every 2^30 messages overwrites them
/// long before the number wraps.
template <unsigned Slots, class Number> ATOLL_ANYWHERE bool is_refreshing(Number number) {
    return (number & 0x3fffffffu) < Slots && number >= Slots;
}
/// Number of pairs that message `number` sends in a slot of `room` bytes.
template <unsigned Slots, class Number>
ATOLL_ANYWHERE unsigned pairs_to_send(unsigned long long room, unsigned long long bytes, Number number) {
    return static_cast<unsigned>(pairs_of(is_refreshing<Slots>(number) ? room : bytes));
}

/// One call of a small collective, seen from one thread of the scope.
template <class Scope> class Exchange {
  public:
    ATOLL_ANYWHERE Exchange(const Team& team, Scope scope, const Call& call)
        : team_(team), scope_(scope), call_(call), epoch_(team.control->exchange_epoch + 1) {}

    /// Longest message to one member.
    static ATOLL_ANYWHERE unsigned long long most_bytes(const Team& team) {
        return 8ull * ControlLayout{team.n_pes}.slot_pairs();
    }

    /// Sends `bytes` bytes at source(pe) to each other member; 0 bytes are a message too.
    template <class SourceOf> ATOLL_ANYWHERE void send(unsigned long long bytes, SourceOf source) const {
        const unsigned pairs = pairs_to_send<2>(most_bytes(team_), bytes, epoch_);
        const unsigned all = pairs * static_cast<unsigned>(team_.n_pes);
        for (unsigned k = scope_.rank(); k < all; k += scope_.size()) {
            const int pe = static_cast<int>(k / pairs);
            const unsigned i = k % pairs;
            if (pe == team_.my_pe) continue;
            const unsigned long long data = bytes == 0 ? 0 : load_part(source(pe), bytes, i);
            store_flagged(at(team_, slot_from(team_.my_pe), pe) + i, data, epoch_);
        }
    }
    /// Returns bytes from 8 * i on of the message from `pe`, once they have arrived.
    ATOLL_ANYWHERE unsigned long long part(int pe, unsigned i) const {
        const FlaggedPair* from = slot_from(pe) + i;
        unsigned long long data = 0;
        spin(
            team_, [&] { return load_flagged(from, epoch_, data); },
            [&] { return waiting(team_.control, call_, from, pe); });
        return data;
    }
    /// Calls take(pe, i, data) for all parts of all messages, divided among the threads. bytes_from(pe) is
    /// the length of each message.
    template <class BytesFrom, class Take>
    ATOLL_ANYWHERE void receive(unsigned long long most, BytesFrom bytes_from, Take take) const {
        const auto pairs = static_cast<unsigned>(pairs_of(most));
        const unsigned all = pairs * static_cast<unsigned>(team_.n_pes);
        for (unsigned k = scope_.rank(); k < all; k += scope_.size()) {
            const int pe = static_cast<int>(k / pairs);
            const unsigned i = k % pairs;
            if (pe == team_.my_pe || i >= pairs_of(bytes_from(pe))) continue;
            take(pe, i, part(pe, i));
        }
    }
    /// Ends the call, once the scope's threads have all read.
    ATOLL_ANYWHERE void end() const {
        scope_.sync();
        team_.control->exchange_epoch = epoch_;  // by every thread, see sync
    }

  private:
    ATOLL_ANYWHERE FlaggedPair* slot_from(int pe) const {
        const ControlLayout at{team_.n_pes};
        return array_at<FlaggedPair>(team_.control, at.slots()) + (epoch_ & 1) * at.area_pairs() +
               static_cast<unsigned>(pe) * at.slot_pairs();
    }

    const Team& team_;
    Scope scope_;
    Call call_;
    unsigned epoch_;
};

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
