#include "transport/ucx/progress_thread.hpp"

#include <poll.h>

#include <algorithm>

namespace atl::transport::ucx {

constexpr int nap_ms = 1;
constexpr int lost_ms = 100;
/// UCX 1.13 sometimes has work without an event: of many connections made at once, some waited for its
/// keep-alive, 20 s. The sleep is therefore bounded, and longer while nothing happens.
constexpr int first_sleep_ms = 1, longest_sleep_ms = 1024;

void ProgressThread::run() {
    for (;;) {
        const std::uint32_t turns = turns_.load(std::memory_order_relaxed);
        if (!nap()) return;
        if (is_attended(turns)) continue;
        if (!serve(turns)) return;
    }
}

bool ProgressThread::nap() const {
    pollfd stop{stop_.fd(), POLLIN, 0};
    return ::poll(&stop, 1, nap_ms) <= 0;
}

bool ProgressThread::serve(std::uint32_t turns) const {
    pollfd events[] = {{stop_.fd(), POLLIN, 0}, {engine_.worker().event_fd(), POLLIN, 0}};
    for (int sleep_ms = first_sleep_ms;; sleep_ms = std::min(2 * sleep_ms, longest_sleep_ms)) {
        {
            const std::lock_guard lock(engine_.mutex());
            if (engine_.is_closed()) return false;
            while (engine_.progress()) sleep_ms = first_sleep_ms;
            if (!engine_.worker().arm()) continue;
            if (engine_.has_lost()) sleep_ms = std::min(sleep_ms, lost_ms);
        }
        ::poll(events, 2, sleep_ms);
        if (events[0].revents != 0) return false;
        if (is_attended(turns)) return true;
    }
}

}  // namespace atl::transport::ucx
