// The events of a trace as lines of JSON; docs/events.md lists the keys.
#include "cli/trace/report.hpp"

#include <nlohmann/json.hpp>

namespace atl::cli {

void each_line(const JobTrace& trace, const std::function<void(const std::string&)>& body) {
    for (const PeTrace& pe : trace.pes) {
        std::uint64_t number = 0;
        for (const common::LoggedEvent& event : pe.log.events) {
            nlohmann::ordered_json line = {
                {"pe", pe.pe},
                {"number", ++number},
                {"thread", event.thread == 0 || event.thread >= first_lane ? "main" : "other"},
                {"event", common::event_names[static_cast<std::size_t>(event.kind)]},
                {"state", common::event_state_names[static_cast<std::size_t>(event.state)]},
                {"operation", event.operation == 0 ? "" : common::operation_name(event.operation)},
                {"team", event.team},
                {"call", event.call},
                {"peer", event.peer},
                {"bytes", event.bytes},
                {"place", event.place},
                {"value", event.value},
                {"began_ns", event.began},
                {"ended_ns", event.state < common::EventState::ended ? 0 : event.ended},
                {"waiting_ns", event.waiting},
                {"site", pe.text(event.site)},
            };
            if (event.kind == common::EventKind::range) {
                line["value"] = 0;
                line["name"] = pe.name_of(event);
            }
            body(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        }
    }
}

}  // namespace atl::cli
