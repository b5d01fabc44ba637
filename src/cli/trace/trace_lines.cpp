// The events of a trace as lines of JSON; docs/events.md lists the keys.
#include "cli/trace/report.hpp"

#include <nlohmann/json.hpp>

namespace atl::cli {
namespace {

nlohmann::ordered_json kernel_line(const PeTrace& pe, std::size_t number) {
    const KernelSlice& slice = pe.kernels.slices[number];
    nlohmann::ordered_json line = {
        {"pe", pe.pe},
        {"number", number + 1},
        {"thread", "kernel"},
        {"event", common::event_names[static_cast<std::size_t>(common::EventKind::kernel)]},
        {"state", common::event_state_names[static_cast<std::size_t>(common::EventState::ended)]},
        {"operation", slice.is_range() ? "" : slice.name},
        {"team", 0},
        {"call", 0},
        {"peer", slice.peer},
        {"bytes", slice.bytes},
        {"place", slice.offset},
        {"value", slice.value},
        {"began_ns", slice.began},
        {"ended_ns", slice.ended},
        {"waiting_ns", is_kernel_wait(slice) ? slice.ended - slice.began : 0},
        {"site", ""},
        {"gpu", slice.gpu},
        {"block", slice.block},
    };
    if (slice.is_range()) line["name"] = slice.name;
    return line;
}

}  // namespace

void each_line(const JobTrace& trace, const std::function<void(const std::string&)>& body) {
    const auto pass = [&](const nlohmann::ordered_json& line) {
        body(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    };
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
                {"place", event.offset},
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
            pass(line);
        }
        for (std::size_t i = 0; i < pe.kernels.slices.size(); ++i) pass(kernel_line(pe, i));
    }
}

}  // namespace atl::cli
