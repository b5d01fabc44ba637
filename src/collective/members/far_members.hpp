// FarMembers: the members of a group that run on other hosts. Each has a copy of this member's area, and this
// process has copies of theirs. A member passes on what it writes into its area, in order. Large data for
// all members of a host are passed on to one of them, into a copy that they share.
#pragma once

#include "collective/members/area.hpp"
#include "collective/members/doorbell.hpp"
#include "collective/members/endpoint.hpp"
#include "collective/members/hosts.hpp"
#include "common/bell.hpp"
#include "common/quiet_thread.hpp"

#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atl::far {

class FarMembers final : public Target {
  public:
    FarMembers(std::shared_ptr<Endpoint> endpoint, Layout layout);
    ~FarMembers() override;
    FarMembers(const FarMembers&) = delete;
    FarMembers& operator=(const FarMembers&) = delete;

    /// The place of the copies of this process, for the other members.
    std::uint64_t offset() const { return offset_; }
    /// Sets the places of the other members' copies. `areas` in `memory` are those of this host's members,
    /// and the shared copies of the others.
    void open(std::vector<std::uint64_t> offsets, std::vector<char*> areas,
              std::shared_ptr<const void> memory);
    const Hosts& hosts() const { return hosts_; }
    int n_hosts() const { return hosts_.n(); }
    bool is_far(int member) const { return layout_.is_far(member); }
    /// The copy of a member's area in this process.
    requests::Area copy(int member) const {
        return {memory_ + std::size_t(member) * stride_, layout_.n(), layout_.rank};
    }

    /// Passes on a range of this member's area. It must not change before the member has used it.
    void pass(int member, const void* from, std::size_t bytes);
    /// Passes on a range of at most 4 KiB (or none), then the 8 bytes at `word`, by which the member notices.
    void pass_word(int member, const void* from, std::size_t bytes, const void* word);
    /// Passes on a range of any size, then the word. The range must not change before the member has used it.
    void pass_with_word(int member, const void* from, std::size_t bytes, const void* word);
    /// The same, to the copy that the members of another host share.
    void pass_to_host(int host, const void* from, std::size_t bytes, const void* word);
    /// True if a shared copy has changed since the last call. The members of this host are then to be woken.
    bool take_shared() {
        return has_shared_.load(std::memory_order_relaxed) &&
               has_shared_.exchange(false, std::memory_order_acquire);
    }
    /// Passes on the last word of this member, as pass_word. It arrives even if the process then ends.
    void pass_last(int member, const void* word);

    /// Moves messages. Returns true if any moved.
    bool progress() { return endpoint_->transport().progress(); }
    /// Sleeps until a message may have arrived, at most `ns`, unless `is_over` returns true.
    template <class IsOver> void sleep(common::Bell& bell, std::uint64_t ns, IsOver&& is_over) {
        bell.sleepers.fetch_add(1, std::memory_order_seq_cst);
        const Sleeper& mine = enter_sleep();
        if (!is_over()) endpoint_->transport().sleep(ns, mine.both.get());
        leave_sleep(mine);
        bell.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
    /// Wakes this member's own threads.
    void wake() noexcept {
        common::Bell::order_before_sleepers();
        if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_sleepers();
    }
    /// Wakes a member of this host that sleeps.
    void ring(int member);
    /// Sends an empty message: it wakes a member, and finds out whether its process lives.
    void nudge(int member);
    /// Connects to a member for which this one waits, so that its end is noticed.
    void greet(int member);
    /// Why a far member will do nothing more; empty if it may.
    std::string end_of(int member);

    void put(std::uint64_t offset, const char* data, std::size_t bytes) override;
    void set(std::uint64_t offset, std::uint64_t value) override;
    void arrived() noexcept override { wake(); }

  private:
    /// The events of one sleeping thread: its own and the doorbell. Threads do not share the former: the
    /// first to clear it would leave the others asleep.
    struct Sleeper {
        explicit Sleeper(const Doorbell& doorbell);
        common::Wake own;
        common::Fd both;
    };
    const Sleeper& enter_sleep();
    void leave_sleep(const Sleeper& mine) noexcept;
    void wake_sleepers() noexcept;
    /// A message for a shared copy that came before `open`.
    struct Early {
        std::uint64_t offset = 0;
        std::string data;  ///< empty: `word` is set
        std::uint64_t word = 0;
    };

    std::uint64_t offset_of(int member, const void* in_area) const;
    char* shared(std::uint64_t offset, std::size_t bytes) const;
    void put_shared(std::uint64_t offset, const char* data, std::size_t bytes);
    void set_shared(std::uint64_t offset, std::uint64_t value);
    bool keep_early(std::uint64_t offset, const char* data, std::size_t bytes, std::uint64_t word);
    template <class Send> void guarded(int member, Send&& send);
    void pass_by(int member, const void* from, std::size_t bytes, const void* word,
                 transport::Completion completion, std::uint64_t base = 0);

    std::shared_ptr<Endpoint> endpoint_;
    const Layout layout_;
    const Hosts hosts_;
    const pid_t process_ = ::getpid();
    const std::size_t stride_;  ///< bytes from one copy to the next
    const std::size_t bytes_;   ///< bytes of all copies and of a word for `nudge`
    char* memory_ = nullptr;
    std::uint64_t offset_ = 0;
    std::vector<std::uint64_t> offsets_;
    std::vector<char*> areas_;
    std::shared_ptr<const void> area_memory_;
    std::atomic<bool> is_open_{false}, has_shared_{false};
    std::mutex early_mutex_;
    std::vector<Early> early_;
    std::atomic<int> sleepers_{0};
    std::mutex wakes_mutex_;
    std::vector<std::unique_ptr<const Sleeper>> wakes_;  ///< the first `sleepers_` are in use
    const Doorbell doorbell_;
    std::vector<bool> greeted_;
    std::mutex ends_mutex_;
    std::vector<std::string> ends_;  ///< errors of members that could not be sent to
};

}  // namespace atl::far
