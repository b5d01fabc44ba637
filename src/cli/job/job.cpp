#include "cli/job/job.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <ctime>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "bootstrap/launcher/launch_protocol.hpp"
#include "cli/debug/panes.hpp"
#include "cli/hosts/trace_sender.hpp"
#include "cli/output/pe_terminal.hpp"
#include "common/recorder/statistics.hpp"

namespace atl::cli {
namespace {

double monotonic_s() { return static_cast<double>(common::now_ns()) * 1e-9; }

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bool is_ignored(int number) {
    struct sigaction action {};
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Opens a descriptor for the signals that the launcher handles. Blocks them and the signals that would stop
/// it. Returns the previous mask, which PEs inherit.
sigset_t take_signals(common::Fd& descriptor) {
    sigset_t handled, blocked, before;
    sigemptyset(&handled);
    for (const int number : {SIGCHLD, SIGUSR1, SIGUSR2, SIGWINCH, SIGTERM, SIGTSTP, SIGCONT})
        sigaddset(&handled, number);
    // nohup, and a shell's "&", set these to ignored; they must stay so.
    for (const int number : {SIGINT, SIGHUP, SIGQUIT}) {
        if (!is_ignored(number)) sigaddset(&handled, number);
    }
    blocked = handled;
    for (const int number : {SIGPIPE, SIGTTIN, SIGTTOU}) sigaddset(&blocked, number);
    signal(SIGCHLD, SIG_DFL);  // if ignored, exit statuses would be lost
    sigprocmask(SIG_BLOCK, &blocked, &before);
    descriptor = common::Fd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor) fail("signalfd");
    return before;
}

/// True if people or programs can answer the output of PE 0.
bool can_ask() {
    struct stat status {};
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(STDIN_FILENO));
}

/// True for the PEs of atoll.Pool, started as `python -c "from atoll._pool.pe import main; main()" SOCKET`.
bool is_pool(const Program& program) {
    return std::any_of(program.arguments.begin(), program.arguments.end(), [](const std::string& argument) {
        return argument.starts_with("from atoll._pool.pe import");
    });
}

}  // namespace

Job::Job(const RunOptions& options, const Program& program, const common::Settings& settings,
         const rlimit& child_descriptors)
    : options_(options),
      program_(program),
      settings_(settings),
      n_pes_(options.n_pes),
      start_s_(monotonic_s()),
      ranks_(options),
      pes_(static_cast<std::size_t>(options.n_pes)),
      store_(options.n_pes, [this](int pe, const std::string& packet) { answer(pe, packet); }),
      stall_(settings.stall_warn_s),
      sleep_(settings.stall_warn_s, isatty(STDIN_FILENO) != 0, is_pool(program)),
      trace_(options.join ? common::Settings() : settings,
             [this](const std::string& sentence) { say(sentence); }) {
    signals_before_ = take_signals(signals_);
    poller_.add(signals_.get(), {Source::signals, 0});
    group_ = std::make_unique<ProcessGroup>(signals_before_, child_descriptors);
    create_shared_memory();
    if (options.passes_output_on())
        output_ = std::make_unique<Output>(poller_, options.style(), n_pes_ > 1 || options.join.has_value());
    for (char** entry = environ; *entry; ++entry) environment_.push_back(*entry);
    if (const std::string& theirs = ranks_.of_user(); !theirs.empty() && n_pes_ > 1)
        say("PyTorch finds " + theirs +
            " in every PE, as the environment of this command has it; unset it, and "
            "PyTorch's ranks are the PEs");
}

Job::~Job() {
    // Destroyed before the lifelines close. Live PEs would take their closing for the launcher's death, with
    // the same result.
    group_.reset();
    if (board_memory_) munmap(board_memory_, board_bytes());
}

void Job::create_shared_memory() {
    // A memfd has no file that could remain, and does not depend on space in /dev/shm.
    // With a store in another launcher the PEs make a board of their own, which others are to find.
    board_fd_ = common::Fd(memfd_create(options_.join ? "atoll-agent" : "atoll-board", MFD_CLOEXEC));
    heap_fd_ = common::Fd(memfd_create("atoll-heap", MFD_CLOEXEC));
    const std::size_t bytes = board_bytes();
    if (!board_fd_ || !heap_fd_ || ftruncate(board_fd_.get(), static_cast<off_t>(bytes)) != 0) {
        fail("cannot make shared memory for the job");
    }
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, board_fd_.get(), 0);
    if (memory == MAP_FAILED) fail("cannot map the job board");
    board_memory_ = memory;
    board_ = common::BoardView::create(memory, n_pes_);
    board_.header().log_events = trace_.log_events();
    board_.header().log_moves = trace_.logs_moves() ? 1 : 0;
    board_.header().prints_statistics.store(1, std::memory_order_relaxed);
}

