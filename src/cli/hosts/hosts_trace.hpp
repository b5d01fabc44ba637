// The trace of a job over several hosts, in its launcher.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/store_server.hpp"
#include "cli/command/options.hpp"
#include "cli/hosts/agent_process.hpp"
#include "cli/hosts/trace_receiver.hpp"
#include "cli/trace/trace_output.hpp"
#include "common/settings/settings.hpp"

namespace atl::cli {

class HostsTrace {
  public:
    /// Says which files cannot be written; the job then runs without them.
    HostsTrace(const RunOptions& options, const common::Settings& settings, TraceOutput::Say say);

    /// Takes the connections of agents from the store.
    void serve(bootstrap::StoreServer& store);
    /// The logs that PEs need.
    bootstrap::BoardLogs logs() const;
    /// The status of an agent whose PEs have ended, and which may still send their events.
    std::optional<int> status_of(const Agent& agent);
    /// True while an agent sends events. It is not to be killed.
    bool is_coming_from(const Agent& agent);
    /// Waits for no events any more: those that came are written.
    void abandon();
    /// Waits for the events that are still to come, unless `is_interrupted`, and writes the files. `came` has
    /// the PEs that called init.
    void finish(const std::vector<bool>& came, const std::function<bool()>& is_interrupted);

  private:
    const TraceOutput::Say say_;
    TraceOutput output_;
    std::optional<TraceReceiver> receiver_;
};

}  // namespace atl::cli
