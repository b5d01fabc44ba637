#include "stream/stream_calls.hpp"

#include "common/elf/call_site.hpp"
#include "core/calls/call_text.hpp"
#include "core/job/job_state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace atl::stream {
namespace {

using Words = std::array<std::uint64_t, 6>;

constexpr std::uint32_t writing = 1, valid = 2;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

std::uint64_t signed_word(std::ptrdiff_t value) { return static_cast<std::uint64_t>(value); }

/// The arguments that must be equal, as those of the blocking call.
core::CallRecord record_of(const core::TeamState& team, const gpu::GroupArguments& a) {
    using gpu::Group;
    const std::uint64_t root = signed_word(a.root), type = static_cast<std::uint64_t>(a.type),
                        op = static_cast<std::uint64_t>(a.op);
    const std::uint64_t elements = team.job().compares_dtypes() ? team.elements : 0;
    switch (a.kind) {
        case Group::sync:
            return core::call_record(a.operation == device::Operation::barrier ? "barrier" : "sync");
        case Group::broadcast:
            return core::call_record("broadcast", a.bytes, root, 0, elements);
        case Group::fcollect:
            return core::call_record("fcollect", a.bytes, 0, 0, elements);
        case Group::alltoall:
            return core::call_record("alltoall", a.bytes, 0, 0, elements);
        case Group::gather:
            return core::call_record("gather", a.bytes, root, 0, elements);
        case Group::scatter:
            return core::call_record("scatter", a.bytes, root, 0, elements);
        case Group::reduce_scatter:
            return core::call_record("reduce_scatter", a.bytes, 0, type, op);
        case Group::reduce_to:
            return core::call_record("reduce_to", a.bytes, root, type, op);
        case Group::inscan:
            return core::call_record("inscan", a.bytes, 0, type, op);
        case Group::exscan:
            return core::call_record("exscan", a.bytes, 0, type, op);
        case Group::collect:
            return core::call_record("collect", 0, 0, 0, elements);
        case Group::alltoalls:
            return core::call_record("alltoalls", a.bytes * a.strides.count, 0, signed_word(a.strides.dst),
                                     signed_word(a.strides.src));
        case Group::reduce:
        case Group::reduce_part:
            break;
    }
    return core::call_record("reduce", a.bytes, 0, type, op);
}

core::CallRecord record_in(const StreamCallRing::Call& call) {
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = call.record[i].load(std::memory_order_relaxed);
    return std::bit_cast<core::CallRecord>(words);
}

}  // namespace

StreamCalls::StreamCalls(core::TeamState& team)
    : team_(team),
      differences_(team.job().kernels().stream_differences),
      rings_(static_cast<std::size_t>(team.n_pes())) {
    core::Arena& arena = team.job().arena();
    try {
        mine_ = new (arena.allocate(sizeof(StreamCallRing))) StreamCallRing{};
    } catch (const Error&) {
        return;
    }
    rings_[static_cast<std::size_t>(team.my_pe())] = mine_;
    team.member(team.my_pe()).stream_calls.store(arena.offset(mine_) + 1, std::memory_order_release);
    differences_->watch(team.kernels.key, [this] { return found(); });
}

StreamCalls::~StreamCalls() {
    if (mine_ != nullptr) differences_->forget(team_.kernels.key);
}

/// Called once no member uses the team any more.
void StreamCalls::release() noexcept {
    if (mine_ == nullptr) return;
    differences_->forget(team_.kernels.key);
    team_.job().arena().free(std::exchange(mine_, nullptr));
}

void StreamCalls::compare(core::TeamState& team, const gpu::GroupArguments& arguments) {
    if (team.spread() != nullptr || team.n_pes() == 1 || !team.job().settings().compares_calls()) return;
    std::call_once(team.stream_calls_once, [&] { team.stream_calls = std::make_unique<StreamCalls>(team); });
    auto& calls = static_cast<StreamCalls&>(*team.stream_calls);
    if (calls.mine_ != nullptr)
        calls.announce(record_of(team, arguments), std::bit_cast<std::uint64_t>(arguments.scale));
}

StreamCallRing* StreamCalls::ring_of(int member) {
    StreamCallRing*& ring = rings_[static_cast<std::size_t>(member)];
    if (ring != nullptr) return ring;
    const std::uint64_t offset = team_.member(member).stream_calls.load(std::memory_order_acquire);
    if (offset != 0)
        ring = static_cast<StreamCallRing*>(team_.job().arena().address(team_.world_pe(member), offset - 1));
    return ring;
}

