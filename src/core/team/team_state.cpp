#include "core/team/team_state.hpp"

#include "common/recorder/recorder.hpp"
#include "core/base/job_base.hpp"
#include "core/team/context_state.hpp"
#include "core/team/range_negotiation.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace atl::core {

namespace {

/// A hash of a team that all members compute alike.
std::uint32_t identity_of(std::initializer_list<std::uint64_t> parts, const std::vector<int>& members) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15; };
    for (const std::uint64_t part : parts) mix(part);
    for (const int member : members) mix(static_cast<std::uint64_t>(member));
    return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

TeamState::TeamState(JobBase& job, int number, std::vector<int> members, int my_pe, const TeamMemory& memory)
    : job_(job.job_state()),
      base_(job),
      number_(number),
      members_(std::move(members)),
      my_pe_(my_pe),
      control_(memory.control),
      owns_control_(memory.owned),
      doubled_(memory.doubled),
      meetings_(*this, memory.control, static_cast<int>(members_.size()), my_pe) {
    kernels.key = number;
    for (const int pe : members_) slots_.push_back(job.topology().slot(pe).number());
    first_ = slots_[0];
    step_ = n_pes() > 1 ? slots_[1] - slots_[0] : 1;
    bool regular = job.topology().first_far(members_) < 0;
    for (int i = 0; i < n_pes() && regular; ++i)
        regular = slots_[static_cast<std::size_t>(i)] == first_ + i * step_;
    if (regular) slots_.clear();
    renew_context();
    if (!memory.offsets.empty())
        spread_ = std::make_unique<Spread>(*this, Parts(job, members_, my_pe), memory);
    meetings_.choose();
}

std::uint32_t TeamState::identity() const {
    if (number_ == 0) return 1;
    // Numbers of PEs differ, unless a split has made the team.
    return common::team_identity(identity_of({}, members_), members_.size() == 1 ? number_ : 0);
}

void TeamState::renew_context() {
    context_ = Context(std::make_shared<ContextState>(*this, ContextOptions{}, nullptr));
}

TeamState::~TeamState() = default;

detail::TeamMap TeamState::map() const {
    const int pes = n_pes();
    const bool checks = base_.settings().checks(common::CheckLevel::basic);
    return {.table = slots_.empty() ? nullptr : slots_.data(),
            .first = first_,
            .step = step_,
            .n_pes = pes,
            .my_pe = my_pe_,
            .checked_pes = checks ? static_cast<unsigned>(pes) : UINT_MAX};
}

int first_far(const TeamState& team) { return team.job_base().topology().first_far(team.members()); }

int TeamState::find(int world_pe) const {
    const auto it = std::find(members_.begin(), members_.end(), world_pe);
    return it == members_.end() ? -1 : static_cast<int>(it - members_.begin());
}

std::string TeamState::name() const {
    return number_ == 0 ? "the world team"
                        : "team " + std::to_string(number_) + " (" + std::to_string(n_pes()) + " PEs)";
}

void TeamState::fail_unusable() const {
    if (destroyed_)
        throw Error(
            ErrorCode::use_after_free,
            "This team was destroyed; team numbers and contexts made from it are gone too. Make a new team, "
            "or use the world team.");
    throw Error(ErrorCode::collective_mismatch,
                "PE " + std::to_string(base_.pe()) + " is out of step with " + name() +
                    ". An earlier collective ended here by an error after this PE had arrived (calls that "
                    "differ, two "
                    "threads, a timeout, Ctrl-C, a PE that died). One-sided operations "
                    "still work; for collectives restart the job, or use another team.");
}

