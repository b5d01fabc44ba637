// Watches for the death of the job's other PEs (or of the launcher) while the job runs.
#pragma once

namespace atl::bootstrap {

/// Its destructor stops the watch. That is not collective and waits for nothing but the monitor's own thread.
class Monitor {
  public:
    virtual ~Monitor() = default;
};

}  // namespace atl::bootstrap
