#include "collective/members/far_members.hpp"

#include "atoll/error.hpp"
#include "common/log.hpp"
#include "common/text.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace atl::far {
namespace {

using requests::Area;

constexpr transport::ContextId context = 0;

}  // namespace

FarMembers::FarMembers(std::shared_ptr<Endpoint> endpoint, Layout layout)
    : endpoint_(std::move(endpoint)),
      layout_(std::move(layout)),
      stride_(Area::bytes_of_copy(layout_.n())),
      bytes_(stride_ * std::size_t(layout_.n()) + sizeof(std::uint64_t)),
      greeted_(std::size_t(layout_.n())),
      ends_(std::size_t(layout_.n())) {
    void* const memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(ErrorCode::system, "Mapping " + common::bytes_text(bytes_) +
                                           " of memory (sparse) for a group over several hosts failed: " +
                                           common::errno_text(errno) + ".");
    memory_ = static_cast<char*>(memory);
    place_ = endpoint_->add(*this);
}

FarMembers::~FarMembers() {
    // A thread of the parent may have held the endpoint's locks when this process was forked.
    if (::getpid() != process_) return;
    endpoint_->remove(place_);
    ::munmap(memory_, bytes_);
    endpoint_->retire(std::move(area_memory_));
}

void FarMembers::open(std::vector<std::uint64_t> places, char* area, std::shared_ptr<const void> memory) {
    places_ = std::move(places);
    area_ = area;
    area_memory_ = std::move(memory);
}

// ---- sleeping

const common::Wake& FarMembers::enter_sleep() {
    const std::lock_guard lock(wakes_mutex_);
    const auto asleep = static_cast<std::size_t>(sleepers_.load(std::memory_order_relaxed));
    if (asleep == wakes_.size()) wakes_.push_back(std::make_unique<const common::Wake>());
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    return *wakes_[asleep];
}

void FarMembers::leave_sleep(const common::Wake& mine) noexcept {
    const std::lock_guard lock(wakes_mutex_);
    mine.clear();
    const auto last = static_cast<std::size_t>(sleepers_.fetch_sub(1, std::memory_order_seq_cst)) - 1;
    const auto at =
        std::find_if(wakes_.begin(), wakes_.end(), [&](const auto& each) { return each.get() == &mine; });
    std::iter_swap(at, wakes_.begin() + static_cast<std::ptrdiff_t>(last));
}

void FarMembers::wake_sleepers() noexcept {
    const std::lock_guard lock(wakes_mutex_);
    const int asleep = sleepers_.load(std::memory_order_relaxed);
    for (int i = 0; i < asleep; ++i) wakes_[std::size_t(i)]->signal();
}

// ---- sending

/// The place of an address of this member's area in the member's copy, which has one ring.
std::uint64_t FarMembers::place_of(int member, const void* in_area) const {
    auto offset = static_cast<std::size_t>(static_cast<const char*>(in_area) - area_);
    if (offset >= Area::rings_offset(layout_.n())) offset -= std::size_t(member) * requests::ring_bytes;
    return places_[std::size_t(member)] + std::size_t(layout_.rank) * stride_ + offset;
}

/// The end of a member is found by those who wait for it, so a failure is only noted. A message was posted
/// even if the wait for UCX timed out.
template <class Send> void FarMembers::guarded(int member, Send&& send) {
    try {
        send(endpoint_->transport(), layout_.numbers[std::size_t(member)]);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::timeout) return;
        const std::lock_guard lock(ends_mutex_);
        ends_[std::size_t(member)] = error.what();
    }
}

void FarMembers::pass(int member, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    guarded(member, [&](transport::Transport& to, int number) {
        to.put(context, number, place_of(member, from), from, bytes, transport::Completion::at_quiet);
    });
}

void FarMembers::pass_by(int member, const void* from, std::size_t bytes, const void* word,
                         transport::Completion completion) {
    guarded(member, [&](transport::Transport& to, int number) {
        transport::Signal signal{.offset = place_of(member, word)};
        std::memcpy(&signal.value, word, sizeof signal.value);
        to.put_signal(context, number, place_of(member, bytes == 0 ? word : from), from, bytes, signal,
                      completion);
    });
}

void FarMembers::pass_word(int member, const void* from, std::size_t bytes, const void* word) {
    pass_by(member, from, bytes, word, transport::Completion::unconfirmed);
}

void FarMembers::pass_with_word(int member, const void* from, std::size_t bytes, const void* word) {
    pass_by(member, from, bytes, word, transport::Completion::at_quiet);
}

void FarMembers::pass_last(int member, const void* word) {
    pass_by(member, nullptr, 0, word, transport::Completion::local);
}

void FarMembers::nudge(int member) {
    guarded(member, [&](transport::Transport& to, int number) {
        const std::uint64_t word = places_[std::size_t(member)] + stride_ * std::size_t(layout_.n());
        to.put_signal(context, number, word, nullptr, 0, {.offset = word, .value = 1},
                      transport::Completion::unconfirmed);
    });
}

void FarMembers::greet(int member) {
    if (greeted_[std::size_t(member)]) return;
    greeted_[std::size_t(member)] = true;
    nudge(member);
}

std::string FarMembers::end_of(int member) {
    std::string reason = endpoint_->end_of(layout_.numbers[std::size_t(member)]);
    if (reason.empty()) {
        const std::lock_guard lock(ends_mutex_);
        reason = ends_[std::size_t(member)];
    }
    if (reason.empty()) return {};
    const auto host = std::size_t(layout_.host_of[std::size_t(member)]);
    return "(host " + layout_.names[host] + ") ended or cannot be reached any more (" + reason + ")";
}

// ---- receiving

void FarMembers::put(std::uint64_t offset, const char* data, std::size_t bytes) {
    if (offset > bytes_ || bytes > bytes_ - offset) return;
    std::memcpy(memory_ + offset, data, bytes);
}

void FarMembers::set(std::uint64_t offset, std::uint64_t value) {
    if (offset > bytes_ - sizeof value || offset % sizeof value != 0) return;
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_ + offset))
        .store(value, std::memory_order_release);
}

}  // namespace atl::far
