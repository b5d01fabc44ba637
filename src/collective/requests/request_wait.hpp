// RequestWait: a wait for non-blocking collectives of a team, as the job board shows it.
#pragma once

#include "collective/requests/group.hpp"
#include "core/sync/wait_on_board.hpp"
#include "core/team/team_state.hpp"

#include <optional>
#include <string>

namespace atl::requests {

/// Returns a text such as "sum_reduce, non-blocking call 3 of the world team, started at solver.py:12"; `of`
/// is " of the world team".
std::string text_of(const Request& request, const std::string& of);

/// The program's wait or test, as its language calls it.
const char* operation_of(bool polls);

class RequestWait {
  public:
    RequestWait(core::TeamState& team, Group& group, bool polls);
    RequestWait(const RequestWait&) = delete;
    RequestWait& operator=(const RequestWait&) = delete;

    /// Names the request for which the program waits.
    void set(const RequestPtr& request);
    const detail::WaitReason& reason() const { return reason_; }

  private:
    static int missing(const void* self, int* pes, int most);

    core::TeamState& team_;
    Group& group_;
    RequestPtr request_;
    std::string subject_;
    detail::WaitReason reason_;
};

/// The tests of a program. A program that does little between them is shown as waiting.
class Polls {
  public:
    Polls(core::TeamState& team, Group& group) : team_(team), group_(group) {}
    ~Polls() { stop(); }
    Polls(const Polls&) = delete;
    Polls& operator=(const Polls&) = delete;
    /// Call after each test that finds `request` pending.
    void count(const RequestPtr& request);
    void stop() {
        if (shown_ && group_.is_job_over()) shown_->board.abandon();
        shown_.reset();
        n_ = 0;
    }

  private:
    struct Shown {
        RequestWait wait;
        core::WaitOnBoard board;
        Shown(core::TeamState& team, Group& group, std::uint64_t since_ns);
    };

    core::TeamState& team_;
    Group& group_;
    std::optional<Shown> shown_;
    std::uint64_t since_ns_ = 0, cpu_ns_ = 0;  ///< at the first test of the current period
    std::uint64_t n_ = 0;                      ///< tests since then
};

}  // namespace atl::requests