void TeamState::destroy() {
    check_alive();
    if (number_ == 0 || predefined_)
        throw Error(ErrorCode::invalid_argument,
                    (number_ == 0 ? "The world team" : "A predefined team") +
                        std::string(" cannot be destroyed; it ends with the job."));
    {  // one call in statistics and traces
        const Meetings::Within within(meetings_, "team_destroy");
        context_.quiet();
        if (server_team_) server_team_->complete();
        complete();
        sync("team_destroy");
    }
    destroyed_ = true;
    if (StreamServices* services = base_.devices().services()) services->end_team(*this);
    base_.devices().release_kernels(*this);
    release_attachments();
    // The owner may free the block only once all members have read their last flag in it.
    control_->left.flag.value.fetch_add(1, std::memory_order_acq_rel);
    if (owns_control_) base_.arena().retire(control_, spread_ ? spread_->local().n_pes() : n_pes());
}

void TeamState::release_attachments() {
    for (std::unique_ptr<TeamAttachment>* kept :
         {&collective_state, &device_lane, &messages, &requests, &stream_calls}) {
        if (*kept) (*kept)->release();
        kept->reset();
    }
    if (spread_) spread_->local().release_attachments();
    if (server_team_) server_team_->release_attachments();
}

void TeamState::complete() const {
    if (!spread_) return;
    if (messages) messages->subscribe();
    spread_->complete();
}

TeamState& TeamState::server_team() {
    if (!doubled_) throw Error(ErrorCode::unsupported, name() + " has no memory for collectives on streams.");
    std::call_once(server_team_once_, [&] {
        const Parts parts(base_, members_, my_pe_);
        char* const behind = reinterpret_cast<char*>(control_) + TeamMemory::bytes(parts, parts.mine);
        TeamMemory memory{reinterpret_cast<ControlBlock*>(behind), false, {}, false};
        if (spread_)
            for (int part = 0; part < parts.count(); ++part)
                memory.offsets.push_back(spread_->offsets()[static_cast<std::size_t>(part)] +
                                         TeamMemory::bytes(parts, part));
        server_team_ = std::make_unique<TeamState>(base_, number_, members_, my_pe_, memory);
        const std::uint32_t identity = meetings_.recorded.team();
        server_team_->meetings_.recorded.set_team(
            common::team_identity(identity_of({identity}, members_), number_));
    });
    return *server_team_;
}

namespace {

struct SplitRequest {
    std::int32_t color;
    std::int32_t key;
    std::int32_t last_number;  ///< number of the newest team on its PE
};

/// A number of new teams that all members of the parent agree on.
int next_number(const std::vector<SplitRequest>& requests) {
    int last = 0;
    for (const SplitRequest& request : requests) last = std::max(last, request.last_number);
    return last + 1;
}

struct NewControl {
    std::uint64_t offset;  ///< 0: its owner had no room
    RangeProposal proposal;
};
static_assert(sizeof(NewControl) <= exchange_bytes);

/// The data that all members of the parent sent in its last exchange.
template <class T> std::vector<T> all_exchanged(const TeamState& parent) {
    std::vector<T> all(static_cast<std::size_t>(parent.n_pes()));
    for (int i = 0; i < parent.n_pes(); ++i)
        std::memcpy(&all[static_cast<std::size_t>(i)], parent.exchanged(i), sizeof(T));
    return all;
}

/// Members of my color as parent PEs, ordered by key, then by parent PE.
std::vector<int> members_of(const std::vector<SplitRequest>& requests, int color) {
    std::vector<std::pair<int, int>> order;
    for (std::size_t i = 0; i < requests.size(); ++i)
        if (requests[i].color == color) order.emplace_back(requests[i].key, static_cast<int>(i));
    std::sort(order.begin(), order.end());
    std::vector<int> members;
    for (const auto& [key, i] : order) members.push_back(i);
    return members;
}

/// The proposals of the members of each new team, by color.
std::map<int, std::vector<RangeProposal>> proposals_by_color(const std::vector<SplitRequest>& requests,
                                                             const std::vector<NewControl>& controls) {
    std::map<int, std::vector<RangeProposal>> proposals;
    for (std::size_t i = 0; i < requests.size(); ++i)
        if (requests[i].color >= 0) proposals[requests[i].color].push_back(controls[i].proposal);
    return proposals;
}

/// Lets the members of each new team find the same memory for kernels. All members of the parent take part
/// until every team has it. Returns the proposals of the caller's team.
std::vector<RangeProposal> settle_ranges(TeamState& parent, RangeNegotiation* mine, int color,
                                         const std::vector<SplitRequest>& requests,
                                         std::vector<NewControl> controls) {
    for (;;) {
        auto proposals = proposals_by_color(requests, controls);
        const bool settled = std::all_of(proposals.begin(), proposals.end(), [](const auto& team) {
            return RangeNegotiation::is_settled(team.second);
        });
        if (settled) return std::move(proposals[color]);
        if (mine) mine->go_on(proposals[color]);
        const NewControl next{1, mine ? mine->proposal() : RangeProposal{}};
        parent.exchange("team_split", &next, sizeof next);
        controls = all_exchanged<NewControl>(parent);
    }
}

}  // namespace

