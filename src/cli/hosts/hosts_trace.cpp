#include "cli/hosts/hosts_trace.hpp"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "cli/trace/host_order.hpp"

namespace atl::cli {
HostsTrace::HostsTrace(const RunOptions& options, const common::Settings& settings, TraceOutput::Say say)
    : say_(std::move(say)), output_(settings, say_) {
    // An event is about as large in the log. Kernels have two logs, and names in their events.
    constexpr std::uint64_t bytes_of_event = 512, bytes_of_texts = 1 << 20;
    if (logs().events != 0) receiver_.emplace(options.hosts, bytes_of_texts + bytes_of_event * logs().events);
}

void HostsTrace::serve(bootstrap::StoreServer& store) {
    if (!receiver_) return;
    store.serve_guests(
        [this](int number, common::ProcessFd connection) { receiver_->take(number, std::move(connection)); });
}

bootstrap::BoardLogs HostsTrace::logs() const { return {output_.log_events(), output_.logs_moves()}; }

std::optional<int> HostsTrace::status_of(const Agent& agent) {
    if (!receiver_) return std::nullopt;
    const TraceReceiver::State state = receiver_->state(agent.number);
    return state.pes_ended ? std::optional(state.status) : std::nullopt;
}

bool HostsTrace::is_coming_from(const Agent& agent) {
    return receiver_ && receiver_->state(agent.number).is_coming;
}

void HostsTrace::abandon() {
    if (receiver_) receiver_->abandon();
}

void HostsTrace::finish(const std::vector<bool>& came, const std::function<bool()>& is_interrupted) try {
    if (!receiver_) return;
    receiver_->wait([&] {
        const bool is_enough = is_interrupted();
        if (is_enough) abandon();
        return is_enough;
    });
    ReceivedTrace received = receiver_->take_trace(came);
    keep_order(received.trace);
    output_.write(received.trace, say_);
    for (const std::string& sentence : received.missing) say_(sentence);
} catch (const std::exception& error) {  // no memory is left
    say_(std::string("the trace could not be written: ") + error.what());
}

}  // namespace atl::cli
