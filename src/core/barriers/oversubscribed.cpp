// Meetings of PEs that outnumber cores. Each core's members count on one counter, the cores on another,
// and all but the last sleep on one word (docs/decisions/0013-oversubscribed-meetings.md).
// Measured in docs/measurements/2026-11-24-oversubscribed.md.
//
// A turn of the scheduler costs more than anything else. The minimum for two PEs a core is one turn per core
// and meeting. So the last to enter on its core stays, passes, and enters the next meeting before it yields.
// It must therefore outwait later cores, but not when the awaited PEs need its own core. The second cost is
// cache lines between cores: with one counter a core, there is one to arrive and one to be released. These
// also carry an exchange's data if it fits.
#include "atoll/detail/memory_ops.hpp"
#include "common/clock.hpp"
#include "core/barriers/strategies.hpp"
#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

namespace atl::core {

using detail::reached;

namespace {

/// When this thread may move itself again. The system may move it back for reasons of its own, so the pause
/// grows each time.
struct Moves {
    std::uint64_t next_ns = 0;
    std::uint64_t pause_ns = 1'000'000;
    static constexpr std::uint64_t most_pause_ns = 1'000'000'000;

    bool may_move() {
        const std::uint64_t now = common::now_ns();
        if (now < next_ns) return false;
        next_ns = now + pause_ns;
        pause_ns = std::min(2 * pause_ns, most_pause_ns);
        return true;
    }
};
thread_local Moves moves;

/// The allowed core with the fewest members if this thread is better off there; else -1.
int less_loaded_core(const cpu_set_t& allowed, std::span<const std::uint16_t> members, int core) {
    int best = -1;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed) &&
            (best < 0 || members[static_cast<std::size_t>(i)] < members[static_cast<std::size_t>(best)]))
            best = i;
    return best >= 0 && members[static_cast<std::size_t>(best)] + 1 < members[static_cast<std::size_t>(core)]
               ? best
               : -1;
}

