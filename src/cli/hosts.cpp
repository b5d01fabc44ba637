#include "cli/hosts.hpp"
#include "cli/command/command.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/deadline.hpp"
#include "bootstrap/store/store_server.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "bootstrap/store/wire.hpp"
#include "cli/hosts/agent_process.hpp"
#include "cli/hosts/hosts_trace.hpp"
#include "cli/job/rank_variables.hpp"
#include "cli/job/stall.hpp"
#include "cli/thread_counts.hpp"
#include "common/hashes/hmac.hpp"
#include "common/log.hpp"
#include "common/settings/job_environment.hpp"
#include "common/settings/settings.hpp"
#include "common/text.hpp"
#include "core/hang/cause.hpp"
#include "core/hang/sleep_watch.hpp"

namespace atl::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// The time between the end of the job and the killing of agents that have not ended.
constexpr auto grace = std::chrono::seconds(5);
constexpr auto kill_interval = std::chrono::seconds(1);
/// After --timeout: the time in which PEs report where they were. Their agents allow one second for it.
constexpr auto abort_grace = std::chrono::milliseconds(1500);
/// Each check queries all PEs.
constexpr double longest_stall_interval_s = 10;

/// The variables that are copied to PEs on other hosts: those of this library, and the search paths of
/// programs.
Arguments forwarded_environment() {
    constexpr const char* prefixes[] = {"ATOLL_", "SHMEM_", "SMA_", "UCX_", "PYTHON"};
    constexpr const char* names[] = {"PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "LANG", "LC_ALL"};
    Arguments forwarded;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text(*entry), name = text.substr(0, text.find('='));
        const bool ours = name.starts_with("OMP_") || is_thread_variable(name) ||
                          std::any_of(std::begin(prefixes), std::end(prefixes),
                                      [&](const char* prefix) { return name.starts_with(prefix); });
        if (ours || std::find(std::begin(names), std::end(names), name) != std::end(names))
            forwarded.push_back(text);
    }
    return forwarded;
}

class HostsJob {
  public:
    HostsJob(const RunOptions& options, const common::Settings& settings)
        : options_(options), settings_(settings), deadline_(Clock::time_point::max()) {
        ranks_store_ = store_over_hosts(options.hosts.front().name);
        take_signals();
        open_store();
        stall_.restart(0);
    }

    int run() {
        int first = 0;
        for (const HostShare& host : options_.hosts) {
            start(host, first);
            first += host.n_pes;
        }
        while (!all_ended() || (first_failed_ && !is_over_)) {
            poll();
            reap();
            report_ends();
            judge();
            if (!only_sends()) {
                check_timeout();
                check_stall();
            }
            end_senders();
            if (Clock::now() >= deadline_) end_agents();
        }
        store_->end_setup();  // no PE is still connecting
        trace_.finish(store_->came(), [this] { return is_interrupted(); });
        output_.finish(LastSignals(signals_, signals_before_));
        poll_output();
        return status_ == 0 && output_.has_failed() ? 1 : status_;
    }

