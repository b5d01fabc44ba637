#include "core/job/start_watch.hpp"

#include <poll.h>

#include "bootstrap/deadline.hpp"
#include "core/job/end_of_job.hpp"
#include "core/job/job_state.hpp"

namespace atl::core {
namespace {

void end_for_all(JobState& job) {
    const std::string sentence =
        "PE " + std::to_string(job.pe()) + " waited " +
        bootstrap::seconds_text(job.settings().init_timeout_s) +
        " (ATOLL_INIT_TIMEOUT) for PEs of other hosts to answer by ucx. Does a firewall refuse UCX's "
        "connections "
        "(UCX_TCP_PORT_RANGE limits their ports), or do its networks not join the hosts (UCX_NET_DEVICES)?";
    end_job(job, sentence);
}

void watch(JobState& job, int over) {
    const bootstrap::Deadline deadline(job.settings().init_timeout_s);
    constexpr int longest_ms = 60'000;
    pollfd polled{over, POLLIN, 0};
    while (::poll(&polled, 1, deadline.poll_ms(longest_ms)) <= 0)
        if (deadline.passed()) return end_for_all(job);
}

}  // namespace

StartWatch::StartWatch(JobState& job) : job_(job), thread_([&job, over = over_.fd()] { watch(job, over); }) {
    job_.waits().at_start.set_watched(true);
}

StartWatch::~StartWatch() {
    job_.waits().at_start.set_watched(false);
    over_.signal();
}

}  // namespace atl::core
