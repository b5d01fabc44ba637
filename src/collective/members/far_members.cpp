#include "collective/members/far_members.hpp"

#include "atoll/error.hpp"
#include "common/log.hpp"
#include "common/text.hpp"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace atl::far {
namespace {

using requests::Area;

constexpr transport::ContextId context = 0;

void set_word(char* at, std::uint64_t value) {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(value, std::memory_order_release);
}

}  // namespace

FarMembers::FarMembers(std::shared_ptr<Endpoint> endpoint, Layout layout)
    : endpoint_(std::move(endpoint)),
      layout_(std::move(layout)),
      hosts_(layout_),
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
    offset_ = endpoint_->add(*this);
}

FarMembers::~FarMembers() {
    // A thread of the parent may have held the endpoint's locks when this process was forked.
    if (::getpid() != process_) return;
    endpoint_->remove(offset_);
    ::munmap(memory_, bytes_);
    endpoint_->retire(std::move(area_memory_));
}

void FarMembers::open(std::vector<std::uint64_t> offsets, std::vector<char*> areas,
                      std::shared_ptr<const void> memory) {
    offsets_ = std::move(offsets);
    areas_ = std::move(areas);
    area_memory_ = std::move(memory);
    char* const name =
        Area(areas_[static_cast<std::size_t>(layout_.rank)], layout_.n()).head().state.doorbell;
    name[doorbell_.name().copy(name, requests::doorbell_bytes - 1)] = '\0';
    const std::lock_guard lock(early_mutex_);
    for (const Early& each : early_) {
        if (each.data.empty())
            set_shared(each.offset, each.word);
        else
            put_shared(each.offset, each.data.data(), each.data.size());
    }
    early_.clear();
    is_open_.store(true, std::memory_order_release);
}

// ---- sleeping

FarMembers::Sleeper::Sleeper(const Doorbell& doorbell) : both(::epoll_create1(EPOLL_CLOEXEC)) {
    for (const int fd : {own.fd(), doorbell.fd()}) {
        epoll_event event{.events = EPOLLIN, .data = {}};
        ::epoll_ctl(both.get(), EPOLL_CTL_ADD, fd, &event);
    }
}

const FarMembers::Sleeper& FarMembers::enter_sleep() {
    const std::lock_guard lock(wakes_mutex_);
    const auto asleep = static_cast<std::size_t>(sleepers_.load(std::memory_order_relaxed));
    if (asleep == wakes_.size()) wakes_.push_back(std::make_unique<const Sleeper>(doorbell_));
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    return *wakes_[asleep];
}

/// All threads have one doorbell, so the one that clears it wakes the others.
void FarMembers::leave_sleep(const Sleeper& mine) noexcept {
    const std::lock_guard lock(wakes_mutex_);
    mine.own.clear();
    const bool has_rung = doorbell_.clear();
    const auto last = static_cast<std::size_t>(sleepers_.fetch_sub(1, std::memory_order_seq_cst)) - 1;
    const auto at =
        std::find_if(wakes_.begin(), wakes_.end(), [&](const auto& each) { return each.get() == &mine; });
    std::iter_swap(at, wakes_.begin() + static_cast<std::ptrdiff_t>(last));
    for (std::size_t i = 0; has_rung && i < last; ++i) wakes_[i]->own.signal();
}

void FarMembers::wake_sleepers() noexcept {
    const std::lock_guard lock(wakes_mutex_);
    const int asleep = sleepers_.load(std::memory_order_relaxed);
    for (int i = 0; i < asleep; ++i) wakes_[std::size_t(i)]->own.signal();
}

// ---- sending

/// The offset of an address of this member's area in the member's copies, which have one ring.
std::uint64_t FarMembers::offset_of(int member, const void* in_area) const {
    const auto me = std::size_t(layout_.rank);
    auto offset = static_cast<std::size_t>(static_cast<const char*>(in_area) - areas_[me]);
    if (offset >= Area::rings_offset(layout_.n())) offset -= std::size_t(member) * requests::ring_bytes;
    return me * stride_ + offset;
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
        const std::uint64_t offset = offsets_[std::size_t(member)] + offset_of(member, from);
        to.put(context, number, offset, from, bytes, transport::Completion::at_quiet);
    });
}