/// Opens stdout and stderr of PE `pe` if they are not the launcher's own.
void Job::open_output(int pe, common::Fd& out, common::Fd& err) {
    if (options_.panes) {
        out = common::Fd(fcntl(options_.panes->terminal(pe), F_DUPFD_CLOEXEC, 3));
        err = common::Fd(fcntl(options_.panes->terminal(pe), F_DUPFD_CLOEXEC, 3));
        return;
    }
    if (!options_.output_folder.empty()) return open_files(pe, out, err);
    if (!output_) return;
    const int label = options_.first_pe + pe;
    const bool is_asking = (pe == 0 || options_.pdb) && !options_.join && can_ask();
    for (const Output::Target target : {Output::out, Output::err}) {
        common::Fd& its = target == Output::out ? out : err;
        if (target == Output::err && output_->is_one_terminal() && out) {
            its = common::Fd(fcntl(out.get(), F_DUPFD_CLOEXEC, 3));
            continue;
        }
        common::Fd ours;
        if (output_->kind(target) == Sink::Kind::terminal) {
            PeTerminal terminal = open_pe_terminal(target == Output::out ? STDOUT_FILENO : STDERR_FILENO);
            if (!terminal.pe_end) continue;  // the PE then writes to the launcher's stream
            ours = std::move(terminal.launcher_end);
            its = std::move(terminal.pe_end);
        } else {
            int ends[2];
            if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
            ours = common::Fd(ends[0]);
            its = common::Fd(ends[1]);
        }
        const std::uint32_t stream = output_->add(std::move(ours), target, label, is_asking);
        if (target == Output::err || output_->is_one_terminal()) output_->merge_tracebacks(stream, label);
    }
}

void Job::open_files(int pe, common::Fd& out, common::Fd& err) const {
    const std::string stem = options_.output_folder + "/pe" + std::to_string(options_.first_pe + pe);
    const auto create = [](const std::string& path) {
        common::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
        if (!file) fail("--output-dir: " + path + " cannot be written");
        return file;
    };
    out = create(stem + ".out");
    err = create(stem + ".err");
}

std::vector<int> Job::usable_cpu_numbers() const {
    std::vector<int> numbers;
    cpu_set_t set;
    if (!options_.bind_core || sched_getaffinity(0, sizeof set, &set) != 0) return numbers;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) numbers.push_back(cpu);
    }
    return numbers;
}

/// Returns the variable by which PE `pe` joins the job. Over hosts the PE inherits no descriptor, or one for
/// a trace.
std::string Job::invitation_of(int pe, Child& child) const {
    if (options_.join) {  // the store is in another launcher
        bootstrap::Invitation invitation = *options_.join;
        invitation.pe += pe;
        if (options_.trace_sender) {
            child.inherited.resize(1);  // the socket for packets
            invitation.agent = child.inherited[0];
        } else {
            child.inherited.clear();
        }
        return std::string(bootstrap::Invitation::variable) + "=" + invitation.text();
    }
    std::string launched = std::string(bootstrap::launched_variable) + "=" +
                           std::to_string(bootstrap::protocol_version) + ":" + std::to_string(pe) + ":" +
                           std::to_string(n_pes_);
    for (const int fd : child.inherited) launched += ":" + std::to_string(fd);
    return launched;
}

/// Opens the stdin of PE `pe` if it is not the launcher's own. With --pdb all PEs have the same, and take
/// turns.
common::Fd Job::open_input(int pe) {
    if (options_.panes) return common::Fd(fcntl(options_.panes->terminal(pe), F_DUPFD_CLOEXEC, 3));
    if (options_.join || (pe > 0 && !options_.pdb))
        return common::Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!isatty(STDIN_FILENO)) return {};
    if (!terminal_) terminal_ = std::make_unique<TerminalInput>(poller_, input_);
    return common::Fd(fcntl(input_.get(), F_DUPFD_CLOEXEC, 3));
}

void Job::start_pe(int pe) {
    Pe& started = pes_[static_cast<std::size_t>(pe)];
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
    started.socket = common::Fd(ends[0]);
    const common::Fd its_socket(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);

    common::Fd input = open_input(pe), out, err;
    open_output(pe, out, err);

    Child child;
    child.standard[0] = input.get();
    child.standard[1] = out.get();
    child.standard[2] = err.get();
    child.inherited = {its_socket.get(), board_fd_.get(), heap_fd_.get()};
    std::vector<std::string> own = ranks_.of(pe);
    own.push_back(invitation_of(pe, child));
    std::vector<char*> environment = environment_;
    for (std::string& entry : own) environment.push_back(entry.data());
    environment.push_back(nullptr);
    child.environment = environment.data();
    const std::vector<int> cpus = usable_cpu_numbers();
    if (!cpus.empty()) child.cpu = cpus[static_cast<std::size_t>(pe) % cpus.size()];
    started.pid = group_->spawn(program_, child);
    if (options_.panes) options_.panes->started(pe, started.pid);
    ++running_;
    poller_.add(started.socket.get(), {Source::socket, static_cast<std::uint32_t>(pe)});
}

