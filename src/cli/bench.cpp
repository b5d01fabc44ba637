// `atoll bench`: finds the executable of the benchmarks and runs it as a job.
#include <string>
#include <unistd.h>

#include "cli/cli.hpp"
#include "cli/command/options.hpp"
#include "cli/command/parse.hpp"
#include "cli/run.hpp"

namespace atl::cli {
namespace {

constexpr const char* program_name = "atoll-bench-core";

/// The executable lies beside this one in a build and in a wheel, and under libexec in an installed tree.
std::string find_benchmarks() {
    const std::string folder = executable_folder();
    for (const std::string& candidate :
         {folder + "/" + program_name, folder + "/../libexec/atoll/" + program_name}) {
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    throw UsageError(
        std::string(program_name) + " is neither in " + folder + " nor in " + folder +
            "/../libexec/atoll: this installation has no benchmarks (a source tree builds them: make bench)",
        UsageError::not_found);
}

}  // namespace

int bench_command(const Arguments& arguments) {
    Arguments names;
    std::string count = "2", json;
    CLI::App app("Runs the benchmarks and prints tables.", "atoll bench");
    app.add_option("NAMES", names, "which benchmarks, all when none is given");
    app.add_option("-n,--np", count, "number of PEs, 2 when not given")->type_name("N");
    app.add_option("--json", json, "also write the results to this file")->type_name("FILE");
    if (!parse(app, arguments)) return 0;
    RunOptions options;
    options.n_pes = parse_pe_count(count);
    options.command = {find_benchmarks()};
    if (!json.empty()) options.command.insert(options.command.end(), {"--json", json});
    options.command.insert(options.command.end(), names.begin(), names.end());
    return run_job(options);
}

}  // namespace atl::cli
