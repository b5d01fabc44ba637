// `atoll top`: the figures of running jobs, once, at intervals, or live by the package's module atoll._top.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "cli/command/command.hpp"
#include "cli/command/package.hpp"
#include "cli/command/parse.hpp"
#include "cli/jobs.hpp"
#include "cli/top/table.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {
namespace {

/// Jobs with more PEs have one line for all PEs that do the same.
constexpr int most_lines = 16;
/// Time over which a single table measures CPU time and bytes.
constexpr double single_s = 0.5;

struct TopOptions {
    std::string job;  ///< empty: all
    bool once = false, json = false, each = false;
    double every_s = 0;  ///< 0: not again
};

/// Seconds since a process started; 0 if unknown.
double age_of(int pid) {
    const common::ProcessFigures figures = common::process_figures(pid);
    if (figures.state == '?') return 0;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::max(
        0.0, static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - figures.started_s);
}

JobRow row_of(const RunningJob& job, const JobSample& before, const JobSample& now) {
    JobRow row;
    row.pid = job.pid();
    row.n_pes = job.board().n_pes();
    for (const PeSample& one : now.pes) row.waiting += one.doing.waits ? 1 : 0;
    row.cpu_percent = cpu_percent_of(before, now);
    row.seconds = age_of(job.pid());
    row.program = job.program();
    return row;
}

/// Writes to stdout, also to a pipe whose reader waits for it. Throws if it cannot.
void put_out(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    check_stdout();
}

std::string line_of(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The end of a process, for which one can wait.
class Lifetime {
  public:
    explicit Lifetime(int pid) : pid_(pid), fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
    /// Waits for this long. True if the process has ended. Linux before 5.3 has no such descriptor. There the
    /// wait is a sleep.
    bool ends_within(double seconds) const {
        pollfd one{fd_ ? fd_.get() : -1, POLLIN, 0};
        return poll(&one, 1, static_cast<int>(seconds * 1000)) > 0 || (!fd_ && kill(pid_, 0) != 0);
    }

  private:
    int pid_;
    common::Fd fd_;
};

void print_job(const RunningJob& job, const JobSample& before, const JobSample& now,
               const TopOptions& options) {
    const bool folds = !options.each && job.board().n_pes() > most_lines;
    JobFigures figures{row_of(job, before, now), job.board().header().heap_bytes, rows_of(before, now)};
    if (folds) figures.rows = folded(figures.rows);
    put_out(options.json ? line_of(job_json(figures)) : job_text(figures, folds));
}

int show_job(const TopOptions& options) {
    const RunningJob job = RunningJob::of(options.job);
    const Lifetime lifetime(job.pid());
    JobSample before = take_sample(job.board());
    bool ended = lifetime.ends_within(single_s);
    for (bool is_first = true; !ended || is_first; is_first = false) {
        if (!is_first && !options.json) put_out("\n");
        JobSample now = take_sample(job.board());
        print_job(job, before, now, options);
        if (options.every_s <= 0) return 0;
        before = std::move(now);
        ended = lifetime.ends_within(options.every_s);
    }
    const std::string end = end_text(job.board());
    put_out(options.json ? line_of({{"job", job.pid()}, {"ended", end}})
                         : "job " + std::to_string(job.pid()) + " has ended: " + end + "\n");
    return 0;
}

int show_jobs(const TopOptions& options) {
    std::map<int, JobSample> before;
    for (const RunningJob& job : RunningJob::all()) before[job.pid()] = take_sample(job.board());
    for (double wait_s = single_s;; wait_s = options.every_s) {
        usleep(static_cast<useconds_t>(wait_s * 1e6));
        std::vector<JobRow> rows;
        std::map<int, JobSample> samples;
        for (const RunningJob& job : RunningJob::all()) {
            JobSample now = take_sample(job.board());
            const auto known = before.find(job.pid());
            const bool is_same = known != before.end() && known->second.pes.size() == now.pes.size();
            rows.push_back(row_of(job, is_same ? known->second : now, now));
            samples[job.pid()] = std::move(now);
        }
        put_out(options.json ? line_of(jobs_json(rows)) : jobs_text(rows));
        if (options.every_s <= 0) return 0;
        if (!options.json) put_out("\n");
        before = std::move(samples);
    }
}

/// Replaces this process by the live display.
[[noreturn]] void show_live(const TopOptions& options) {
    Arguments arguments{executable_folder() + "/atoll"};
    if (!options.job.empty()) arguments.push_back(std::to_string(RunningJob::of(options.job).pid()));
    become_module("atoll._top", arguments, "the live display",
                  "`atoll top --once` prints a table and needs no Python");
}

}  // namespace

int top_command(const Arguments& arguments) {
    TopOptions options;
    CLI::App app(
        "Shows what the PEs of a running job do and use, refreshed each second; q leaves. Without JOB it "
        "lists your "
        "jobs on this host.",
        "atoll top");
    app.add_option("JOB", options.job, "process number of `atoll run` or of a PE")->type_name("");
    app.add_flag("--once", options.once, "print one table, and leave; so without a terminal");
    app.add_flag("--json", options.json, "print one JSON object a line instead of a table");
    app.add_option("--every", options.every_s, "print again after each S seconds, until the job ends")
        ->type_name("S");
    app.add_flag("--each", options.each, "a line for each PE, also in jobs of more than 16 PEs");
    if (!parse(app, arguments, " (usage: atoll top [JOB] [--once] [--json] [--every S] [--each])")) return 0;
    if (app.count("--every") != 0 && !(options.every_s >= 0.1 && options.every_s <= 86400))
        throw UsageError("--every needs seconds from 0.1 to 86400");
    if (options.once && options.every_s > 0)
        throw UsageError("--once prints one table; leave it out with --every");
    const bool is_plain = options.once || options.json || options.every_s > 0 || !isatty(STDOUT_FILENO);
    if (!is_plain) show_live(options);
    return options.job.empty() ? show_jobs(options) : show_job(options);
}

}  // namespace atl::cli
