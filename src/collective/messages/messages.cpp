// send and recv, and groups of them.
#include "atoll/detail/measured.hpp"

#include "collective/messages/channel.hpp"
#include "core/context/host_only.hpp"
#include "core/sync/wait_on_board.hpp"

#include <exception>
#include <vector>

namespace atl {

namespace {

using collective::Messages;
using collective::Transfer;
using Progress = Transfer::Progress;

/// Calls `advance` until it is done. Sleeps on this PE's doorbell; a partner that finds the PE asleep rings
/// it. Progress restarts the time-out, which therefore means that nothing moved for so long.
/// `find_other` finds the message that a long wait shows.
template <class Advance, class Find>
void drive(core::TeamState& team, const detail::WaitReason& reason, Advance&& advance, Find&& find_other) {
    core::JobState& job = team.job();
    core::TeamState& near = team.spread() ? team.spread()->local() : team;
    detail::Flag& bell = near.member(near.my_pe()).doorbell.flag;
    for (;;) {
        for (int i = 0, spins = job.pace().spins; i <= spins;) {
            const Progress progress = advance();
            if (progress == Progress::done) return;
            i = progress == Progress::moved ? 0 : i + 1;
            if (i >= detail::tight_spins) detail::cpu_pause();
        }
        const core::ShownMessage::Find find(find_other);
        const core::ShownMessage shown(find);
        detail::SlowWait slow(job, reason, -1);
        for (auto progress = Progress::stuck; progress == Progress::stuck;) {
            if (slow.must_sleep()) {
                const std::uint32_t seen = bell.value.load(std::memory_order_acquire);
                bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
                try {
                    progress = advance();
                } catch (...) {
                    bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
                    throw;
                }
                if (progress == Progress::stuck) slow.sleep_on(bell.value, seen);
                bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
            }
            if (progress == Progress::stuck) progress = advance();
            if (progress == Progress::done) return;
        }
    }
}

void transfer(core::TeamState& team, const MessageGroup::Message& message) {
    const bool is_send = message.is_send;
    team.check_alive();
    core::refuse_gpu_memory(team.job(), is_send ? "send" : "recv", message.data);
    Transfer one(Messages::of(team), message);
    detail::Measured measured(team.job(), team.job().window().counts, detail::Measured::Kind::call,
                              is_send ? "send" : "recv", message.bytes, one.world_pe());
    measured.set_subject(nullptr, team.meetings().recorded.team());
    detail::WaitReason reason;
    reason.operation = is_send ? "send" : "recv";
    reason.team = team.number();
    reason.peer = one.world_pe();
    try {
        drive(
            team, reason, [&] { return one.advance(); }, [&] { return one.other(); });
    } catch (...) {
        one.abandon();
        throw;
    }
    one.check_received();
}

/// The messages of a group, which advance together. Those between the same two PEs in the same direction keep
/// their order.
class RunningGroup {
  public:
    RunningGroup(core::TeamState& team, const std::vector<MessageGroup::Message>& messages) : team_(team) {
        for (const auto& m : messages)
            core::refuse_gpu_memory(team.job(), m.is_send ? "send" : "recv", m.data);
        Messages& channels = Messages::of(team);
        transfers_.reserve(messages.size());
        for (const auto& m : messages) transfers_.emplace_back(channels, m);
    }

    void run() {
        detail::WaitReason reason;
        reason.operation = "message group";
        reason.team = team_.number();
        reason.missing = &RunningGroup::missing;
        reason.argument = this;
        try {
            drive(
                team_, reason, [this] { return advance(); }, [] { return common::OtherMessage(); });
        } catch (...) {
            for (Transfer& t : transfers_) t.abandon();
            throw;
        }
        for (const Transfer& t : transfers_) t.check_received();
    }

  private:
    Progress advance() {
        bool moved = false;
        bool all_done = true;
        static thread_local std::uint64_t sweeps = 0;
        const std::uint64_t sweep = ++sweeps;
        for (Transfer& t : transfers_) {
            if (t.done()) continue;
            collective::Endpoint& end = t.endpoint();
            if (end.blocked != sweep) {
                const Progress progress = t.advance();
                moved |= progress != Progress::stuck;
                if (progress == Progress::done) continue;
                end.blocked = sweep;
            }
            all_done = false;
        }
        return all_done ? Progress::done : moved ? Progress::moved : Progress::stuck;
    }

    static int missing(const void* argument, int* pes, int most) {
        const auto& group = *static_cast<const RunningGroup*>(argument);
        int count = 0;
        for (const Transfer& t : group.transfers_)
            if (!t.done() && count < most) pes[count++] = t.world_pe();
        return count;
    }

    core::TeamState& team_;
    std::vector<Transfer> transfers_;
};

}  // namespace

void Team::send_bytes(const void* src, std::size_t bytes, int pe, MessageElements elements) const {
    transfer(state(), {const_cast<void*>(src), bytes, pe, true, elements});
}

void Team::recv_bytes(void* dst, std::size_t bytes, int pe, MessageElements elements) const {
    transfer(state(), {dst, bytes, pe, false, elements});
}

void MessageGroup::run() {
    const std::vector<Message> messages = std::move(messages_);
    messages_.clear();
    team_.state().check_alive();
    std::size_t bytes = 0;
    for (const Message& message : messages) bytes += message.bytes;
    core::JobState& job = team_.state().job();
    const detail::Measured measured(job, job.window().counts, detail::Measured::Kind::call, "message group",
                                    bytes);
    RunningGroup(team_.state(), messages).run();
}

}  // namespace atl
