// Group: the non-blocking operations of one set of members. Any thread may start, test and wait. A thread
// that waits moves the data. A thread of the group moves the data of requests for which no thread waits.
#pragma once

#include "collective/requests/messages.hpp"
#include "collective/requests/mismatch.hpp"
#include "collective/requests/rounds.hpp"
#include "common/quiet_thread.hpp"
#include "core/base/job_waits.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace atl::requests {

class Group final : public core::EndsWithJob {
  public:
    explicit Group(Membership membership);
    /// Tells the others that this member has left; does not wait for them.
    ~Group() override;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    /// Starts an operation. Collectives of a group are carried out in the order in which they were started,
    /// on every member. Throws Error for wrong arguments, without having taken part, and if the group is
    /// broken.
    RequestPtr start(Call call, double timeout_s, std::function<void()> finish = {},
                     std::function<void(const Request&)> notify = {});
    /// Starts a collective of a team. Errors name its place in the program.
    RequestPtr start_at(common::CallSite site, Call call, double timeout_s);
    /// Carries out an operation in the calling thread: start, then wait, without a thread of the group.
    /// `interrupted` is called now and then during a long wait, and may throw.
    RequestPtr run(Call call, double timeout_s, const std::function<void()>& interrupted = {});
    /// Moves data. Returns true if the request is over. Never waits.
    bool test(const RequestPtr& request);
    /// Waits at most `seconds` (negative: without limit), and returns true if the request is over.
    bool wait(const RequestPtr& request, double seconds);
    /// The same for a program that waits: calls `interrupted` now and then, which may throw and may be empty.
    /// The job board shows a long wait.
    bool wait_interruptibly(const RequestPtr& request, double seconds,
                            const std::function<void()>& interrupted);
    /// The state of a pending request, for reports.
    struct Snapshot {
        const char* operation = "";  ///< by the name that programs call
        std::string details;         ///< such as "200 bytes, call 6", "40 bytes by tag 0"
        std::vector<int> missing;    ///< members that the request needs; empty if any of several may end it
        std::uint32_t call = 0;      ///< number of a collective, from 1; 0 for a message
        std::uint64_t moved = 0;     ///< changes as data move
        std::int64_t tag = 0;        ///< tag of a message
        /// A message that has come while the request waits for another one. `from` is a member.
        common::OtherMessage other{};
    };
    Snapshot snapshot_of(const Request& request);
    /// Throws the error of a failed request.
    static void rethrow(const Request& request);
    /// Throws Error(timeout) that names the members for which a pending request waits.
    [[noreturn]] void throw_late(const Request& request, double seconds);

    /// The members for which a pending request waits.
    std::vector<int> awaited(const Request& request);

    /// Ends all requests with an error, here and on the other members. The group is unusable afterwards.
    void abort(const std::string& reason);
    /// Ends all requests with Error(not_initialized). The group is unusable afterwards, and uses no memory of
    /// the job but its own, which it keeps.
    void end_with_job() noexcept override;
    bool is_job_over() const noexcept { return job_is_over_.load(std::memory_order_acquire); }
    /// The oldest collective that is not done; null if all are.
    RequestPtr pending();
    int n() const { return members_.n(); }
    int rank() const { return members_.rank(); }
    const Members& members() const { return members_; }
    /// True in the group's thread, which must not destroy the group.
    bool is_own_thread() const { return thread_id_.load() == std::this_thread::get_id(); }

  private:
    using Done = std::vector<RequestPtr>;

    bool advance(Done& done);
    bool move(Done& done);
    void settle(const RequestPtr& request, Done& done);
    void fail(const RequestPtr& request, ErrorCode code, const std::string& text, Done& done);
    void break_up(ErrorCode code, const std::string& text, Done& done);
    static void notify(Done& done);
    void note_failure(common::FailureNote::Kind kind, std::string text) const;
    void note_difference();
    void publish_site(const RequestPtr& request);
    void check(Done& done);
    void check_member(int member, Done& done);
    const Request* waiter_for(int member);
    void expire(Done& done);
    const Request& oldest_before(const Request& request) const;
    void record(Request& request) const;
    std::string late_text(const Request& request, double seconds);
    std::vector<int> missing(const Request& request);
    RequestPtr made(Call&& call, double timeout_s);
    void begin(const RequestPtr& request);
    bool is_bulk(const Request& request);
    bool is_idle() const { return collectives_.empty() && messages_.is_idle(); }
    void refuse_if_broken() const;
    void sleep_on_bell(std::uint64_t most_ns, const Request* request);
    void call_thread();
    void serve();

    Members members_;
    int process_;
    int spins_;
    std::mutex mutex_;
    Rounds rounds_;
    Messages messages_;
    Mismatch mismatch_{members_};
    std::atomic<const Request*> unsited_{nullptr};  ///< differs from others' calls; its place is asked for
    std::deque<RequestPtr> collectives_;
    ErrorCode broken_code_ = ErrorCode::system;
    std::string broken_;
    std::uint64_t last_check_ns_ = 0;
    std::atomic<int> waiters_{0};

    std::mutex thread_mutex_;
    std::condition_variable thread_call_;
    std::unique_ptr<common::QuietThread> thread_;
    std::atomic<std::thread::id> thread_id_{};
    bool called_ = false;
    std::atomic<bool> ending_{false};
    std::atomic<bool> job_is_over_{false};
};

}  // namespace atl::requests