std::string StreamCalls::found() {
    const std::uint32_t by = team_.control().streams_differ.load(std::memory_order_acquire);
    if (by == 0) return {};
    const std::uint64_t offset =
        team_.member(static_cast<int>(by) - 1).stream_calls.load(std::memory_order_acquire);
    const auto* ring = static_cast<const StreamCallRing*>(
        team_.job().arena().address(team_.world_pe(static_cast<int>(by) - 1), offset - 1));
    return ring->text;
}

void StreamCalls::announce(const core::CallRecord& record, std::uint64_t more) {
    const std::lock_guard lock(mutex_);
    if (team_.control().streams_differ.load(std::memory_order_relaxed) != 0) [[unlikely]]
        throw Error(ErrorCode::collective_mismatch, found());
    const auto words = std::bit_cast<Words>(record);
    for (const std::uint64_t word : words) hash_ = mixed(hash_, word);
    hash_ = mixed(hash_, more);
    StreamCallRing::Call& call = mine_->call(++count_);
    call.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) call.record[i].store(words[i], std::memory_order_relaxed);
    call.hash.store(hash_, std::memory_order_relaxed);
    call.number.store(count_, std::memory_order_release);
    // In one order with the loads of the neighbours' counts: at least one of two members sees the other's.
    mine_->count.exchange(count_, std::memory_order_seq_cst);
    const int n = team_.n_pes(), me = team_.my_pe();
    compare_with((me + 1) % n);
    if (n > 2) compare_with((me + n - 1) % n);
}

void StreamCalls::compare_with(int member) {
    StreamCallRing* const other = ring_of(member);
    if (other == nullptr) return;
    const std::uint64_t theirs = other->count.load(std::memory_order_seq_cst);
    const std::uint64_t last = std::min(theirs, count_);
    // The hash of a later call covers calls that were overwritten.
    if (last == 0 || std::max(theirs, count_) - last >= StreamCallRing::length) return;
    const StreamCallRing::Call& call = other->call(last);
    const std::uint64_t hash = call.hash.load(std::memory_order_acquire);
    if (call.number.load(std::memory_order_acquire) != last ||
        hash == mine_->call(last).hash.load(std::memory_order_relaxed)) [[likely]]
        return;
    tell(member, first_difference(*other, last));
    throw Error(ErrorCode::collective_mismatch, found());
}

/// The oldest call that is kept and differs.
StreamCalls::Difference StreamCalls::first_difference(StreamCallRing& other, std::uint64_t last) const {
    Difference difference;
    const std::uint64_t kept = StreamCallRing::length - 1;
    for (std::uint64_t number = count_ > kept ? count_ - kept : 1; number <= last; ++number) {
        const StreamCallRing::Call &mine = mine_->call(number), &theirs = other.call(number);
        difference = {number, record_in(mine), record_in(theirs)};
        if (theirs.number.load(std::memory_order_acquire) != number) continue;
        if (std::memcmp(&difference.mine, &difference.theirs, sizeof(core::CallRecord)) != 0) break;
    }
    return difference;
}

/// Writes the error for all members, unless another member has.
void StreamCalls::tell(int member, const Difference& difference) {
    const bool is_now = difference.number == count_;
    core::CallOf one{team_.world_pe(team_.my_pe()), difference.mine,
                     is_now ? common::call_site(nullptr) : std::string()};
    core::CallOf other{team_.world_pe(member), difference.theirs, {}};
    if (other.pe < one.pe) std::swap(one, other);
    const std::string text = "Collectives on streams differ, in call " + std::to_string(difference.number) +
                             " of the team there. " + core::mismatch_text(team_.name(), one, other);
    if (mine_->state.exchange(writing) == 0) {
        mine_->text[text.copy(mine_->text, StreamCallRing::text_bytes - 1)] = '\0';
        mine_->state.store(valid, std::memory_order_release);
    }
    std::uint32_t unclaimed = 0;
    team_.control().streams_differ.compare_exchange_strong(
        unclaimed, static_cast<std::uint32_t>(team_.my_pe()) + 1, std::memory_order_acq_rel);
}

}  // namespace atl::stream
