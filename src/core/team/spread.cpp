// Parts meet by dissemination. In round k the first member of a part sends to the first member of the part
// 2^k further on. It puts the data of the 2^k parts before it, then a flag. A row is reused two exchanges
// later. All have met in between, so no row is overwritten unread.
#include "core/team/spread.hpp"

#include "atoll/device/control.hpp"
#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace atl::core {

Parts::Parts(const JobBase& job, const std::vector<int>& world_pes, int my_pe) {
    std::map<int, int> numbers;
    for (std::size_t i = 0; i < world_pes.size(); ++i) {
        const int member = static_cast<int>(i);
        const auto [known, is_new] = numbers.try_emplace(job.topology().domain_of(world_pes[i]), count());
        if (is_new) {
            first.push_back(member);
            size.push_back(0);
        }
        part_of.push_back(known->second);
        index_of.push_back(size[static_cast<std::size_t>(known->second)]++);
    }
    mine = part_of[static_cast<std::size_t>(my_pe)];
    for (std::size_t i = 0; i < world_pes.size(); ++i)
        if (part_of[i] == mine) local.push_back(static_cast<int>(i));
}

void TeamMemory::find_control(const JobBase& job, const Parts& parts, const std::vector<int>& members) {
    if (!owned)
        control =
            static_cast<ControlBlock*>(job.arena().address(members[static_cast<std::size_t>(parts.local[0])],
                                                           offsets[static_cast<std::size_t>(parts.mine)]));
    if (parts.count() == 1) offsets.clear();
}

void TeamMemory::fail_no_room(int world_pe) {
    throw Error(ErrorCode::out_of_memory,
                "No new team was made: PE " + std::to_string(world_pe) +
                    " has no room for its control block; destroy unused teams, or raise "
                    "ATOLL_HEAP_SIZE.");
}

std::size_t TeamMemory::bytes(const Parts& parts, int part) {
    const int size = parts.size[static_cast<std::size_t>(part)];
    const std::size_t spread =
        parts.count() > 1 ? SpreadBlock::bytes(parts.part_of.size(), static_cast<std::size_t>(size)) : 0;
    return line_up(ControlBlock::bytes(size) + spread);
}

bool TeamMemory::is_doubled(const JobBase& job, const Parts& parts) {
    return parts.part_of.size() > 1 && (parts.count() > 1 || job.topology().everything_routed());
}

Spread::Spread(TeamState& team, Parts parts, const TeamMemory& memory)
    : team_(team),
      job_(team.job_base()),
      parts_(std::move(parts)),
      offsets_(memory.offsets),
      first_row_(1, 0),
      transport_(job_.transport()) {
    for (const int n : parts_.size) first_row_.push_back(first_row_.back() + static_cast<std::size_t>(n));
    in_order_ = std::is_sorted(parts_.part_of.begin(), parts_.part_of.end());
    block_ =
        reinterpret_cast<char*>(memory.control) + ControlBlock::bytes(static_cast<int>(parts_.local.size()));
    if (!in_order_) sorted_.resize(SpreadBlock::rows_bytes(parts_.part_of.size()));
    std::vector<int> world_pes;
    for (const int member : parts_.local) world_pes.push_back(team.world_pe(member));
    local_ = std::make_unique<TeamState>(job_, team.number(), std::move(world_pes), local_index(team.my_pe()),
                                         TeamMemory{memory.control, false, {}});
    local_->meetings().recorded.record_nothing();  // `team` records the calls
    context_ = transport_->create_context();
}

Spread::~Spread() { transport_->destroy_context(context_); }

std::uint64_t Spread::block_offset(int part) const {
    const auto p = static_cast<std::size_t>(part);
    return offsets_[p] + ControlBlock::bytes(parts_.size[p]);
}

std::uint64_t Spread::notification_offset(int reader, int writer) const {
    return block_offset(parts_.part_of[static_cast<std::size_t>(reader)]) +
           SpreadBlock::notification_at(parts_.part_of.size(), local_index(reader), writer);
}

SpreadBlock::Notification& Spread::my_notification(int writer) const {
    return *reinterpret_cast<SpreadBlock::Notification*>(
        block_ + SpreadBlock::notification_at(parts_.part_of.size(), local_index(team_.my_pe()), writer));
}

bool Spread::has_inbox(int member) const {
    const auto part = static_cast<std::size_t>(parts_.part_of[static_cast<std::size_t>(member)]);
    return SpreadBlock::has_inboxes(parts_.part_of.size(), static_cast<std::size_t>(parts_.size[part]));
}

void Spread::get(int member, std::uint64_t offset, void* dst, std::size_t bytes) const {
    if (bytes != 0)
        transport_->get(context_, team_.world_pe(member), offset, dst, bytes,
                        transport::Completion::at_quiet);
}

void Spread::put(int member, std::uint64_t offset, const void* src, std::size_t bytes,
                 transport::Completion completion) const {
    if (bytes != 0) transport_->put(context_, team_.world_pe(member), offset, src, bytes, completion);
}

void Spread::order(int member) const { transport_->fence(context_, team_.world_pe(member)); }

void Spread::complete() const { transport_->quiet(context_, -1); }

