// Progress: the role of a transport that moves operations on while a PE waits.
#pragma once

#include <cstdint>

namespace atl::transport {

/// Progress of operations within waits of the program.
class Progress {
  public:
    virtual ~Progress() = default;
    /// Progresses operations; called by threads in a wait. Must be cheap when there is nothing to do. True
    /// if there was progress.
    virtual bool progress() = 0;
    /// The same for a thread that mainly waits for something else. It does not keep the transport's own
    /// thread from making progress.
    virtual bool progress_in_passing() { return progress(); }
    /// Sleeps until a message may have arrived or the descriptor `also` is readable (-1: none), at most `ns`.
    /// False if this transport cannot sleep; then the caller sleeps.
    virtual bool sleep(std::uint64_t ns, int also = -1) {
        static_cast<void>(ns), static_cast<void>(also);
        return false;
    }
    /// True if memory of the caller may still be read for puts that complete at quiet.
    virtual bool is_sending() { return false; }
    /// True if messages arrive only in progress(). Then a wait calls it from the start.
    virtual bool polls() const { return false; }
};

}  // namespace atl::transport