void FarMembers::pass_by(int member, const void* from, std::size_t bytes, const void* word,
                         transport::Completion completion, std::uint64_t base) {
    guarded(member, [&](transport::Transport& to, int number) {
        const std::uint64_t copies = offsets_[std::size_t(member)] + base;
        transport::Signal signal{.offset = copies + offset_of(member, word)};
        std::memcpy(&signal.value, word, sizeof signal.value);
        const std::uint64_t offset = copies + offset_of(member, bytes == 0 ? word : from);
        to.put_signal(context, number, offset, from, bytes, signal, completion);
    });
}

void FarMembers::pass_word(int member, const void* from, std::size_t bytes, const void* word) {
    pass_by(member, from, bytes, word, transport::Completion::unconfirmed);
}

void FarMembers::pass_with_word(int member, const void* from, std::size_t bytes, const void* word) {
    pass_by(member, from, bytes, word, transport::Completion::at_quiet);
}

void FarMembers::pass_to_host(int host, const void* from, std::size_t bytes, const void* word) {
    pass_by(hosts_.receiver(host, layout_.rank), from, bytes, word, transport::Completion::at_quiet, bytes_);
}

void FarMembers::pass_last(int member, const void* word) {
    pass_by(member, nullptr, 0, word, transport::Completion::local);
}

void FarMembers::ring(int member) {
    const Area area(areas_[std::size_t(member)], layout_.n());
    if (!doorbell_.ring(area.head().state.doorbell)) nudge(member);
}

void FarMembers::nudge(int member) {
    guarded(member, [&](transport::Transport& to, int number) {
        const std::uint64_t word = offsets_[std::size_t(member)] + stride_ * std::size_t(layout_.n());
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
    if (offset >= bytes_) {
        if (!keep_early(offset, data, bytes, 0)) put_shared(offset, data, bytes);
    } else if (bytes <= bytes_ - offset) {
        std::memcpy(memory_ + offset, data, bytes);
    }
}

void FarMembers::set(std::uint64_t offset, std::uint64_t value) {
    if (offset % sizeof value != 0) return;
    if (offset >= bytes_) {
        if (!keep_early(offset, nullptr, 0, value)) set_shared(offset, value);
    } else {
        set_word(memory_ + offset, value);
    }
}

// ---- the shared copies, whose offsets are behind those of this member's own

/// The address of a range; null if it is not within a copy.
char* FarMembers::shared(std::uint64_t offset, std::size_t bytes) const {
    const std::uint64_t at = (offset - bytes_) % stride_, member = (offset - bytes_) / stride_;
    const std::size_t size = Area::bytes_without_rings(layout_.n());
    if (member >= areas_.size() || at > size || bytes > size - at) return nullptr;
    return areas_[member] + at;
}

bool FarMembers::keep_early(std::uint64_t offset, const char* data, std::size_t bytes, std::uint64_t word) {
    if (is_open_.load(std::memory_order_acquire)) return false;
    const std::lock_guard lock(early_mutex_);
    if (is_open_.load(std::memory_order_relaxed)) return false;
    early_.push_back({offset, bytes == 0 ? std::string() : std::string(data, bytes), word});
    return true;
}

void FarMembers::put_shared(std::uint64_t offset, const char* data, std::size_t bytes) {
    if (char* const to = shared(offset, bytes)) std::memcpy(to, data, bytes);
}

void FarMembers::set_shared(std::uint64_t offset, std::uint64_t value) {
    char* const to = shared(offset, sizeof value);
    if (to == nullptr) return;
    has_shared_.store(true, std::memory_order_release);  // before a member can see the word
    set_word(to, value);
}

}  // namespace atl::far
