// One job: its PEs, their output, and its end.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "cli/job/kv.hpp"
#include "cli/job/process_group.hpp"
#include "cli/job/rank_variables.hpp"
#include "cli/job/stall.hpp"
#include "cli/output/events.hpp"
#include "cli/output/output.hpp"
#include "cli/output/terminal_input.hpp"
#include "cli/trace/trace_output.hpp"
#include "common/board/board.hpp"
#include "common/settings/settings.hpp"
#include "core/hang/sleep_watch.hpp"

namespace atl::cli {

class Job {
  public:
    Job(const RunOptions& options, const Program& program, const common::Settings& settings,
        const rlimit& child_descriptors);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Starts all PEs and waits until the last has ended. Returns the job's status.
    int run();

  private:
    struct Pe {
        pid_t pid = -1;       ///< the process that we started
        pid_t member = -1;    ///< the process that called init: the same, or a descendant (`sh -c program`)
        common::Fd socket;    ///< our end of the socket for packets
        common::Fd lifeline;  ///< from hello until its other end closes
        std::deque<std::string> outgoing;  ///< answers that the socket had no room for
        bool waits_for_room = false;       ///< so its socket is polled for room too
        bool has_joined = false;
        bool rejoins = false;  ///< waits for the others to call init again
        char goodbye = 0;      ///< body of its packet 'B': 'f' or 'l'; 0 = none yet
        bool reaped = false;
        bool has_run_on = false;    ///< its process still ran a program when the lifeline ended
        double lost_at = 0;         ///< when the lifeline ended without goodbye; 0 = it did not
        double decided_at = 0;      ///< when to decide next what that means
        double able_at_loss_s = 0;  ///< common::able_seconds of `pid` then
        double able_at_end_s = 0;   ///< common::able_seconds of `member` at the end of the job
    };
    enum class Phase {
        running,
        aborted,     ///< recorded on the board; PEs may still print their errors
        terminated,  ///< SIGTERM sent
        killed,      ///< SIGKILL sent
    };

    // job.cpp: start and loop
    void create_shared_memory();
    std::size_t board_bytes() const { return common::BoardView::bytes(n_pes_, trace_.log_events()); }
    void start_pe(int pe);
    std::string invitation_of(int pe, Child& child) const;
    common::Fd open_input(int pe);
    void open_output(int pe, common::Fd& out, common::Fd& err);
    void open_files(int pe, common::Fd& out, common::Fd& err) const;
    std::vector<int> usable_cpu_numbers() const;
    bool finished() const;
    int timeout_ms() const;
    void dispatch(Tag tag, std::uint32_t events);
    int finish();
    void finish_records();
    void poll_output();
    double now() const;  ///< seconds since the start
    void say(const std::string& sentence);
    std::string line_of(const std::string& sentence) const;
    void write_line(const std::string& line);

    // job_packets.cpp: packets of PEs
    void on_socket(int pe, std::uint32_t events);
    bool receive(int pe);
    void handle(int pe, char type, const std::string& body, common::Fd descriptor);
    void begin_watch();
    void hello(int pe, common::Fd lifeline);
    void rejoin(int pe);
    void answer(int pe, const std::string& packet);
    void send_outgoing(int pe);
    void close_socket(int pe);
    void on_lifeline(int pe);
    void close_lifeline(int pe);

    // job_end.cpp: the end of PEs and of the job
    void reap();
    void on_exit(int pe, int wait_status);
    void on_member_exit(int pe, int wait_status);
    void on_death(int pe, int wait_status);
    void on_abort(int pe, int status, const std::string& text);
    std::string cause_of_error(int pe, const std::string& error, const std::string& site);
    void settle(int pe);
    void on_lost(int pe);
    void lose(int pe);
    void check_never_joined();
    void check_never_rejoined();
    void end(int pe, int status, const std::string& sentence, const std::string& printed = {},
             bool with_events = true);
    std::string events_at_end(int pe, int status) const;
    void say_last(const std::string& sentence, const std::string& events);
    void advance_end();
    bool lacked_cores() const;
    std::string describe_doing(int pe) const;
    bool some_member_lives() const;

    // job_signals.cpp: signals and options that act on a running job
    void on_signals();
    void interrupt(int number, int sender);
    void tell_cause();
    void stop();
    void print_table(const std::string& heading);
    void print_table(const std::string& heading, const std::vector<common::PeDoing>& doing);
    void check_timeout();
    void check_stall();

    const RunOptions& options_;
    const Program& program_;
    const common::Settings& settings_;
    const int n_pes_;
    double start_s_;

    Poller poller_;
    common::Fd signals_;
    sigset_t signals_before_{};  ///< the previous signal mask
    common::Fd board_fd_, heap_fd_;
    void* board_memory_ = nullptr;
    common::BoardView board_;
    RankVariables ranks_;
    std::vector<char*> environment_;  ///< environment of PEs, without the variables that differ between them
    std::unique_ptr<ProcessGroup> group_;
    std::unique_ptr<Output> output_;           ///< null if PEs write to the launcher's streams directly
    common::Fd input_;                         ///< the PEs' end of `terminal_`, while they start
    std::unique_ptr<TerminalInput> terminal_;  ///< when stdin is one
    std::vector<Pe> pes_;
    KeyValueStore store_;
    StallWatch stall_;
    core::SleepWatch sleep_;
    TraceOutput trace_;

    Phase phase_ = Phase::running;
    double next_phase_s_ = 0;
    double ended_s_ = 0;  ///< when the end of the job was recorded
    int status_ = 0;
    std::string last_line_;  ///< the reason of the job's end; printed after tracebacks of PEs
    int running_ = 0;        ///< PEs not reaped
    int lifelines_ = 0;      ///< open ones
    int interrupts_ = 0;     ///< Ctrl-C and SIGTERM so far
    int interrupted_by_ = 0;
    bool has_reported_ = false;       ///< a report was printed
    std::string interrupted_events_;  ///< the last events at that time, as lines
    int interrupter_ = 0;             ///< the process that sent it; 0 is the terminal
    double interrupted_at_ = 0;
    bool has_joined_ = false;  ///< has called init, or has a group
    /// The time that a broken lifeline may stay unexplained. The kernel reports a death at once. For a
    /// program inside `sh -c`, the shell's own end reports it a little later.
    static constexpr double lost_grace_s = 0.3;
};

/// A text such as "exited with status 3" or "was killed by SIGSEGV (segmentation fault)".
std::string describe_wait_status(int wait_status);
/// The status that a shell would report: the exit status, or 128 + the signal.
int shell_status(int wait_status);
/// The name, such as "SIGTERM", or "signal 40" for a signal without a name.
std::string signal_name(int number);

}  // namespace atl::cli
