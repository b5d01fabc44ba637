#include "transport/ucx/waiting.hpp"

#include <poll.h>

namespace atl::transport::ucx {

void Waiting::sleep(std::uint64_t ns, int also) {
    if (thread_) thread_->enter_sleep();
    bool armed = false;
    {
        const Lock lock(engine_.mutex());
        armed = !engine_.is_closed() && !engine_.progress() && engine_.worker().arm();
    }
    if (armed) {
        pollfd events[] = {{engine_.worker().event_fd(), POLLIN, 0}, {also, POLLIN, 0}};
        const timespec most{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
        ::ppoll(events, 2, &most, nullptr);  // poll ignores a negative descriptor
    }
    if (thread_) {
        thread_->note();
        thread_->leave_sleep();
    }
}

}  // namespace atl::transport::ucx
