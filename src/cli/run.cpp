#include "cli/run.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.hpp"
#include "cli/command/options.hpp"
#include "cli/command/program.hpp"
#include "cli/debug/debuggers.hpp"
#include "cli/debug/panes.hpp"
#include "cli/hosts.hpp"
#include "cli/job/job.hpp"
#include "cli/mps/mps.hpp"
#include "cli/thread_counts.hpp"
#include "common/settings/job_environment.hpp"
#include "common/settings/settings.hpp"

namespace atl::cli {
namespace {

// Opens missing standard descriptors, so that later descriptors do not take their numbers.
void fill_standard_descriptors() {
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2) fd = open("/dev/null", O_RDWR);
    if (fd > 2) close(fd);
}

/// Raises the limit for the descriptors of `n_pes` PEs. Returns the previous limits, which PEs get.
rlimit raise_descriptor_limit(int n_pes, bool passes_output_on) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlim_t each = passes_output_on ? 4 : 2;
    const rlim_t spare = 40;  // our own, and those that we inherited
    const rlim_t needed = each * static_cast<rlim_t>(n_pes) + spare;
    if (before.rlim_cur >= needed) return before;
    if (before.rlim_max < needed) {
        const rlim_t most = before.rlim_max > spare ? (before.rlim_max - spare) / each : 0;
        throw UsageError("-n " + std::to_string(n_pes) + " needs " + std::to_string(needed) +
                         " file descriptors, but the hard limit is " + std::to_string(before.rlim_max) +
                         " (ulimit -Hn): raise it" +
                         (most > 0 ? ", or start " + std::to_string(most) + " PEs at most" : ""));
    }
    rlimit raised = before;
    raised.rlim_cur = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
    return before;
}

void note(const RunOptions& options, const std::string& sentence) {
    const std::string line = line_begin + sentence + "\n";
    if (options.join) return;  // another host's launcher reports for this one
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void warn_of_shared_cores(const RunOptions& options) {
    cpu_set_t set;
    if (!options.bind_core || sched_getaffinity(0, sizeof set, &set) != 0) return;
    const int usable = CPU_COUNT(&set);
    if (options.n_pes <= usable) return;
    note(options, "--bind core: " + std::to_string(options.n_pes) + " PEs share " + std::to_string(usable) +
                      (usable == 1 ? " core" : " cores") + ", so that several are bound to the same one");
}

void make_output_folder(const std::string& folder) {
    std::error_code error;
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (error) throw UsageError("--output-dir " + folder + " cannot be made: " + error.message());
}

}  // namespace

int run_job(const RunOptions& options) {
    // Set in our own environment, so that PEs inherit the settings and the launcher itself uses them.
    for (const std::string& entry : options.environment) set_variable(entry);
    if (!options.heap_size.empty()) setenv("ATOLL_HEAP_SIZE", options.heap_size.c_str(), 1);
    unsetenv("ATOLL_LAUNCH_PDB");
    unsetenv("ATOLL_LAUNCHED");  // a launcher within a job starts a separate job
    common::forget_run_ranks();
    const common::Settings settings = common::read_settings();
    fill_standard_descriptors();
    Program program = find_program(options.command, settings.python);
    const Debuggers debuggers(options, program);
    if (!program.note.empty()) note(options, program.note);
    if (options.is_default_count)
        note(options, std::to_string(options.n_pes) + (options.n_pes == 1 ? " PE" : " PEs, one") +
                          " for each core that may be used (-n N starts another number)");
    const int threads = share_threads(options.n_pes, options.bind_core);
    if (threads > 0 && settings.info)
        note(options, "OMP_NUM_THREADS=" + std::to_string(threads) +
                          " and its relatives, so that the PEs' threads are no more than the cores");
    warn_of_shared_cores(options);
    make_output_folder(options.output_folder);
    std::optional<Mps> mps;  // before the job, whose environment names its folder
    if (settings.mps) mps.emplace(options.n_pes);
    const rlimit descriptors = raise_descriptor_limit(options.n_pes, options.passes_output_on());
    Job job(options, program, settings, descriptors);
    return job.run();
}

int run_command(const Arguments& arguments) {
    std::optional<RunOptions> options = parse_run_options(arguments);
    if (!options) return 0;
    signal(SIGXFSZ, SIG_IGN);  // a file over its limit (ulimit -f) then fails the write
    if (options->stats) setenv("ATOLL_STATS", "1", 1);
    if (!options->trace.empty()) setenv("ATOLL_TRACE", options->trace.c_str(), 1);
    if (!options->record.empty()) setenv("ATOLL_RECORD", options->record.c_str(), 1);
    // PEs that wait for the one in the debugger are no stall.
    if (options->pdb || options->gdb) setenv("ATOLL_STALL_WARN", "0", 0);
    if (options->mps) setenv("ATOLL_MPS", "1", 1);  // for the agents of other hosts, too
    std::optional<Panes> panes;
    if (options->tmux) {
        enter_tmux(arguments);
        options->panes = &panes.emplace(options->n_pes);
    }
    return options->hosts.empty() ? run_job(*options) : run_on_hosts(*options);
}

}  // namespace atl::cli