std::shared_ptr<TeamState> split(TeamState& parent, int color, int key, const CallRecord& record) {
    const Meetings::Within within(parent.meetings(), "split");  // unless the caller is in a call already
    parent.agree(record);
    JobBase& job = parent.job_base();
    const SplitRequest request{color, key, job.team_numbers().last()};
    parent.exchange("team_split", &request, sizeof request);
    const auto requests = all_exchanged<SplitRequest>(parent);
    const std::vector<int> members = color < 0 ? std::vector<int>{} : members_of(requests, color);
    std::vector<int> world_members;
    for (const int i : members) world_members.push_back(parent.world_pe(i));
    const int my_pe =
        static_cast<int>(std::find(members.begin(), members.end(), parent.my_pe()) - members.begin());
    const Parts parts = members.empty() ? Parts() : Parts(job, world_members, my_pe);
    const bool leads = !members.empty() && parts.leads(my_pe);
    // All members of the parent meet once more, so that all know if every new team has its memory.
    ControlBlock* control = nullptr;
    std::optional<RangeNegotiation> negotiation;
    if (!members.empty())
        negotiation.emplace(job, static_cast<int>(members.size()),
                            job.topology().first_far(world_members) < 0);
    NewControl mine{1, negotiation ? negotiation->proposal() : RangeProposal{}};
    if (leads) {
        job.arena().sweep();
        try {
            control =
                static_cast<ControlBlock*>(job.arena().allocate(TeamMemory::allocation_bytes(job, parts)));
            mine.offset = job.arena().offset(control);
        } catch (const Error&) {
            mine.offset = 0;
        }
    }
    parent.exchange("team_split", &mine, sizeof mine);
    const auto controls = all_exchanged<NewControl>(parent);
    for (int i = 0; i < parent.n_pes(); ++i) {
        if (controls[static_cast<std::size_t>(i)].offset != 0) continue;
        if (control) job.arena().free(control);
        TeamMemory::fail_no_room(parent.world_pe(i));
    }
    const std::vector<RangeProposal> proposals =
        settle_ranges(parent, negotiation ? &*negotiation : nullptr, color, requests, controls);
    if (members.empty()) return nullptr;
    TeamMemory memory{control, leads, {}, TeamMemory::is_doubled(job, parts)};
    for (const int first : parts.first)
        memory.offsets.push_back(
            controls[static_cast<std::size_t>(members[static_cast<std::size_t>(first)])].offset);
    memory.find_control(job, parts, world_members);
    const RecordedCalls& calls = parent.meetings().recorded;
    const int number = next_number(requests), unique = job.team_numbers().take(number);
    const std::uint32_t identity =
        common::team_identity(identity_of({calls.team(), calls.count()}, world_members), number);
    auto team = std::make_shared<TeamState>(job, number, std::move(world_members), my_pe, memory);
    team->meetings().recorded.set_team(identity);
    team->kernels.key = unique;
    negotiation->keep(proposals, team->kernels);
    return team;
}

}  // namespace atl::core
