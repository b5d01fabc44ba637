// The agent's end of a trace over hosts: it compares the clocks while the PEs run, and sends their events
// when they have ended.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/launcher/invitation.hpp"
#include "bootstrap/store/wire.hpp"
#include "cli/trace/job_trace.hpp"
#include "common/descriptors/fork_guard.hpp"
#include "common/quiet_thread.hpp"
#include "common/recorder/host_clock.hpp"

namespace atl::cli {

class TraceSender {
  public:
    /// Connects to the launcher's store as guest `number`. Throws Error if it cannot be reached within
    /// `timeout_s`.
    TraceSender(const bootstrap::Invitation& invitation, int number, double timeout_s);
    ~TraceSender();
    TraceSender(const TraceSender&) = delete;
    TraceSender& operator=(const TraceSender&) = delete;

    /// Keeps the board that a PE has sent; another descriptor is dropped.
    void add_board(int pe, const common::Fd& fd);
    /// Sends the events of the PEs, which have ended. Tells `status` first. If the launcher is gone, or takes
    /// nothing for a while, it stops.
    void send(int status);
    /// True from the begin of send().
    bool is_sending() const { return is_sending_; }

  private:
    void measure_often();
    void measure(int count);
    std::uint64_t ask();
    bool send_frame(char type, const std::string& body = {});
    /// Empty if none comes in time, or the connection is closed.
    std::optional<bootstrap::Frame> next_frame();
    bool wait_for(short events) const;
    void send_events();

    const int n_pes_;
    common::ProcessFd connection_;
    bootstrap::FrameReader reader_;
    bool is_open_ = true;
    std::uint64_t asked_ = 0;    ///< questions so far
    bool has_own_clock_ = true;  ///< other than the launcher's
    std::vector<common::ClockSample> samples_;
    /// By inode: PEs that share memory send the same board.
    std::map<std::uint64_t, bootstrap::MappedBoard> boards_;
    std::map<int, std::uint64_t> board_of_;  ///< by PE
    std::set<int> without_room_;  ///< PEs whose board has no logs, or is too large for this process
    std::atomic<bool> is_sending_{false};
    common::Wake stop_;
    std::unique_ptr<common::QuietThread> measuring_;  ///< uses the connection until send()
};

}  // namespace atl::cli
