#include "core/team/meetings.hpp"

#include "core/base/job_base.hpp"
#include "core/calls/call_text.hpp"
#include "core/team/team_state.hpp"

#include <cstring>

namespace atl::core {

Meetings::Meetings(TeamState& team, ControlBlock* control, int n_pes, int my_pe)
    : recorded(*team.job_base().recorder, team.job_base().meter.get(), team.identity()),
      team_(team),
      job_(team.job_base()),
      control_(control),
      n_pes_(n_pes),
      my_pe_(my_pe) {
    const common::Settings& settings = job_.settings();
    checks_all_ = settings.check == common::CheckLevel::all;
    checks_threads_ = settings.check >= common::CheckLevel::args;
    compared_ = settings.compares_calls() ? ~std::uint32_t{0} : 0;
    oversubscribed_ = job_.topology().machine_pes() > job_.pace().usable_cpus || n_pes > 1 << max_rounds;
}

void Meetings::sync(const Called& call) {
    if (!meets_alike(call, fingerprint_of(call))) [[unlikely]]
        fail_mismatch(call);
}

bool Meetings::meets_alike(const Called& call, std::uint32_t fingerprint) {
    team_.check_alive();
    const Within within(*this, call);
    ++sync_epoch_;
    kind_ = Kind::sync;
    if (!strategy_) return true;
    try {
        const bool alike = strategy_->sync(*this, {call, fingerprint});
        check_overtaken(call.operation());
        return alike;
    } catch (...) {
        mark_broken();  // this PE has arrived and cannot undo that
        throw;
    }
}

void Meetings::exchange(const Called& call, const void* mine, std::size_t bytes) {
    team_.check_alive();
    if (!exchange_alike(call, {mine, bytes})) [[unlikely]]
        fail_mismatch(call);
}

bool Meetings::exchange_alike(const Called& call, Data data) {
    const Within within(*this, call);
    ++exchange_epoch_;
    if (!strategy_) {
        exchanged_ = lines();
        write(exchanged_, data);
        return true;
    }
    if (strategy_ != &far) [[likely]]
        kind_ = Kind::exchange;  // parts of several hosts meet by the words of sync
    try {
        const bool alike = strategy_->exchange(*this, {call, fingerprint_of(call)}, data);
        check_overtaken(call.operation());
        return alike;
    } catch (...) {
        mark_broken();  // others may have read this PE's line already
        throw;
    }
}

void Meetings::write(const Passed& passed, Data data) const {
    unsigned char* line = passed.at(my_pe_);
    if (data.mine != nullptr && data.bytes == 8)
        std::memcpy(line, data.mine, 8);  // one store: the most frequent size
    else if (data.mine != nullptr && data.bytes != 0)
        std::memcpy(line, data.mine, data.bytes);
}

void Meetings::agree(const CallRecord& record) {
    static constexpr Called agreement("agree");
    const Called call =
        Called::named(lasting_name(record), agreement, {record.a, record.b, record.c, record.d});
    const Within within(*this, call);
    recorded.set_arguments(call);
    exchange(call, &record, sizeof record);
    const auto record_of = [&](int i) {
        CallRecord found;
        std::memcpy(&found, exchanged(i), sizeof found);
        return found;
    };
    // All members name the same two, unless the first member's record is invalid.
    const int first = is_record(record_of(0)) ? 0 : my_pe_;
    const CallRecord expected = record_of(first);
    for (int i = 0; i < n_pes_; ++i) {
        const CallRecord other = record_of(i);
        if (std::memcmp(&expected, &other, sizeof other) == 0) continue;
        if (compared_ != 0) fail_mismatch(call);  // all members compare, so all take part
        throw Error(ErrorCode::collective_mismatch,
                    mismatch_text(team_.name(), {team_.world_pe(first), expected, {}},
                                  {team_.world_pe(i), other, {}}));
    }
}

}  // namespace atl::core
