// The end of PEs, and of the job with them.
#include <algorithm>
#include <chrono>
#include <optional>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "cli/job/failed_call.hpp"
#include "cli/job/job.hpp"
#include "cli/job/last_events.hpp"
#include "cli/stacks/crash_site.hpp"
#include "common/able_time.hpp"
#include "common/pe_ranges.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

// From the abort word to SIGTERM: time for PEs to flush, and for Python to print tracebacks. The same time as
// without a launcher (peer_monitor.cpp). Waits for a core do not count.
constexpr double abort_grace_s = 1.0;
// From SIGTERM to SIGKILL.
constexpr double term_grace_s = 0.5;
// From SIGKILL to giving up.
constexpr double kill_grace_s = 1.0;

struct Ended {
    pid_t pid;
    int wait_status;
};
/// Returns a text such as "PE 1 exited with status 1, 0.19 s after the start": a comma keeps two numbers
/// apart.
std::string timed_text(const std::string& text, double seconds) {
    const std::size_t word = text.rfind(' ') + 1;
    const bool has_number = text.find_first_not_of("0123456789", word) == text.npos;
    return text + (has_number ? ", " : " ") + common::elapsed_text(seconds) + " after the start";
}

bool was_killed(const Ended& one) { return WIFSIGNALED(one.wait_status); }
bool has_failed(const Ended& one) { return one.wait_status != 0; }

std::vector<Ended> ended_processes() {
    std::vector<Ended> ended;
    int wait_status = 0;
    for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) ended.push_back({pid, wait_status});
    return ended;
}

/// True for a process that exited with status 0 and has not been reaped.
bool has_ended_well(pid_t pid) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid && info.si_code == CLD_EXITED && info.si_status == 0;
}

}  // namespace

void Job::reap() {
    std::vector<Ended> ended = ended_processes();
    // The launcher tells PEs of other hosts that a PE here has died. They may be gone before the kernel
    // reports that PE to us. This wait lets the report name the PE that died first.
    constexpr auto for_the_first = std::chrono::milliseconds(100);
    if (options_.join && phase_ == Phase::running && std::any_of(ended.begin(), ended.end(), has_failed) &&
        std::none_of(ended.begin(), ended.end(), was_killed)) {
        std::this_thread::sleep_for(for_the_first);
        const std::vector<Ended> more = ended_processes();
        ended.insert(ended.end(), more.begin(), more.end());
    }
    if (options_.join) std::stable_partition(ended.begin(), ended.end(), was_killed);
    for (const Ended& one : ended) {
        const pid_t pid = one.pid;
        const int wait_status = one.wait_status;
        if (group_->is_guard(pid)) continue;  // killed from outside; the kernel's death signal remains
        auto started =
            std::find_if(pes_.begin(), pes_.end(), [&](const Pe& pe) { return pe.pid == pid && !pe.reaped; });
        if (started != pes_.end()) {
            on_exit(static_cast<int>(started - pes_.begin()), wait_status);
            continue;
        }
        // The first process of a PE ended before its program (`sh -c 'program &'`): we inherited the program.
        auto member = std::find_if(pes_.begin(), pes_.end(), [&](const Pe& pe) { return pe.member == pid; });
        if (member != pes_.end()) on_member_exit(static_cast<int>(member - pes_.begin()), wait_status);
    }
}

void Job::on_exit(int pe, int wait_status) {
    Pe& ended = pes_[static_cast<std::size_t>(pe)];
    while (receive(pe)) {
    }
    // The child program (`sh -c 'program; true'`) crashed before this process ended. Or this process has
    // replaced itself by another program.
    const bool hides_a_death = ended.lost_at != 0 && (ended.member != ended.pid || ended.has_run_on);
    ended.reaped = true;
    ended.lost_at = 0;
    --running_;
    // The lifeline of a descendant stays open. That of this process is over even if a forked child holds a
    // copy.
    if (ended.member == ended.pid) close_lifeline(pe);
    if (wait_status != 0) {
        on_death(pe, wait_status);
    } else if (hides_a_death) {
        lose(pe);
    } else if (!ended.lifeline) {
        settle(pe);
    }
}

