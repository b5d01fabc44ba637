// Watches for the death of the job's other PEs (or of the launcher) while the job runs.
#pragma once

namespace atl::bootstrap {

/// Destroying it stops watching; that takes no collective and waits for nobody but its own thread.
class Monitor {
  public:
    virtual ~Monitor() = default;
};

}  // namespace atl::bootstrap
