// Requests during a job, made by signals and options.
#include <algorithm>
#include <cstdio>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bootstrap/deadline.hpp"
#include "cli/command/command.hpp"
#include "cli/job/job.hpp"
#include "cli/job/last_events.hpp"
#include "cli/stacks/stacks.hpp"
#include "core/hang/cause.hpp"

namespace atl::cli {
void Job::on_signals() {
    bool children = false;
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == sizeof info) {
        const int number = static_cast<int>(info.ssi_signo);
        switch (number) {
            case SIGCHLD:
                children = true;
                break;
            case SIGINT:
            case SIGTERM:
                interrupt(number, static_cast<int>(info.ssi_pid));
                break;
            case SIGQUIT:  // an agent's launcher asks the PEs, whose board is not this one
                if (!options_.join) print_table("what the PEs are doing");
                break;
            case SIGTSTP:
                stop();
                break;
            case SIGCONT:
                group_->signal(SIGCONT);
                if (terminal_) terminal_->resume();
                if (has_joined_) stall_.restart(now());
                sleep_.restart(now());
                break;
            case SIGWINCH:
                if (output_) output_->follow_window();
                group_->signal(number);
                break;
            default:  // most end a PE that does not expect them
                interrupted_by_ = number;
                group_->signal(number);
        }
    }
    if (children) reap();
}

/// The first signal goes to the PEs, which decide. The second ends the job.
void Job::interrupt(int number, int sender) {
    // timeout(1) sends its signal to the child and then to its process group; an oversubscribed machine may
    // run others in between. Both count as one. A terminal's signals have no sender and are all counted.
    constexpr double same_s = 0.5;
    if (sender != 0 && sender == interrupter_ && now() < interrupted_at_ + same_s) return;
    interrupter_ = sender;
    interrupted_at_ = now();
    interrupted_by_ = number;
    if (++interrupts_ == 1) {
        tell_cause();
        interrupted_at_ = now();  // the question of PEs for their lines takes a while
        interrupted_events_ = last_events(board_, -1);
        return group_->signal(number);
    }
    end(-1, 128 + number, "the job was ended by a second " + signal_name(number));
    group_->signal(SIGKILL);
    phase_ = Phase::killed;
    next_phase_s_ = now() + 1;
}

/// The first line of a report that has not come before the end. A wait of less than a second may be usual.
void Job::tell_cause() {
    constexpr double least_s = 1;
    if (has_reported_ || options_.join) return;
    std::vector<common::PeDoing> doing = board_.all_doing();
    for (const common::PeDoing& one : doing)
        if (one.waits && !one.polls && one.seconds < least_s) return;
    const auto is_elsewhere = [](const common::PeDoing& one) { return !one.waits && may_answer(one); };
    // All of them may be in loops of tests.
    if (std::any_of(doing.begin(), doing.end(), is_elsewhere)) doing = doing_with_sites(board_);
    const std::string sentence = core::find_cause(doing).sentence;
    if (!sentence.empty()) say(sentence + ".");
}

void Job::stop() {
    group_->signal(SIGTSTP);
    raise(SIGSTOP);
}

void Job::print_table(const std::string& heading) { print_table(heading, doing_with_sites(board_)); }

void Job::print_table(const std::string& heading, const std::vector<common::PeDoing>& doing) {
    has_reported_ = true;
    char when[32];
    std::snprintf(when, sizeof when, "%.1f s", now());
    say(report_with_stacks(board_, doing, heading + ", " + when + " after the start", line_begin));
}

void Job::check_timeout() {
    if (options_.timeout_s <= 0 || phase_ != Phase::running || now() < options_.timeout_s) return;
    print_table("time is up (--timeout " + bootstrap::seconds_text(options_.timeout_s) +
                "); what the PEs are doing");
    end(-1, timeout_status,
        "the job was ended after its --timeout of " + bootstrap::seconds_text(options_.timeout_s));
}

void Job::check_stall() {
    if (phase_ != Phase::running || now() < stall_.next_s()) return;
    if (stall_.update(board_.may_all_wait() ? board_.all_doing(false) : std::vector<common::PeDoing>(),
                      now())) {
        print_table(core::stall_heading(settings_.stall_warn_s));
    } else if (sleep_.is_due(now())) {
        const bool is_over = sleep_.update(board_.all_doing(false), now());
        if (!is_over && !sleep_.should_ask(now())) return;
        // PEs that do not wait in a call may do so in a loop of tests, or for the next call of a pool.
        const std::vector<common::PeDoing> doing =
            doing_with_sites(board_, is_over ? most_asked : static_cast<std::size_t>(n_pes_));
        std::string text = sleep_.answered(doing);
        if (text.empty() && is_over) text = sleep_.text();
        if (text.empty()) return;
        print_table(text + "; what the PEs are doing", doing);
        if (core::waits_of(doing).others.empty()) stall_.dismiss();
    }
}

}  // namespace atl::cli