void Job::on_member_exit(int pe, int wait_status) {
    Pe& ended = pes_[static_cast<std::size_t>(pe)];
    while (receive(pe)) {
    }
    ended.lost_at = 0;
    if (wait_status != 0) {
        on_death(pe, wait_status);
    } else {
        settle(pe);
    }
}

/// Records a PE that ended normally, or said goodbye.
void Job::settle(int pe) {
    Pe& ended = pes_[static_cast<std::size_t>(pe)];
    if (ended.goodbye != 'f' && board_.state(pe) < common::PeState::finalized) {
        board_.set_state(pe, common::PeState::left);
    }
    // Fences stay closed for a PE that never joined: the others cannot complete init without it.
    if (ended.has_joined) store_.depart(pe);
    check_never_joined();
    check_never_rejoined();
}

void Job::on_death(int pe, int wait_status) {
    const std::string doing = describe_doing(pe);
    board_.set_state(pe, common::PeState::died);
    store_.depart(pe);
    if (phase_ != Phase::running) return;
    const auto& header = board_.header();
    if (header.abort.load(std::memory_order_acquire) != 0) {
        // The PE that ended the job wrote the reason to the board. The statuses of the others follow from it.
        const int aborter = header.abort_pe.load(), abort_status = std::max(header.abort_status.load(), 1);
        if (options_.join || aborter < 0) return end(aborter, abort_status, header.abort_text);
        while (receive(aborter)) {  // its own message is not cut, and may be here already
        }
        return on_abort(aborter, abort_status, header.abort_text);
    }
    const auto timed = [this](const std::string& text) { return timed_text(text, now()); };
    const int status = shell_status(wait_status);
    if (interrupted_by_ != 0 && status == 128 + interrupted_by_) {
        return end(-1, status, timed("the job was interrupted by " + signal_name(interrupted_by_)));
    }
    const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    const std::string site = number == 0 || options_.join ? "" : crash_site(board_, pe, number);
    std::string sentence = timed("PE " + std::to_string(options_.first_pe + pe) + " " +
                                 describe_wait_status(wait_status) + site + (site.empty() ? "" : ",")) +
                           doing;
    if (number == SIGABRT && !options_.join)
        if (const std::string differing = differing_last_call(board_, pe); !differing.empty())
            return end(pe, status, differing + "; " + sentence);
    if (number == 0 && !options_.join)
        if (const std::string failed = failed_group(board_, pe); !failed.empty())
            return end(pe, status, failed + "; " + sentence);
    const std::string last = number == 0 || options_.join ? std::string() : last_call_text(board_, pe);
    if (doing.empty() && !last.empty()) sentence += "; " + last;
    if (number == SIGSEGV && !options_.join && has_full_stack(board_, pe, number)) {
        sentence += "; its stack was full, as by a recursion without an end (ulimit -s tells the limit)";
    } else if (number == SIGSEGV || number == SIGBUS) {
        // Python's default is `args`.
        if (!settings_.checks(common::CheckLevel::args) && (settings_.check_given || !program_.is_python()))
            sentence += "; ATOLL_CHECK=all may tell why";
        // The launcher does not know whether a program has kernels.
        if (!program_.is_python())
            sentence +=
                "; in kernels that a C++ compiler has compiled for CPUs, "
                "-DATOLL_DEVICE_CHECK_ADDRESSES=1 may";
        if (program_.is_python() && site.empty())
            sentence +=
                "; in a Python program an extension module or a kernel does that: faulthandler, which init "
                "turns on, says where (before init: PYTHONFAULTHANDLER=1)";
    }
    if (number == SIGKILL)
        sentence += "; if no user or program sent it, the kernel ran out of memory (see dmesg)";
    end(pe, status, sentence);
}

