#include "core/sync/poll_watch.hpp"

#include "common/clock.hpp"
#include "common/recorder/stack_area.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/wait_on_board.hpp"
#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

#include <exception>
#include <mutex>
#include <optional>

namespace atl::core {

std::atomic<bool> polls_are_watched{false};

namespace {

/// Polls of one word in a row, and their time, that make a loop. Contention for a lock ends sooner.
constexpr std::uint64_t least_polls = 4, least_ns = 100'000'000;
/// A program only polls if it needs little of its thread's CPU time for one poll. Others' load does not
/// count.
constexpr std::uint64_t most_cpu_ns = 50'000;
constexpr std::uint64_t refresh_ns = 100'000'000;
/// Polls are watched for this long after a request.
constexpr std::uint64_t watched_ns = 3'000'000'000;

/// The loop of the thread that polls. Loops of two threads hide each other.
class Loop {
  public:
    /// `why` need not outlive the call.
    void poll(JobState& job, const detail::WaitReason& why, int world_pe, std::uint64_t found) {
        const std::uint64_t now = common::now_ns();
        if (why.word != reason_.word || world_pe != world_pe_ || found != found_)
            begin(why.word, world_pe, found, now);
        ++polls_;
        if (polls_ < least_polls || now - since_ns_ < least_ns || now - shown_ns_ < refresh_ns) return;
        if ((common::thread_cpu_ns() - cpu_ns_) / polls_ > most_cpu_ns) return end();
        reason_ = why;
        if (!board_) {
            board_.emplace(job, reason_, since_ns_, common::HostWait::polls);
            board_->set_poll_of(world_pe);
            board_->show(nullptr, found);
        }
        board_->show(nullptr, found);  // with the place in the program
        reason_.missing = nullptr;
        reason_.argument = nullptr;
        shown_ns_ = now;
    }
    void end() {
        board_.reset();
        reason_ = {};
    }
    bool is_over(std::uint64_t asked_ns) const { return common::now_ns() - asked_ns > watched_ns; }

  private:
    void begin(const void* word, int world_pe, std::uint64_t found, std::uint64_t now) {
        end();
        reason_.word = word;
        world_pe_ = world_pe;
        found_ = found;
        since_ns_ = now;
        shown_ns_ = 0;
        cpu_ns_ = common::thread_cpu_ns();
        polls_ = 0;
    }

    detail::WaitReason reason_;
    int world_pe_ = -1;
    std::uint64_t found_ = 0, since_ns_ = 0, shown_ns_ = 0, cpu_ns_ = 0, polls_ = 0;
    std::optional<WaitOnBoard> board_;
};

// A process that answers requests is one PE: see offer_stacks.
std::atomic<JobState*> watched{nullptr};
std::atomic<std::uint64_t> asked_ns{0};
std::mutex mutex;  // guards the next one
Loop loop;

/// Called by a signal handler: stores only. Moves of C and C++ take their slow paths once more, which note
/// polls.
void be_asked() noexcept {
    const JobState* job = watched.load(std::memory_order_acquire);
    if (job == nullptr) return;
    asked_ns.store(common::now_ns(), std::memory_order_relaxed);
    polls_are_watched.store(true, std::memory_order_relaxed);
    const Context& context = job->world_state().context();
    if (context.state().note_again()) context.note_next_moves();
}

}  // namespace

void watch_polls(JobState& job) noexcept {
    watched.store(&job, std::memory_order_release);
    common::set_asked(&be_asked);
}

void forget_polls(const JobState& job, bool is_forked) noexcept {
    if (watched.load(std::memory_order_acquire) != &job) return;
    watched.store(nullptr, std::memory_order_release);
    polls_are_watched.store(false, std::memory_order_relaxed);
    if (is_forked) return;
    const std::lock_guard guard(mutex);
    loop.end();
}

namespace {

void note(JobState& job, const detail::WaitReason& why, int world_pe, std::uint64_t found) noexcept {
    const std::unique_lock guard(mutex, std::try_to_lock);
    if (!guard || watched.load(std::memory_order_acquire) != &job) return;
    try {
        if (loop.is_over(asked_ns.load(std::memory_order_relaxed))) {
            polls_are_watched.store(false, std::memory_order_relaxed);
            return loop.end();
        }
        loop.poll(job, why, world_pe, found);
    } catch (const std::exception&) {  // without memory there is no report
        loop.end();
    }
}

}  // namespace

void note_poll(JobState& job, const char* operation, const void* word, std::size_t bytes, int world_pe,
               std::uint64_t found) noexcept {
    detail::WaitReason why;
    why.operation = operation;
    why.word = word;
    why.word_bytes = static_cast<std::uint8_t>(bytes);
    note(job, why, world_pe, found);
}

void note_attempt(JobState& job, const detail::WaitReason& why) noexcept {
    note(job, why, job.world_state().context().world_pe(job.pe()), 0);
}

}  // namespace atl::core
