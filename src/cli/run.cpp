#include "cli/run.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.hpp"
#include "cli/hosts.hpp"
#include "cli/job.hpp"
#include "cli/options.hpp"
#include "cli/program.hpp"
#include "common/settings.hpp"

namespace atl::cli {
namespace {

// What the launcher opens must not land where its PEs look for their standard streams.
void fill_standard_descriptors() {
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2) fd = open("/dev/null", O_RDWR);
    if (fd > 2) close(fd);
}

/// Makes room for the descriptors of `n_pes` PEs and returns the limits as they were, which is what PEs get.
rlimit raise_descriptor_limit(int n_pes, bool label) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlim_t each = label ? 4 : 2;
    const rlim_t spare = 40;  // our own, and those that we inherited
    const rlim_t needed = each * static_cast<rlim_t>(n_pes) + spare;
    if (before.rlim_cur >= needed) return before;
    if (before.rlim_max < needed) {
        const rlim_t most = before.rlim_max > spare ? (before.rlim_max - spare) / each : 0;
        throw UsageError("-n " + std::to_string(n_pes) + " needs " + std::to_string(needed) +
                         " file descriptors, but the hard limit is " + std::to_string(before.rlim_max) +
                         " (ulimit -Hn): raise it, or start " + std::to_string(most) + " PEs at most");
    }
    rlimit raised = before;
    raised.rlim_cur = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
    return before;
}

}  // namespace

int run_job(const RunOptions& options) {
    // Into our own environment, so that PEs inherit it and settings given this way count for the launcher
    // too.
    for (const std::string& entry : options.environment) {
        const std::size_t sign = entry.find('=');
        setenv(entry.substr(0, sign).c_str(), entry.substr(sign + 1).c_str(), 1);
    }
    if (!options.heap_size.empty()) setenv("ATOLL_HEAP_SIZE", options.heap_size.c_str(), 1);
    unsetenv("ATOLL_LAUNCHED");  // a launcher within a job starts a job of its own
    const common::Settings settings = common::read_settings();
    const Program program = find_program(options.command, settings.python);
    fill_standard_descriptors();
    const rlimit descriptors = raise_descriptor_limit(options.n_pes, options.label);
    Job job(options, program, settings, descriptors);
    return job.run();
}

int run_command(const Arguments& arguments) {
    const std::optional<RunOptions> options = parse_run_options(arguments);
    if (!options) return 0;
    return options->hosts.empty() ? run_job(*options) : run_on_hosts(*options);
}

}  // namespace atl::cli