void Job::on_abort(int pe, int status, const std::string& text) {
    // OpenSHMEM's global_exit(0): every PE ends, without an error.
    if (status == 0 && text.empty()) return end(pe, 0, "");
    const auto timed = [this](const std::string& what) { return timed_text(what, now()); };
    // A program in Python has printed the exception itself; the launcher does not repeat it.
    constexpr std::string_view uncaught = " ended by an uncaught exception";
    const std::string begin = "PE " + std::to_string(pe) + std::string(uncaught);
    const std::size_t colon = text.find(": ");
    if (!text.starts_with(begin) || colon == std::string::npos) {
        const std::string cause = cause_of_error(pe, text, "");
        if (!cause.empty()) return end(pe, status, timed(cause));
        return end(pe, status, timed(bootstrap::end_text(pe, status)) + (text.empty() ? "" : ": " + text));
    }
    const std::string site = text.substr(begin.size(), colon - begin.size());  // " at x.py:8", or empty
    const std::string exception = text.substr(colon + 2);
    if (output_) output_->catch_up();
    const std::string cause = cause_of_error(pe, exception, site.empty() ? "" : site.substr(4));
    if (!cause.empty()) return end(pe, status, timed(cause), "", false);
    // The only PE of a job has printed it to the launcher's own stderr.
    const bool is_shown =
        output_ ? output_->has_shown(pe, exception.substr(0, exception.find('\n'))) : pes_.size() == 1;
    const std::string ended = timed(begin + site + (site.empty() ? "" : ","));
    const std::string full = ended + ": " + exception;
    // A traceback says enough, except of a wait that ran out or was interrupted.
    constexpr std::string_view of_waits[] = {"atoll.Timeout", "Timeout", "KeyboardInterrupt"};
    const bool is_of_wait = std::any_of(std::begin(of_waits), std::end(of_waits),
                                        [&](std::string_view name) { return exception.starts_with(name); });
    end(pe, status, full, is_shown ? ended : full, is_of_wait);
}

/// The PE at fault for an error of PE `pe`: the one that has ended, or whose call differs. Empty for other
/// errors, and over several hosts, whose recorders are elsewhere. `site`: the place of the error.
std::string Job::cause_of_error(int pe, const std::string& error, const std::string& site) {
    if (options_.join) return {};
    if (std::string text = differing_calls(board_, pe, error, site); !text.empty())
        return text + handled_text(board_) + ",";
    const std::optional<EndedPe> ended = ended_pe_of(error);
    if (!ended || ended->pe >= n_pes_) return {};
    const Pe& other = pes_[static_cast<std::size_t>(ended->pe)];
    const bool has_exited = other.reaped || has_ended_well(other.pid);
    constexpr std::string_view unfinalized = " without finalize";
    const bool names_finalize = error.find(unfinalized) != std::string::npos;
    const std::string how = ended->has_finalized
                                ? "has finalized"
                                : (has_exited ? "exited with status 0" : "left the job") +
                                      (names_finalize ? std::string(unfinalized) : std::string());
    return ended_text(board_, *ended, how, pe, site) + ",";
}

/// Handles a PE whose lifeline broke without an explanation.
void Job::on_lost(int pe) {
    Pe& lost = pes_[static_cast<std::size_t>(pe)];
    if (lost.lost_at == 0 || phase_ != Phase::running || now() < lost.decided_at) return;
    // Our child may have been without a core, and may still end.
    const bool was_able = common::able_seconds(lost.pid) >= lost.able_at_loss_s + lost_grace_s;
    if (was_able || now() >= lost.lost_at + common::longest_grace * lost_grace_s) return lose(pe);
    lost.decided_at = now() + lost_grace_s;
}

void Job::lose(int pe) {
    if (phase_ != Phase::running) return;
    Pe& lost = pes_[static_cast<std::size_t>(pe)];
    const std::string doing = describe_doing(pe);
    lost.lost_at = 0;
    board_.set_state(pe, common::PeState::died);
    store_.depart(pe);
    end(pe, 1,
        "PE " + std::to_string(pe) + " (process " + std::to_string(lost.member) +
            ") left the job without a word " + common::elapsed_text(now()) + " after the start" + doing +
            (lost.has_run_on
                 ? ": it ran on, as another program (exec) or with its descriptors closed; start other "
                   "programs before init, after finalize, or as processes of their own"
                 : ": by a crash that the program around it hides, by _exit or by exec"));
}

