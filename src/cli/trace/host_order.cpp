#include "cli/trace/host_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/recorder/host_clock.hpp"

namespace atl::cli {
namespace {

using common::ClockOrder;
using common::LoggedEvent;

/// The smallest distance from causes on one host to effects on another.
class Orders {
  public:
    explicit Orders(const JobTrace& trace) : trace_(trace) {
        std::map<std::string, std::size_t> numbers;
        for (const PeTrace& pe : trace.pes)
            host_of_.push_back(numbers.try_emplace(pe.host, numbers.size()).first->second);
        hosts_ = numbers.size();
    }

    std::size_t hosts() const { return hosts_; }
    std::size_t host_of(std::size_t pe) const { return host_of_[pe]; }
    void add(std::size_t cause, std::size_t effect, std::uint64_t cause_ns, std::uint64_t effect_ns) {
        if (cause == effect) return;
        const auto distance = static_cast<std::int64_t>(effect_ns - cause_ns);
        const auto [known, is_new] = least_.try_emplace({cause, effect}, distance);
        known->second = std::min(known->second, distance);
    }
    void add(const Flow& flow) {
        const LoggedEvent &from = trace_.event(flow.from), &to = trace_.event(flow.to);
        if (to.state == common::EventState::ended)
            add(host_of_[flow.from.pe], host_of_[flow.to.pe], from.began, to.ended);
    }
    /// A barrier: the last of a host to come, and the first of another one to leave.
    void add(const Meeting& meeting) {
        std::map<std::size_t, std::uint64_t> last_begin, first_end;
        for (const EventId member : meeting.members) {
            const LoggedEvent& event = trace_.event(member);
            const std::string_view name = common::operation_name(event.operation);
            if ((name != "barrier" && name != "sync") || event.state != common::EventState::ended) return;
            const std::size_t host = host_of_[member.pe];
            std::uint64_t& begin = last_begin[host];
            begin = std::max(begin, event.began);
            std::uint64_t& end = first_end.try_emplace(host, event.ended).first->second;
            end = std::min(end, event.ended);
        }
        for (const auto& [cause, begin] : last_begin)
            for (const auto& [effect, end] : first_end) add(cause, effect, begin, end);
    }
    std::vector<ClockOrder> all() const {
        std::vector<ClockOrder> orders;
        for (const auto& [pair, distance] : least_) orders.push_back({pair.first, pair.second, distance});
        return orders;
    }

  private:
    const JobTrace& trace_;
    std::vector<std::size_t> host_of_;  ///< by place of the PE
    std::size_t hosts_ = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> least_;
};

}  // namespace

void keep_order(JobTrace& trace) {
    if (trace.clock_error_us == 0) return;
    Orders orders(trace);
    for (const Flow& message : messages_of(trace)) orders.add(message);
    for (const Meeting& meeting : meetings_of(trace)) orders.add(meeting);
    const std::vector<std::int64_t> changes = common::ordered_clocks(
        orders.hosts(), orders.all(), static_cast<std::int64_t>(std::ceil(trace.clock_error_us * 1e3)));
    for (std::size_t p = 0; p < trace.pes.size(); ++p)
        if (const auto change = static_cast<std::uint64_t>(changes[orders.host_of(p)]); change != 0)
            trace.pes[p].change_times([&](std::uint64_t ns) { return ns + change; });
}

}  // namespace atl::cli
