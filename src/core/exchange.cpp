// Meeting with a few bytes each: every member writes its line, then reads everybody's.
//
// A member's two lines alternate. Line e is written again at e + 2, which its owner reaches only after it has
// seen every member's flag for e + 1; and a member sets that one after it has finished with e. So nothing is
// overwritten unread.
#include "core/call_text.hpp"
#include "core/job_state.hpp"
#include "core/team_state.hpp"

#include <cstring>

namespace atl::core {

void TeamState::exchange(const char* operation, const void* mine, std::size_t bytes) {
    check_alive();
    if (spread_) [[unlikely]]
        return exchange_spread(operation, mine, bytes);
    const std::uint32_t epoch = ++exchange_epoch_;
    const bool in_pair = !crowded_ && n_pes() == 2 && bytes <= pair_bytes;
    const bool packed =
        crowded_ && n_pes() > 1 && bytes * static_cast<std::size_t>(n_pes()) <= exchange_bytes;
    packed_bytes_ = packed ? bytes : 0;
    pair_ = in_pair ? &control_->pair_exchange[epoch & 1] : nullptr;
    const Passed passed = in_pair ? passed_in_pair() : passed_in_lines();
    exchanged_ = packed ? Passed{control_->exchange_release.data, bytes} : passed;
    unsigned char* line = passed.at(my_pe_);
    if (mine != nullptr && bytes == 8)
        std::memcpy(line, mine, 8);  // one store: the commonest size on the path where nanoseconds count
    else if (mine != nullptr && bytes != 0)
        std::memcpy(line, mine, bytes);
    if (n_pes() == 1) return;
    try {
        meet(operation, epoch);
    } catch (...) {
        broken_ = true;  // others may have read this PE's line already
        throw;
    }
}

void TeamState::exchange_spread(const char* operation, const void* mine, std::size_t bytes) {
    try {
        spread_->exchange(operation, mine, bytes);
    } catch (...) {
        broken_ = true;
        throw;
    }
    exchanged_ = {spread_->rows(), exchange_bytes};
}

/// A pair has two kinds of flags, by size, and one count of epochs. What was not used for 2^31 exchanges
/// would pass for reached, so both kinds are brought up to date now and then.
constexpr std::uint32_t renewal = 1u << 20;

void TeamState::renew_flags(std::uint32_t epoch) {
    auto& unused = pair_ ? member(my_pe_).exchange[epoch & 1].flag
                         : control_->pair_exchange[epoch & 1].half[my_pe_].flag;
    unused.value.store(epoch, std::memory_order_relaxed);
}

void TeamState::meet(const char* operation, std::uint32_t epoch) {
    if (!crowded_ && n_pes() == 2 && epoch % renewal < 2) renew_flags(epoch);
    if (pair_) return meet_in_pair(operation, *pair_, epoch);
    if (crowded_)
        return meet_in_groups(
            operation, epoch,
            {&GroupLine::at_exchange, &GroupsLine::at_exchange, control_->exchange_release.flag,
             [](MemberBlock& m, std::uint32_t e) -> detail::Flag& { return m.exchange[e & 1].flag; },
             &missing_at_exchange, packed_bytes_ != 0});
    set_flag(member(my_pe_).exchange[epoch & 1].flag, epoch);
    wait_exchange_lines(operation, epoch);
}

void TeamState::wait_exchange_lines(const char* operation, std::uint32_t epoch) {
    for (int k = 1; k < n_pes(); ++k) {
        const int i = my_pe_ + k < n_pes() ? my_pe_ + k : my_pe_ + k - n_pes();
        wait_flag(operation, member(i).exchange[epoch & 1].flag, epoch, i);
    }
}

int TeamState::missing_at_exchange(const void* argument, int* pes, int most) {
    auto& team = *const_cast<TeamState*>(static_cast<const TeamState*>(argument));
    const std::uint32_t epoch = team.exchange_epoch_;
    int count = 0;
    for (int i = 0; i < team.n_pes() && count < most; ++i)
        if (team.member(i).exchange[epoch & 1].flag.value.load(std::memory_order_acquire) != epoch)
            pes[count++] = team.world_pe(i);
    return count;
}

void TeamState::agree(const CallRecord& record) {
    exchange(record.operation, &record, sizeof record);
    const auto said_by = [&](int i) {
        CallRecord said;
        std::memcpy(&said, exchanged(i), sizeof said);
        return said;
    };
    // All members name the same two, unless the first one's record is none.
    const int first = is_record(said_by(0)) ? 0 : my_pe_;
    const CallRecord expected = said_by(first);
    for (int i = 0; i < n_pes(); ++i) {
        const CallRecord other = said_by(i);
        if (std::memcmp(&expected, &other, sizeof other) == 0) continue;
        throw Error(
            ErrorCode::collective_mismatch,
            "PEs called a collective of " + name() + " differently: PE " + std::to_string(world_pe(first)) +
                call_text(expected) + ", PE " + std::to_string(world_pe(i)) + call_text(other) +
                difference_text(expected, other) +
                "; all PEs must make the same collective calls in the same order with the same arguments.");
    }
}

}  // namespace atl::core
