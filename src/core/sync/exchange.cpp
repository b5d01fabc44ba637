// Exchange: a meeting with a few bytes from each member. Every member writes its line, then reads all lines.
//
// A member's two lines alternate. Line e is reused at e + 2. Its owner gets there only after it has seen
// every member's flag for e + 1. A member sets that flag after it has finished with e. So no line is
// overwritten unread.
#include "core/job/job_state.hpp"
#include "core/team/call_text.hpp"
#include "core/team/team_state.hpp"

#include <cstring>

namespace atl::core {

void TeamState::exchange(const Called& call, const void* mine, std::size_t bytes) {
    check_alive();
    if (!exchange_alike(call, mine, bytes)) [[unlikely]]
        fail_mismatch(call);
}

bool TeamState::exchange_alike(const Called& call, const void* mine, std::size_t bytes) {
    const Within within(*this, call);
    if (spread_) [[unlikely]]
        return exchange_spread(call, mine, bytes);
    ++exchange_epoch_;
    const bool in_pair = meets_in_pair() && bytes <= pair_bytes;
    const bool packed =
        crowded_ && n_pes() > 1 && bytes * static_cast<std::size_t>(n_pes()) <= exchange_bytes;
    way_ = Way::exchange;
    if (in_pair)
        clear_line_of_old(exchange_epoch_ & 1);
    else
        line_is_old_[exchange_epoch_ & 1] = true;
    packed_bytes_ = packed ? bytes : 0;
    const Passed passed = in_pair ? passed_in_pair() : passed_in_lines();
    exchanged_ = packed ? Passed{control_->exchange_release.data, bytes} : passed;
    unsigned char* line = passed.at(my_pe_);
    if (mine != nullptr && bytes == 8)
        std::memcpy(line, mine, 8);  // one store: the most frequent size
    else if (mine != nullptr && bytes != 0)
        std::memcpy(line, mine, bytes);
    if (n_pes() == 1) return true;
    try {
        const bool alike = meet_to_exchange({call, fingerprint_of(call)});
        check_overtaken(call.operation());
        return alike;
    } catch (...) {
        mark_broken();  // others may have read this PE's line already
        throw;
    }
}

/// Clears what an earlier call left in this PE's line. A member of a pair that passes more, in another call,
/// reads this line. With ATOLL_CHECK=none only its contents show that the calls differ.
void TeamState::clear_line_of_old(std::uint32_t parity) noexcept {
    if (!line_is_old_[parity]) [[likely]]
        return;
    std::memset(member(my_pe_).exchange[parity].data, 0, exchange_bytes);
    line_is_old_[parity] = false;
}

bool TeamState::exchange_spread(const Called& call, const void* mine, std::size_t bytes) {
    ++exchange_epoch_;
    try {
        const bool alike = spread_->exchange(call, fingerprint_of(call), mine, bytes);
        check_overtaken(call.operation());
        exchanged_ = {spread_->rows(), exchange_bytes};
        return alike;
    } catch (...) {
        mark_broken();
        throw;
    }
}

/// Two members meet by one line whatever they pass, so that those that pass different sizes meet, too.
bool TeamState::meet_to_exchange(Arrival mine) {
    const std::uint32_t epoch = exchange_epoch_;
    if (meets_in_pair()) return meet_in_pair(control_->pair_exchange, epoch, mine);
    if (crowded_)
        return meet_in_groups(
            epoch, mine,
            {&GroupLine::at_exchange, &GroupsLine::at_exchange, control_->exchange_release.flag,
             control_->exchange_release.call,
             [](MemberBlock& m, std::uint32_t e) -> detail::Flag& { return m.exchange[e & 1].flag; },
             &missing_at_exchange, packed_bytes_ != 0});
    ExchangeLine& line = member(my_pe_).exchange[epoch & 1];
    line.call = mine.fingerprint;
    set_flag(line.flag, epoch);
    return wait_exchange_lines(epoch, mine);
}

bool TeamState::wait_exchange_lines(std::uint32_t epoch, Arrival mine) {
    bool alike = true;
    for (int k = 1; k < n_pes(); ++k) {
        const int i = my_pe_ + k < n_pes() ? my_pe_ + k : my_pe_ + k - n_pes();
        ExchangeLine& theirs = member(i).exchange[epoch & 1];
        wait_flag(mine.call, theirs.flag, epoch, i);
        alike &= theirs.call == mine.fingerprint;
    }
    return alike;
}

int TeamState::missing_at_exchange(const void* waiting, int* pes, int most) {
    TeamState& team = static_cast<const Waiting*>(waiting)->team;
    const std::uint32_t epoch = team.exchange_epoch_;
    int count = 0;
    for (int i = 0; i < team.n_pes() && count < most; ++i)
        if (team.member(i).exchange[epoch & 1].flag.value.load(std::memory_order_acquire) != epoch)
            pes[count++] = team.world_pe(i);
    return count;
}

void TeamState::agree(const CallRecord& record) {
    static constexpr Called agreement("agree");
    const Called call =
        Called::named(lasting_name(record), agreement, {record.a, record.b, record.c, record.d});
    exchange(call, &record, sizeof record);
    const auto said_by = [&](int i) {
        CallRecord said;
        std::memcpy(&said, exchanged(i), sizeof said);
        return said;
    };
    // All members name the same two, unless the first member's record is invalid.
    const int first = is_record(said_by(0)) ? 0 : my_pe_;
    const CallRecord expected = said_by(first);
    for (int i = 0; i < n_pes(); ++i) {
        const CallRecord other = said_by(i);
        if (std::memcmp(&expected, &other, sizeof other) == 0) continue;
        if (compared_ != 0) fail_mismatch(call);  // all have agreed to compare, so all come
        throw Error(ErrorCode::collective_mismatch,
                    mismatch_text(name(), {world_pe(first), expected, {}}, {world_pe(i), other, {}}));
    }
}

}  // namespace atl::core