int Job::run() {
    for (int pe = 0; pe < n_pes_; ++pe) {
        try {
            start_pe(pe);
        } catch (const std::system_error& error) {
            throw UsageError("cannot start PE " + std::to_string(pe) + " of " + std::to_string(n_pes_) +
                                 ": " + error.what() +
                                 " (limits: ulimit -u, ulimit -n, the cgroup's pids.max)",
                             1);
        }
    }
    input_ = common::Fd();  // so that the end of the last PE closes it
    while (!finished()) {
        // Signals last: the output that a PE wrote before its death is to be read before the death is
        // reported.
        bool signalled = false;
        poller_.wait(timeout_ms(), [&](Tag tag, std::uint32_t events) {
            if (tag.source == Source::signals) {
                signalled = true;
            } else {
                dispatch(tag, events);
            }
        });
        if (signalled) on_signals();
        if (output_) poll_output();
        for (int pe = 0; pe < n_pes_; ++pe) on_lost(pe);
        check_timeout();
        check_stall();
        advance_end();
    }
    group_->end();
    const int status = finish();
    if (options_.trace_sender) options_.trace_sender->send(status);
    return status;
}

/// Writes what is left of the output and the records. Returns the job's status.
int Job::finish() {
    if (!output_) {
        finish_records();
        return status_;
    }
    signal(SIGPIPE, SIG_IGN);
    output_->catch_up();
    output_->show_tracebacks();
    if (!last_line_.empty()) write_line(last_line_);
    finish_records();
    output_->finish(LastSignals(signals_, signals_before_));
    poll_output();
    return status_ == 0 && output_->has_failed() ? 1 : status_;
}

/// Writes and prints what the PEs have left on the board.
void Job::finish_records() {
    if (options_.join) return;  // their board is not this one
    trace_.write(board_, [this](const std::string& sentence) { say(sentence); });
    if (!settings_.stats) return;
    std::vector<common::PeStatistics> pes;
    for (int pe = 0; pe < n_pes_; ++pe) pes.push_back(common::read_statistics(pe, board_.counters(pe)));
    const std::string table = common::statistics_table(pes);
    // Without "atoll run: ", by which readers find the reason of an end.
    if (!table.empty()) write_line("operations of all PEs:\n" + table);
}

void Job::poll_output() {
    output_->on_time();
    const std::string trouble = output_->trouble();
    if (!trouble.empty()) say(trouble);
}

bool Job::finished() const {
    if (running_ > 0 && phase_ != Phase::killed) return false;
    const bool unexplained =
        phase_ == Phase::running &&
        std::any_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return pe.lost_at > 0; });
    const bool all_ended = running_ == 0 && lifelines_ == 0 && !unexplained;
    // A process that survives SIGKILL for long is stuck in the kernel, or has escaped; ProcessGroup ends that
    // one.
    return all_ended || (phase_ == Phase::killed && (running_ == 0 || now() >= next_phase_s_));
}

int Job::timeout_ms() const {
    double next = stall_.next_s();
    if (phase_ != Phase::running) next = std::min(next, next_phase_s_);
    if (phase_ == Phase::running && options_.timeout_s > 0) next = std::min(next, options_.timeout_s);
    for (const Pe& pe : pes_) {
        if (pe.lost_at > 0 && phase_ == Phase::running) next = std::min(next, pe.decided_at);
    }
    const int output_ms = output_ ? output_->timeout_ms() : -1;
    if (next >= StallWatch::never) return output_ms;
    const int ms = static_cast<int>(std::clamp(std::ceil((next - now()) * 1e3), 0.0, 1e6));
    return output_ms < 0 ? ms : std::min(ms, output_ms);
}

void Job::dispatch(Tag tag, std::uint32_t events) {
    const int index = static_cast<int>(tag.index);
    switch (tag.source) {
        case Source::socket:
            return on_socket(index, events);
        case Source::lifeline:
            return on_lifeline(index);
        case Source::output:
            return output_->on_readable(tag.index);
        case Source::sink:
            return output_->on_room(tag.index);
        case Source::terminal:
            return terminal_->on_terminal();
        case Source::terminal_pipe:
            return terminal_->on_pipe(events);
        case Source::signals:
            return;
    }
}

double Job::now() const { return monotonic_s() - start_s_; }

void Job::say(const std::string& sentence) { write_line(line_of(sentence)); }

/// Empty if another process has printed the reason.
std::string Job::line_of(const std::string& sentence) const {
    return options_.is_quiet && *options_.is_quiet ? "" : line_begin + sentence + "\n";
}

void Job::write_line(const std::string& line) {
    if (line.empty()) return;
    if (output_) return output_->say(line);
    // One write, which keeps the line together among the PEs' output.
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace atl::cli