  private:
    void take_signals() {
        sigset_t set;
        ::sigemptyset(&set);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})
            ::sigaddset(&set, number);
        ::signal(SIGCHLD, SIG_DFL);
        ::signal(SIGPIPE, SIG_IGN);
        ::sigprocmask(SIG_BLOCK, &set, &signals_before_);
        signals_ = common::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
        poller_.add(signals_.get(), {Source::signals, 0});
    }

    void open_store() {
        addresses_ = bootstrap::own_addresses(settings_);
        if (addresses_.empty()) addresses_ = {"127.0.0.1"};
        common::Fd listener = bootstrap::listen_anywhere(settings_.port, "atoll run --hosts");
        port_ = bootstrap::port_of(listener.get());
        secret_ = common::random_digits(16);
        bootstrap::StoreServer::Options options;
        options.n_pes = options_.n_pes;
        options.secret = secret_;
        options.silence_s = settings_.peer_timeout_s;
        std::vector<bootstrap::StoreServer::Listener> listeners;
        listeners.push_back({std::move(listener), false});
        store_ = std::make_unique<bootstrap::StoreServer>(std::move(listeners), common::Fd(), options);
        store_->serve_hosts();
        trace_.serve(*store_);
    }

    AgentOrder order_for(const Agent& agent) const {
        AgentOrder order;
        order.number = agent.number;
        order.first_pe = agent.first_pe;
        order.n_pes = agent.host.n_pes;
        order.logs = trace_.logs();
        order.n_all = options_.n_pes;
        order.port = port_;
        order.label = options_.label;
        order.raw = options_.raw;
        order.output_folder = options_.output_folder;
        order.store = ranks_store_;
        order.bind_core = options_.bind_core;
        order.secret = secret_;
        for (const std::string& address : addresses_)
            order.addresses += (order.addresses.empty() ? "" : ",") + address;
        char folder[PATH_MAX];
        order.folder = ::getcwd(folder, sizeof folder) ? folder : "/";
        order.environment = forwarded_environment();
        order.environment.insert(order.environment.end(), options_.environment.begin(),
                                 options_.environment.end());
        if (!options_.heap_size.empty()) order.environment.push_back("ATOLL_HEAP_SIZE=" + options_.heap_size);
        order.command = options_.command;
        return order;
    }

    void start(const HostShare& host, int first) {
        auto agent = std::make_unique<Agent>();
        agent->host = host;
        agent->number = static_cast<int>(agents_.size());
        agent->first_pe = first;
        AgentOutput streams = start_agent(*agent, options_.agent.empty() ? settings_.agent : options_.agent);
        agent->output[0] = output_.add(std::move(streams.out), Output::out);
        agent->output[1] = output_.add(std::move(streams.err), Output::err);
        agent->tell(bootstrap::encode('C', encode_order(order_for(*agent))));
        agents_.push_back(std::move(agent));
    }

    /// True if agents only live for the events that they send. Then the job has ended, and has its status.
    bool only_sends() const {
        return std::all_of(agents_.begin(), agents_.end(),
                           [](const auto& agent) { return agent->has_status(); }) &&
               std::any_of(agents_.begin(), agents_.end(), [](const auto& agent) { return !agent->ended; });
    }

    bool all_ended() const {
        return std::all_of(agents_.begin(), agents_.end(), [&](const auto& agent) {
            return agent->ended && !output_.is_open(agent->output[0]) && !output_.is_open(agent->output[1]);
        });
    }

    void poll() {
        constexpr int store_poll_ms = 100;
        const int output_ms = output_.timeout_ms();
        bool signalled = false;
        poller_.wait(output_ms < 0 ? store_poll_ms : std::min(output_ms, store_poll_ms),
                     [&](Tag tag, std::uint32_t) {
                         if (tag.source == Source::output) output_.on_readable(tag.index);
                         if (tag.source == Source::sink) output_.on_room(tag.index);
                         if (tag.source == Source::signals) signalled = true;
                     });
        if (signalled) pass_on_signals();
        poll_output();
    }

    void poll_output() {
        output_.on_time();
        const std::string trouble = output_.trouble();
        if (!trouble.empty()) say(trouble);
    }

    void pass_on_signals() {
        signalfd_siginfo info{};
        while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
            const int number = static_cast<int>(info.ssi_signo);
            if (number == SIGCHLD) continue;
            if (only_sends() && !(is_abandoned_ && is_stuck())) {
                if (ends_a_wait(number)) abandon_trace();
                continue;
            }
            if (number == SIGQUIT) {
                print_table("what the PEs are doing");
                continue;
            }
            for (const auto& agent : agents_)
                if (!agent->ended) agent->tell(bootstrap::encode('S', std::to_string(number)));
            if (ends_a_wait(number)) {
                if (status_ == 0) status_ = 128 + number;
                over();
            }
        }
    }

    /// Writes the trace with the events that have come.
    void abandon_trace() {
        is_abandoned_ = true;
        trace_.abandon();
        for (const auto& agent : agents_) agent->end_at = Clock::now();
    }

    /// True if output waits for its reader.
    bool is_stuck() const {
        return std::any_of(agents_.begin(), agents_.end(),
                           [&](const auto& agent) { return is_stuck(*agent); });
    }
    bool is_stuck(const Agent& agent) const {
        return output_.is_paused(agent.output[0]) || output_.is_paused(agent.output[1]);
    }

    static bool ends_a_wait(int number) { return number == SIGINT || number == SIGTERM || number == SIGHUP; }

    /// True if a signal has come that ends the wait for events. The job's status is known.
    bool is_interrupted() const {
        bool is_one = false;
        for (signalfd_siginfo info{}; ::read(signals_.get(), &info, sizeof info) == sizeof info;)
            is_one = is_one || ends_a_wait(static_cast<int>(info.ssi_signo));
        return is_one;
    }

    void reap() {
        int wait_status = 0;
        for (pid_t pid; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;)
            for (const auto& agent : agents_)
                if (agent->pid == pid) on_end(*agent, wait_status);
    }

    void on_end(Agent& agent, int wait_status) {
        report_end(agent);  // it may have reported just before
        agent.ended = true;
        agent.orders = common::Fd();
        // An agent that has reported its status may lose its connection while it sends events. That costs
        // events.
        if (!agent.pes_ended)
            take_status(agent,
                        WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    }

    void take_status(Agent& agent, int status) {
        agent.status = status;
        if (status != 0 && !first_failed_) first_failed_ = &agent;
    }

    /// Agents that send events for a trace live longer than their PEs.
    void report_ends() {
        for (const auto& agent : agents_) report_end(*agent);
    }
    void report_end(Agent& agent) {
        const std::optional<int> status = agent.has_status() ? std::nullopt : trace_.status_of(agent);
        if (!status) return;
        agent.pes_ended = true;
        take_status(agent, *status);
    }

    /// The job takes the status of the host whose PE failed first. The store learns later which one that is:
    /// the first agent to end may be that of a host whose PEs ended as a consequence.
    void judge() {
        const bootstrap::StoreServer::Failure failure = store_->failure();
        if (!first_failed_ && failure.sentence.empty()) return;
        if (trouble_since_ == Clock::time_point()) trouble_since_ = Clock::now();
        if (is_over_) return;
        const auto found = std::find_if(agents_.begin(), agents_.end(),
                                        [&](const auto& agent) { return agent->has(failure.pe); });
        const Agent* guilty = found != agents_.end() ? found->get() : first_failed_;
        // The agent gives the host's other PEs 1.5 s to end; on an oversubscribed host that takes longer.
        constexpr std::chrono::milliseconds for_its_status(3000);
        const auto patience = found == agents_.end() ? patience_for_the_store() : for_its_status;
        const bool known = failure.silent || (found != agents_.end() && guilty->has_status());
        if (!known && Clock::now() < trouble_since_ + patience) return;
        if (status_ == 0) conclude(guilty, failure);
        if (failure.silent && guilty) abandon(*guilty);
        over();
    }

    /// PEs that ended have a connection still if their host is cut off. Then they ended because of that, and
    /// their agent reports it by another network. The store notices such a host by its silence.
    std::chrono::milliseconds patience_for_the_store() const {
        constexpr std::chrono::milliseconds usual(200), margin(2000);
        const bool is_cut_off =
            first_failed_ && store_->is_connected(first_failed_->first_pe, first_failed_->host.n_pes);
        if (!is_cut_off) return usual;
        return margin + std::chrono::milliseconds(static_cast<long>(settings_.peer_timeout_s * 1000));
    }

    /// Ends an agent that hangs because its ssh waits for the network.
    static void abandon(const Agent& agent) {
        if (!agent.ended) ::kill(-agent.pid, SIGTERM);
    }

    void conclude(const Agent* guilty, const bootstrap::StoreServer::Failure& failure) {
        constexpr int unreachable = 255;  // ssh's own
        const bool has_ended = guilty && guilty->has_status() && !failure.silent;
        const int ended_with = has_ended ? guilty->status : 0;
        // If a PE ended the job for all PEs, `failure` has its status. Status 1 may mean that the connection
        // to a PE was lost; then the status of its host's agent is more exact.
        status_ = failure.status > 1 || ended_with == 0 ? failure.status : ended_with;
        if (status_ == 0) return;  // global_exit(0)
        if (ended_with == 0) return say(failure.sentence + after_the_start());
        const std::string sentence =
            guilty->text() + " ended with status " + std::to_string(ended_with) +
            (ended_with == unreachable ? ": the agent could not reach it, or could not start atoll there"
                                       : "");
        say(sentence + after_the_start());
        store_->end_job(guilty->first_pe, ended_with, "The PEs of " + sentence + ".");
    }

    /// Prints what the PEs report, because the boards of their hosts are not here.
    void print_table(const std::string& heading) {
        constexpr double patience_s = 1;
        say(core::report_of(store_->doing(patience_s), heading + ", " + elapsed() + " after the start",
                            line_begin));
    }

    void check_timeout() {
        if (options_.timeout_s <= 0 || is_over_ || seconds_since_start() < options_.timeout_s) return;
        const std::string limit = bootstrap::seconds_text(options_.timeout_s);
        print_table("time is up (--timeout " + limit + "); what the PEs are doing");
        const std::string sentence = "the job was ended after its --timeout of " + limit;
        say(sentence);
        status_ = timeout_status;
        for (const auto& agent : agents_)
            if (!agent->ended) agent->tell(bootstrap::encode('Q'));
        store_->end_job(-1, timeout_status, sentence);
        over();
        deadline_ = Clock::now() + abort_grace;
    }

    void check_stall() {
        const double now_s = seconds_since_start();
        if (is_over_ || now_s < stall_.next_s()) return;
        constexpr double patience_s = 0.2;
        const std::vector<common::PeDoing> doing = store_->doing(patience_s, false);
        if (stall_.update(doing, now_s))
            print_table(core::stall_heading(settings_.stall_warn_s));
        else if (sleep_.is_due(now_s) && sleep_.update(doing, now_s))
            print_table(sleep_.text() + "; what the PEs are doing");
    }

    void over() {
        is_over_ = true;
        deadline_ = std::min(deadline_, Clock::now() + grace);
    }

    /// Ends agents that live on after their PEs and send no events any more: their hosts are gone, or ssh
    /// hangs. The job has their status.
    void end_senders() {
        for (const auto& agent : agents_) {
            if (agent->ended || !agent->pes_ended) continue;
            const bool has_work = trace_.is_coming_from(*agent) || (is_stuck(*agent) && !is_over_);
            if (has_work) agent->end_at = Clock::time_point::max();
            if (!has_work) agent->end_at = std::min(agent->end_at, Clock::now() + grace);
            if (Clock::now() < agent->end_at) continue;
            agent->end();
            agent->end_at = Clock::now() + kill_interval;
        }
    }

    /// Ends the agents whose PEs have not ended, and with them these PEs. An agent that cannot be reached is
    /// abandoned.
    void end_agents() {
        bool one_sends = false;
        for (const auto& agent : agents_) {
            if (agent->ended) continue;
            one_sends = one_sends || agent->pes_ended;
            if (agent->pes_ended) continue;
            if (status_ == 0) status_ = timeout_status;
            agent->end();
        }
        if (ending_ && !one_sends) output_.close_all();
        ending_ = true;
        deadline_ = Clock::now() + kill_interval;
    }

    double seconds_since_start() const {
        return std::chrono::duration<double>(Clock::now() - began_).count();
    }
    std::string elapsed() const { return common::elapsed_text(seconds_since_start()); }
    std::string after_the_start() const { return " (" + elapsed() + " after the start)"; }

    void say(const std::string& sentence) { output_.say(line_begin + sentence + "\n"); }

    const RunOptions& options_;
    const common::Settings& settings_;
    const Clock::time_point began_ = Clock::now();
    common::Fd signals_;
    sigset_t signals_before_{};  ///< the previous signal mask
    Poller poller_;
    Output output_{poller_, options_.raw ? Output::Style::raw : Output::Style::lines, true};
    HostsTrace trace_{options_, settings_, [this](const std::string& sentence) { say(sentence); }};
    std::vector<std::string> addresses_;
    std::string secret_;
    RankStore ranks_store_;
    int port_ = 0;
    std::unique_ptr<bootstrap::StoreServer> store_;
    std::vector<std::unique_ptr<Agent>> agents_;
    int status_ = 0;
    bool is_over_ = false, ending_ = false, is_abandoned_ = false;
    const Agent* first_failed_ = nullptr;
    StallWatch stall_{settings_.stall_warn_s, longest_stall_interval_s};
    core::SleepWatch sleep_{settings_.stall_warn_s, isatty(STDIN_FILENO) != 0, false};
    Clock::time_point deadline_, trouble_since_;
};

}  // namespace

int run_on_hosts(const RunOptions& options) {
    common::forget_run_ranks();
    for (const std::string& entry : options.environment) {  // agents judge all other settings
        const std::string name = entry.substr(0, entry.find('='));
        if (name == "ATOLL_TRACE" || name == "ATOLL_RECORD" || name == "ATOLL_TRACE_EVENTS")
            set_variable(entry);
    }
    const common::Settings settings = common::read_settings();
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &descriptors);  // the store has a connection to every PE
    return HostsJob(options, settings).run();
}

}  // namespace atl::cli