/// Makes the target acknowledge. An empty put is carried out after all puts before a fence, and is
/// acknowledged.
void Spread::subscribe(int member) const {
    order(member);
    transport_->put(context_, team_.world_pe(member),
                    block_offset(parts_.part_of[static_cast<std::size_t>(member)]), block_, 0,
                    transport::Completion::local);
}

std::uint64_t Spread::call_offset(int member) const {
    const auto part = static_cast<std::size_t>(parts_.part_of[static_cast<std::size_t>(member)]);
    return offsets_[part] + sizeof(ControlBlock) +
           static_cast<std::size_t>(local_index(member)) * sizeof(MemberBlock) +
           offsetof(MemberBlock, called);
}

bool Spread::sync(const Called& call, std::uint32_t fingerprint) {
    ++epoch_;
    return meet(call, fingerprint, false);
}

/// Meets in three steps: the members of a part, the parts' first members, then the part again to learn the
/// result.
bool Spread::meet(const Called& call, std::uint32_t fingerprint, bool carries) {
    const bool near = local_->meetings().meets_alike(call, fingerprint);
    std::uint32_t passed = near ? fingerprint : Called::differing;
    if (parts_.leads(team_.my_pe()) && !meet_parts(call.operation(), passed, carries))
        passed = Called::differing;
    const bool alike = local_->meetings().meets_alike(call, passed) && passed == fingerprint;
    // Some members may have been in an exchange. Reset, so that all use the same rows next.
    if (!alike) parity_ = 0;
    return alike;
}

char* Spread::row_of(std::size_t member) const {
    const auto part = static_cast<std::size_t>(parts_.part_of[member]);
    return block_ + row_at(first_row_[part] + static_cast<std::size_t>(parts_.index_of[member]));
}

bool Spread::exchange(const Called& call, std::uint32_t fingerprint, const void* mine, std::size_t bytes) {
    ++epoch_;
    parity_ ^= 1;
    if (mine != nullptr && bytes != 0)
        std::memcpy(row_of(static_cast<std::size_t>(team_.my_pe())), mine, bytes);
    const bool alike = meet(call, fingerprint, bytes != 0);
    rows_ = in_order_ ? reinterpret_cast<unsigned char*>(block_ + row_at(0)) : sorted_.data();
    if (in_order_ || bytes == 0) return alike;
    for (std::size_t i = 0; i < parts_.part_of.size(); ++i)
        std::memcpy(sorted_.data() + i * exchange_bytes, row_of(i), exchange_bytes);
    return alike;
}

bool Spread::meet_parts(const char* operation, std::uint32_t fingerprint, bool carries) {
    const int n = parts_.count();
    std::uint32_t so_far = fingerprint;  // like in Dissemination::sync
    for (int round = 0, distance = 1; distance < n; ++round, distance <<= 1) {
        const int to = (parts_.mine + distance) % n;
        const int leader = parts_.first[static_cast<std::size_t>(to)];
        if (carries) {
            const int known = std::min(distance, n - distance);
            const int oldest = (parts_.mine - known + 1 + n) % n;
            const int before_end = std::min(known, n - oldest);
            send_rows(to, oldest, before_end);
            send_rows(to, 0, known - before_end);
        }
        order(leader);  // also after the flag of the previous meeting, which may not have arrived yet
        const std::uint64_t word = block_offset(to) + offsetof(SpreadBlock, round) +
                                   static_cast<std::size_t>(round) * sizeof(SpreadBlock::RoundLine) +
                                   (epoch_ & 1) * sizeof(std::uint64_t);
        const SpreadBlock::Arrival arrival{epoch_, so_far};
        put(leader, word, &arrival, sizeof arrival, transport::Completion::unconfirmed);
        transport_->progress();  // it must be sent even if this PE does something else next
        if (await_round(operation, round, (parts_.mine - distance + n) % n) != so_far)
            so_far = Called::differing;
    }
    return so_far == fingerprint && fingerprint != Called::differing;
}

void Spread::send_rows(int to, int from, int count) {
    const std::size_t lo = first_row_[static_cast<std::size_t>(from)];
    const std::size_t rows =
        first_row_[static_cast<std::size_t>(from) + static_cast<std::size_t>(count)] - lo;
    put(parts_.first[static_cast<std::size_t>(to)], block_offset(to) + row_at(lo), block_ + row_at(lo),
        rows * exchange_bytes, transport::Completion::unconfirmed);
}

/// Waits for the first member of part `from` in this round, and returns the value that it sent.
std::uint32_t Spread::await_round(const char* operation, int round, int from) {
    const auto& word = reinterpret_cast<SpreadBlock*>(block_)->round[round].arrivals[epoch_ & 1];
    const auto arrival = [&] {
        return std::bit_cast<SpreadBlock::Arrival>(word.load(std::memory_order_acquire));
    };
    const auto here = [&] { return arrival().epoch == epoch_; };
    for (int i = 0, spins = job_.pace().spins; i < spins; ++i) {
        if (here()) return arrival().call;
        transport_->progress();
    }
    detail::WaitReason reason;
    reason.operation = operation;
    reason.team = team_.number();
    reason.peer = team_.world_pe(parts_.first[static_cast<std::size_t>(from)]);
    detail::SlowWait slow(job_.job_state(), reason, -1);
    while (!here()) {
        slow.pause();
        team_.meetings().check_thread(operation);
    }
    return arrival().call;
}

}  // namespace atl::core
