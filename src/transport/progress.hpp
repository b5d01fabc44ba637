// Progress: the role of a transport that moves operations on while a PE waits.
#pragma once

#include <cstdint>

namespace atl::transport {

/// Progress of operations within waits of the program.
class Progress {
  public:
    virtual ~Progress() = default;
    /// Moves operations on; called by threads in a wait. Must be cheap when there is nothing to do. True if
    /// something moved.
    virtual bool progress() = 0;
    /// The same for a thread that mainly waits for something else. It does not keep the transport's own
    /// thread from making progress.
    virtual bool progress_in_passing() { return progress(); }
    /// Sleeps until a message may have arrived, at most `ns`. False if this transport cannot sleep; then the
    /// caller sleeps.
    virtual bool sleep(std::uint64_t ns) {
        static_cast<void>(ns);
        return false;
    }
    /// True if messages arrive only in progress(). Then a wait calls it from the start.
    virtual bool polls() const { return false; }
};

}  // namespace atl::transport
