#include "collective/requests/request_wait.hpp"

#include "common/clock.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"
#include "core/job/job_state.hpp"

#include <algorithm>

namespace atl::requests {
namespace {

/// A program is looked at after this time. It polls if it needs little of its thread's CPU time for one test.
/// Others' load does not count.
constexpr std::uint64_t period_ns = 50'000'000, most_cpu_ns = 200'000;

}  // namespace

const char* operation_of(bool polls) {
    if (common::wait_hooks().call_site) return polls ? "Request.test" : "Request.wait";
    return polls ? "Requests::test" : "Requests::wait";
}

std::string text_of(const Request& request, const std::string& of) {
    const std::uint64_t words[common::event_words] = {0, 0, 0, static_cast<std::uint64_t>(request.call.op)};
    std::string text = common::called_name(common::operation_number(team_name_of(request.call.kind)), words) +
                       ", non-blocking call " + std::to_string(request.number + 1) + of;
    const std::string site = request.site.name();
    return site.empty() ? text : text.append(", started at ").append(common::file_name(site));
}

RequestWait::RequestWait(core::TeamState& team, Group& group, bool polls) : team_(team), group_(group) {
    reason_.operation = operation_of(polls);
    reason_.team = team.number();
    reason_.missing = &missing;
    reason_.argument = this;
}

void RequestWait::set(const RequestPtr& request) {
    if (request_ == request) return;
    request_ = request;
    subject_ = text_of(*request, " of " + common::team_text(team_.meetings().recorded.team()));
    reason_.subject = subject_.c_str();
}

int RequestWait::missing(const void* self, int* pes, int most) {
    const auto& wait = *static_cast<const RequestWait*>(self);
    int n = 0;
    for (const int member : wait.group_.awaited(*wait.request_))
        if (n < most) pes[n++] = wait.team_.world_pe(member);
    return n;
}

Polls::Shown::Shown(core::TeamState& team, Group& group, std::uint64_t since_ns)
    : wait(team, group, true), board(team.job(), wait.reason(), since_ns, common::HostWait::polls) {}

void Polls::count(const RequestPtr& request) {
    const std::uint64_t now = common::now_ns();
    if (n_++ == 0) {
        since_ns_ = now;
        cpu_ns_ = common::thread_cpu_ns();
        return;
    }
    if (now - since_ns_ < period_ns) return;
    const std::uint64_t cpu = common::thread_cpu_ns();
    if ((cpu - cpu_ns_) / n_ > most_cpu_ns) {
        stop();
        return;
    }
    if (!shown_) shown_.emplace(team_, group_, since_ns_);
    shown_->wait.set(request);
    shown_->board.show(nullptr, 0);
    since_ns_ = now;
    cpu_ns_ = cpu;
    n_ = 1;
}

}  // namespace atl::requests
