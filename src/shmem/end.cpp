#include "shmem/end.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/futex.hpp"
#include "common/log.hpp"
#include "common/quiet_thread.hpp"
#include "core/job/job_state.hpp"

namespace atl::shmem {

namespace {

constexpr std::uint64_t one_hour_ns = 3'600'000'000'000;

[[noreturn]] void leave(int status) {
    std::fflush(nullptr);
    // No destructors: other threads of this PE may be anywhere.
    std::_Exit(status);
}

/// Sleeps on the board's abort word.
class Follower {
  public:
    explicit Follower(common::BoardHeader& board) : board_(board), thread_([this] { follow(); }) {}
    ~Follower() {
        if (::getpid() != process_) stopped_ = true;  // a forked child has no such thread
        stop_.store(true, std::memory_order_release);
        // It may be between its check of `stop_` and its sleep, so one call would not be enough.
        while (!stopped_.load(std::memory_order_acquire)) {
            common::futex_wake_all(board_.abort);
            std::this_thread::yield();
        }
    }
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

  private:
    void follow() {
        while (board_.abort.load(std::memory_order_acquire) == 0 && !stop_.load(std::memory_order_acquire))
            common::futex_wait(board_.abort, 0, one_hour_ns);
        stopped_.store(true, std::memory_order_release);
        if (!stop_.load(std::memory_order_acquire)) leave(board_.abort_status.load());
    }

    common::BoardHeader& board_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> stopped_{false};
    const pid_t process_ = ::getpid();
    common::QuietThread thread_;  // last: it uses the other members
};

// Ends before the job's board is unmapped: libatoll.so, on which this library depends, is destroyed after it.
std::unique_ptr<Follower> follower;

}  // namespace

void follow_end_of(Job& job) { follower = std::make_unique<Follower>(job.state().board().header()); }

void stop_following() { follower.reset(); }

void leave_if_over(Job* job) {
    if (!job) return;
    const common::BoardHeader& board = job->state().board().header();
    if (board.abort.load(std::memory_order_acquire) != 0) leave(board.abort_status.load());
}

void end_job(Job* job, int status, const std::string& sentence) {
    leave_if_over(job);
    common::say(sentence);
    if (job) job->global_exit(status, sentence);
    leave(status);
}

}  // namespace atl::shmem
