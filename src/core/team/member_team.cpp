#include "core/team/member_team.hpp"

#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>

namespace atl::core {

namespace {

/// Creates or finds the control block. The first member makes it in its arena and puts its offset, plus one,
/// into the others' word. Each of them resets its own word to zero.
ControlBlock* first_meeting(JobBase& job, const Context& context, const std::vector<int>& members, bool leads,
                            long* word) {
    if (!leads) {
        const long offset = context.wait_until(word, Compare::ne, 0L);
        context.atomic_set(word, 0L, job.pe());
        return static_cast<ControlBlock*>(
            job.arena().address(members[0], static_cast<std::uint64_t>(offset - 1)));
    }
    job.arena().sweep();
    const std::size_t bytes = ControlBlock::bytes(static_cast<int>(members.size()));
    auto* control = static_cast<ControlBlock*>(job.arena().allocate(bytes));
    const long offset = static_cast<long>(job.arena().offset(control)) + 1;
    for (std::size_t i = 1; i < members.size(); ++i) context.atomic_set(word, offset, members[i]);
    return control;
}

/// The first meeting of members in several domains. The first member of each part makes its block, followed
/// by a table of all blocks. The first of all tells these where its table is, collects their offsets there,
/// and sends each of them the table. Then they inform the members of their parts.
class MeetingOfParts {
  public:
    MeetingOfParts(JobBase& job, const Context& context, const std::vector<int>& members, const Parts& parts,
                   long* word)
        : job_(job), context_(context), members_(members), parts_(parts), word_(word) {}

    TeamMemory run(int my_pe) {
        const bool leads = parts_.leads(my_pe);
        if (!leads)
            found(static_cast<std::uint64_t>(await_word() - 1));
        else if (my_pe == 0)
            lead_all();
        else
            lead_part();
        if (leads)
            for (const int member : parts_.local)
                if (member != my_pe) tell(member, offset_);
        context_.quiet();
        TeamMemory memory{control_, leads, {}};
        for (int part = 0; part < parts_.count(); ++part)
            memory.offsets.push_back(table()[part].load(std::memory_order_acquire) - 1);
        return memory;
    }

  private:
    using Entry = std::atomic<std::uint64_t>;  ///< an offset plus one

    Entry* table() const {
        return reinterpret_cast<Entry*>(reinterpret_cast<char*>(control_) +
                                        TeamMemory::bytes(parts_, parts_.mine));
    }
    int world_pe(int member) const { return members_[static_cast<std::size_t>(member)]; }
    int leader(int part) const { return world_pe(parts_.first[static_cast<std::size_t>(part)]); }

    void tell(int member, std::uint64_t offset) const {
        context_.atomic_set(word_, static_cast<long>(offset + 1), world_pe(member));
    }
    long await_word() const {
        const long value = context_.wait_until(word_, Compare::ne, 0L);
        context_.atomic_set(word_, 0L, job_.pe());
        return value;
    }
    void found(std::uint64_t offset) {
        offset_ = offset;
        control_ = static_cast<ControlBlock*>(job_.arena().address(world_pe(parts_.local[0]), offset));
    }
    void make() {
        job_.arena().sweep();
        void* block = job_.arena().allocate(TeamMemory::bytes(parts_, parts_.mine) +
                                            sizeof(Entry) * parts_.first.size());
        found(job_.arena().offset(block));
        table()[parts_.mine].store(offset_ + 1, std::memory_order_release);
    }
    void await_entry(int part) const {
        detail::WaitReason why;
        why.operation = "making an active set's team";
        why.peer = leader(part);
        detail::wait(job_.job_state(), job_.pace().spins, why, -1,
                     [&] { return table()[part].load(std::memory_order_acquire) != 0; });
    }
    void put(int part, std::uint64_t offset, const void* src, std::size_t bytes) const {
        job_.transport()->put(0, leader(part), offset, src, bytes, transport::Completion::local);
    }

    void lead_all() {
        make();
        const std::uint64_t table_offset = job_.arena().offset(table());
        for (int part = 1; part < parts_.count(); ++part)
            tell(parts_.first[static_cast<std::size_t>(part)], table_offset);
        context_.quiet();
        for (int part = 1; part < parts_.count(); ++part) await_entry(part);
        for (int part = 1; part < parts_.count(); ++part) {
            const std::uint64_t there =
                table()[part].load(std::memory_order_acquire) - 1 + TeamMemory::bytes(parts_, part);
            const std::size_t others = sizeof(Entry) * (parts_.first.size() - 1);
            put(part, there + sizeof(Entry), &table()[1], others);
            job_.transport()->fence(0, leader(part));
            put(part, there, &table()[0], sizeof(Entry));  // arrives after all others
        }
    }
    void lead_part() {
        const auto table_offset = static_cast<std::uint64_t>(await_word() - 1);
        make();
        const std::uint64_t entry = offset_ + 1;
        put(0, table_offset + sizeof(Entry) * static_cast<std::size_t>(parts_.mine), &entry, sizeof entry);
        context_.quiet();
        await_entry(0);
    }

    JobBase& job_;
    const Context& context_;
    const std::vector<int>& members_;
    const Parts& parts_;
    long* word_;
    std::uint64_t offset_ = 0;
    ControlBlock* control_ = nullptr;
};

}  // namespace

Team make_member_team(const Job& owner, std::vector<int> members, long* word) {
    TeamState& world = owner.world().state();
    JobBase& job = world.job_base();
    const auto me = std::find(members.begin(), members.end(), job.pe());
    if (me == members.end())
        throw Error(ErrorCode::invalid_argument,
                    "PE " + std::to_string(job.pe()) + " is not in the active set of " +
                        std::to_string(members.size()) + " PEs from PE " + std::to_string(members[0]) +
                        "; only its members take part.");
    const int my_pe = static_cast<int>(me - members.begin());
    const Parts parts(job, members, my_pe);
    const TeamMemory memory =
        parts.count() == 1
            ? TeamMemory{first_meeting(job, world.context(), members, my_pe == 0, word), my_pe == 0, {}}
            : MeetingOfParts(job, world.context(), members, parts, word).run(my_pe);
    return Team(
        std::make_shared<TeamState>(job, job.team_numbers().next(), std::move(members), my_pe, memory));
}

}  // namespace atl::core