/// Ends a job that cannot begin: some PEs have joined it, and others ended without joining.
void Job::check_never_joined() {
    if (phase_ != Phase::running || !has_joined_) return;
    std::vector<int> missing;
    for (int pe = 0; pe < n_pes_; ++pe) {
        const Pe& candidate = pes_[static_cast<std::size_t>(pe)];
        if (candidate.reaped && !candidate.has_joined && !candidate.socket) missing.push_back(pe);
    }
    if (missing.empty()) return;
    const std::vector<int> waiting = store_.waiting();
    if (waiting.empty()) return;
    end(missing[0], 1,
        "PE " + common::pe_ranges(missing) + " ended without calling init, in which PE " +
            common::pe_ranges(waiting) + " waits");
}

/// The same for a second job of the same PEs.
void Job::check_never_rejoined() {
    std::vector<int> missing, waiting;
    for (int pe = 0; pe < n_pes_; ++pe) {
        const Pe& candidate = pes_[static_cast<std::size_t>(pe)];
        if (candidate.rejoins) waiting.push_back(pe);
        if (candidate.reaped && !candidate.lifeline) missing.push_back(pe);
    }
    if (phase_ != Phase::running || missing.empty() || waiting.empty()) return;
    end(missing[0], 1,
        "PE " + common::pe_ranges(missing) + " ended after finalize, while PE " + common::pe_ranges(waiting) +
            " waits in another init");
}

/// True if PEs of this host still run, which get time to end by themselves. In a job on several hosts, PEs
/// join elsewhere and only their processes are known here. If a process is killed at once, it could be taken
/// for the PE that died.
bool Job::some_member_lives() const {
    if (options_.join) return running_ > 0;
    return std::any_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return bool(pe.lifeline); });
}

void Job::end(int pe, int status, const std::string& sentence, const std::string& printed, bool with_events) {
    if (phase_ != Phase::running) return;
    status_ = status;
    const std::string events = sentence.empty() || !with_events ? std::string() : events_at_end(pe, status);
    board_.abort(pe, status, sentence.empty() ? "PE " + std::to_string(pe) + " ended the job" : sentence);
    if (!sentence.empty()) say_last(printed.empty() ? sentence : printed, events);
    phase_ = Phase::aborted;
    ended_s_ = now();
    for (Pe& one : pes_) one.able_at_end_s = common::able_seconds(one.member);
    next_phase_s_ = ended_s_ + (some_member_lives() ? abort_grace_s : 0);
}

/// The last events as lines. Those of an interrupted job were read before the PEs were interrupted.
std::string Job::events_at_end(int pe, int status) const {
    if (interrupted_by_ != 0 && status == 128 + interrupted_by_) return interrupted_events_;
    return last_events(board_, pe);
}

void Job::say_last(const std::string& sentence, const std::string& events) {
    std::string line = line_of(sentence);
    if (!line.empty()) line += events;  // without "atoll run: ", by which readers find the reason
    if (output_) output_->catch_up();
    if (output_ && output_->holds_tracebacks())
        last_line_ = line;
    else
        write_line(line);
}

/// True if a PE that has not ended was without a core for a part of its grace.
bool Job::lacked_cores() const {
    if (now() >= ended_s_ + common::longest_grace * abort_grace_s) return false;
    return std::any_of(pes_.begin(), pes_.end(), [](const Pe& pe) {
        return pe.lifeline && common::able_seconds(pe.member) < pe.able_at_end_s + abort_grace_s;
    });
}

void Job::advance_end() {
    if (phase_ == Phase::running || now() < next_phase_s_) return;
    if (phase_ == Phase::aborted && lacked_cores()) {
        next_phase_s_ = now() + abort_grace_s / 10;
    } else if (phase_ == Phase::aborted) {
        group_->signal(SIGTERM);
        group_->signal(SIGCONT);  // a stopped process takes no other signal
        phase_ = Phase::terminated;
        next_phase_s_ = now() + term_grace_s;
    } else {
        group_->signal(SIGKILL);
        phase_ = Phase::killed;
        next_phase_s_ = now() + kill_grace_s;
    }
}

std::string Job::describe_doing(int pe) const {
    if (board_.state(pe) != common::PeState::running) return "";
    const std::string wait = board_.wait_text(pe);
    return wait.empty() ? "" : ", waiting in " + wait;
}

}  // namespace atl::cli