/// Moves this thread to a less crowded core. Three members on one core and one on another take three turns
/// instead of two, and the system may leave them so for long. Afterwards the thread may run on all allowed
/// cores again.
void move_away(ControlBlock& control, int n_pes, CoreLine& mine) {
    if (!moves.may_move()) return;
    std::array<std::uint16_t, CPU_SETSIZE> members{};
    for (int i = 0; i < n_pes; ++i) {
        const int core = control.member(i).core_line.core.load(std::memory_order_relaxed);
        if (core >= 0 && core < CPU_SETSIZE) ++members[static_cast<std::size_t>(core)];
    }
    const int core = mine.core.load(std::memory_order_relaxed);
    cpu_set_t allowed;
    if (core < 0 || core >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int better = less_loaded_core(allowed, members, core);
    if (better < 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(better, &one);
    mine.core.store(better, std::memory_order_relaxed);
    control.groups.moved.store(1, std::memory_order_release);  // before the next member on this core polls
    if (::sched_setaffinity(0, sizeof one, &one) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

/// Copies by atomic stores. Two groups write to the same bytes if their members pass data of different sizes;
/// that meeting ends by an error.
void store(unsigned char* to, const unsigned char* from, std::size_t bytes) {
    const std::size_t step = bytes % sizeof(std::uint64_t) == 0 ? sizeof(std::uint64_t) : 1;
    for (std::size_t i = 0; i < bytes; i += step) detail::copy(to + i, from + i, step);
}

}  // namespace

bool Meetings::Oversubscribed::meet(Meetings& m, std::uint32_t epoch, Arrival mine,
                                    const GroupMeeting& meeting) {
    const std::uint32_t call = mine.fingerprint;
    note_core(m);
    MemberBlock& me = m.member(m.my_pe_);
    meeting.arrived(me, epoch).value.store(epoch, std::memory_order_release);
    const int home = me.core_line.group.load(std::memory_order_relaxed);
    GroupLine& group = m.member(home).group;
    const std::uint32_t size = group.size.load(std::memory_order_relaxed);
    const std::uint32_t members = size != 0 ? size : static_cast<std::uint32_t>(m.n_pes_);
    auto& in_group = group.*meeting.in_group;
    const std::uint64_t counted =
        in_group.fetch_add(1 | std::uint64_t{call} << 32, std::memory_order_acq_rel);
    const auto before = static_cast<std::uint32_t>(counted);
    if (before + 1 == members) {
        const auto sum = static_cast<std::uint32_t>(counted >> 32) + call;
        const std::uint32_t ours = sum == members * call ? call : Called::differing;
        // No member counts before the meeting ends. Its end publishes these zeros and the new groups.
        in_group.store(0, std::memory_order_relaxed);
        if (meeting.carries) gather_group(m, home);
        GroupsLine& line = m.control_->groups;
        const std::uint32_t groups = std::max(line.groups.load(std::memory_order_relaxed), 1U);
        auto& in_team = line.*meeting.in_team;
        const std::uint32_t earlier = in_team.fetch_add(1 | ours << 8, std::memory_order_acq_rel);
        if ((earlier & 0xff) + 1 == groups) {
            in_team.store(0, std::memory_order_relaxed);
            if (meeting.carries) std::memcpy(m.control_->exchange_release.data, line.data, exchange_bytes);
            if (line.moved.load(std::memory_order_relaxed) != 0) regroup(m);
            const bool alike = ours == call && (((earlier >> 8) + ours - groups * call) & 0xffffff) == 0;
            meeting.call = alike ? call : Called::differing;
            set_flag(meeting.release, epoch);
            return alike;
        }
        // The missing members run on other cores, so this core has nothing better to do.
        if (groups <= static_cast<std::uint32_t>(m.job_.pace().usable_cpus) &&
            poll_for_a_turn(meeting.release, epoch))
            return meeting.call == call;
    }
    // The first member of its core in a meeting of the world. One thread at a time, and no PE waits for it.
    const auto cores = static_cast<std::uint32_t>(m.job_.pace().usable_cpus);
    if (before == 0 && m.team_.number() == 0 &&
        members > (static_cast<std::uint32_t>(m.n_pes_) + cores - 1) / cores &&
        m.control_->groups.moved.load(std::memory_order_relaxed) == 0) [[unlikely]]
        move_away(*m.control_, m.n_pes_, me.core_line);
    const common::Meter::Wait measured(m.job_.meter.get());
    if (!m.yield_turns(meeting.release, epoch))
        m.wait_flag(mine.call, meeting.release, epoch, -1, meeting.missing);
    return meeting.call == call;
}

/// Gathers the data of this core's members into the line that counts groups, so that one line goes to the
/// next core.
void Meetings::Oversubscribed::gather_group(Meetings& m, int group) {
    const Passed passed = m.lines();
    for (int i = 0; i < m.n_pes_; ++i)
        if (m.member(i).core_line.group.load(std::memory_order_relaxed) == group)
            store(m.control_->groups.data + m.packed_bytes_ * static_cast<std::size_t>(i), passed.at(i),
                  m.packed_bytes_);
}

/// Assigns one group to each core (several cores may share one, if there are many). Called by the member for
/// which all others wait.
void Meetings::Oversubscribed::regroup(Meetings& m) {
    constexpr std::size_t slots = GroupsLine::most;
    std::array<std::int32_t, slots> first;
    std::array<std::uint32_t, slots> size{};
    std::uint32_t groups = 0;
    m.control_->groups.moved.store(0, std::memory_order_relaxed);
    for (int i = 0; i < m.n_pes_; ++i) {
        CoreLine& line = m.member(i).core_line;
        const std::size_t at = static_cast<std::uint32_t>(line.core.load(std::memory_order_relaxed)) % slots;
        if (size[at]++ == 0) {
            first[at] = i;
            ++groups;
        }
        line.group.store(first[at], std::memory_order_relaxed);
    }
    for (std::size_t at = 0; at < slots; ++at)
        if (size[at] != 0) m.member(first[at]).group.size.store(size[at], std::memory_order_relaxed);
    m.control_->groups.groups.store(groups, std::memory_order_relaxed);
}

void Meetings::Oversubscribed::note_core(Meetings& m) noexcept {
    const int core = ::sched_getcpu();  // -1 for all if the system does not tell: one group
    if (core == m.core_) return;
    m.core_ = core;
    m.member(m.my_pe_).core_line.core.store(core, std::memory_order_relaxed);
    m.control_->groups.moved.store(1, std::memory_order_relaxed);
}

bool Meetings::Oversubscribed::sync(Meetings& m, Arrival mine) {
    ControlBlock& control = *m.control_;
    return meet(m, m.sync_epoch_, mine,
                {&GroupLine::at_sync, &GroupsLine::at_sync, control.release.flag, control.release.calls[0],
                 [](MemberBlock& member, std::uint32_t) -> detail::Flag& { return member.arrived.flag; },
                 &missing_at_sync});
}

bool Meetings::Oversubscribed::exchange(Meetings& m, Arrival mine, Data data) {
    ControlBlock& control = *m.control_;
    const bool packed = data.bytes * static_cast<std::size_t>(m.n_pes_) <= exchange_bytes;
    m.packed_bytes_ = packed ? data.bytes : 0;
    m.exchanged_ = packed ? Passed{control.exchange_release.data, data.bytes} : m.lines();
    m.write(m.lines(), data);
    return meet(m, m.exchange_epoch_, mine,
                {&GroupLine::at_exchange, &GroupsLine::at_exchange, control.exchange_release.flag,
                 control.exchange_release.call,
                 [](MemberBlock& member, std::uint32_t epoch) -> detail::Flag& {
                     return member.exchange[epoch & 1].flag;
                 },
                 &missing_at_exchange, m.packed_bytes_ != 0});
}

int Meetings::Oversubscribed::missing_at_sync(const void* waiting, int* pes, int most) {
    Meetings& m = static_cast<const Waiting*>(waiting)->meetings;
    int count = 0;
    for (int i = 0; i < m.n_pes_ && count < most; ++i)
        if (!reached(m.member(i).arrived.flag.value.load(std::memory_order_acquire), m.sync_epoch_))
            pes[count++] = m.team_.world_pe(i);
    return count;
}

int Meetings::Oversubscribed::missing_at_exchange(const void* waiting, int* pes, int most) {
    Meetings& m = static_cast<const Waiting*>(waiting)->meetings;
    const std::uint32_t epoch = m.exchange_epoch_;
    int count = 0;
    for (int i = 0; i < m.n_pes_ && count < most; ++i)
        if (m.member(i).exchange[epoch & 1].flag.value.load(std::memory_order_acquire) != epoch)
            pes[count++] = m.team_.world_pe(i);
    return count;
}

constinit const Meetings::Strategy Meetings::oversubscribed{"oversubscribed", &Oversubscribed::sync,
                                                            &Oversubscribed::exchange};

}  // namespace atl::core
