// The launcher's end of a trace over hosts: a thread that answers questions for the clock, and takes the
// events of all agents.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/store/wire.hpp"
#include "cli/command/options.hpp"
#include "cli/trace/job_trace.hpp"
#include "common/descriptors/fork_guard.hpp"
#include "common/quiet_thread.hpp"

namespace atl::cli {

/// The events that came, with sentences on those that are missing.
struct ReceivedTrace {
    JobTrace trace;
    std::vector<std::string> missing;
};

class TraceReceiver {
  public:
    /// `most_bytes` bounds what an agent sends for each of its PEs. An agent that sends nothing for
    /// `patience` has been stopped, or its host is gone.
    TraceReceiver(const std::vector<HostShare>& hosts, std::uint64_t most_bytes,
                  std::chrono::milliseconds patience = std::chrono::seconds(10));
    ~TraceReceiver();
    TraceReceiver(const TraceReceiver&) = delete;
    TraceReceiver& operator=(const TraceReceiver&) = delete;

    /// Takes the connection of a host's agent.
    void take(int host, common::ProcessFd connection);

    struct State {
        bool pes_ended = false;  ///< `status` is known
        int status = 0;
        bool is_coming = false;  ///< its events are on their way
    };
    State state(int host);
    /// Waits for no events any more.
    void abandon();
    /// Waits until each connection is complete or closed, or brings no events for a while. Or until
    /// `is_interrupted` returns true; it is called often.
    void wait(const std::function<bool()>& is_interrupted);

    /// The events that came. `came` has the PEs that called init. Call it once.
    ReceivedTrace take_trace(const std::vector<bool>& came);

  private:
    using Clock = std::chrono::steady_clock;
    struct Host {
        HostShare share;
        int first_pe = 0;
        common::ProcessFd connection;
        bootstrap::FrameReader reader;
        std::vector<bootstrap::Frame> frames;
        std::uint64_t bytes = 0;
        std::set<int> without_room;  ///< PEs whose log had none
        bool has_come = false, pes_ended = false, is_complete = false;
        bool had_no_room = false;  ///< its frames were dropped
        int status = 0;
        double clock_error_ns = 0;
        Clock::time_point last = Clock::now();  ///< when events came nearer
    };
    static std::vector<Host> all_of(const std::vector<HostShare>& shares);

    // All of these with `mutex_` held.
    void run();
    void read_from(Host& host);
    bool handle(Host& host, bootstrap::Frame frame) const;
    static bool answer(const Host& host, char type, const std::string& body);
    bool is_coming(const Host& host) const;
    static std::vector<PeTrace> take_events(Host& host, bool& is_good);
    void add_host(Host& host, const std::vector<bool>& came, ReceivedTrace& received) const;

    const std::uint64_t most_bytes_;
    const std::chrono::milliseconds patience_;
    const std::string clock_;
    std::mutex mutex_;
    std::vector<Host> hosts_;
    bool is_stopping_ = false, is_abandoned_ = false;
    common::Wake wake_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace atl::cli
