#include <cctype>
#include <cstdio>
#include <exception>
#include <string>

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "cli/cli.hpp"
#include "cli/config.hpp"
#include "cli/debug/panes.hpp"
#include "cli/hosts.hpp"
#include "cli/jobs.hpp"
#include "cli/mps/mps.hpp"
#include "cli/shell/completion.hpp"
#include "cli/shell/new_project.hpp"
#include "common/settings/nearest_name.hpp"

namespace atl::cli {
namespace {

struct Command {
    const char* name;
    const char* summary;
    int (*call)(const Arguments&);
    const char* usage = nullptr;  ///< help of a command without options
};

constexpr Command commands[] = {
    {"run", "start a program as N processing elements of one job", run_command},
    {"info", "show version, settings, and what this machine offers", info_command},
    {"config", "print the flags that a compiler needs", config_command},
    {"bench", "run the benchmarks and print tables", bench_command},
    {"ps", "list this user's jobs on this host", ps_command, "atoll ps"},
    {"top", "show what the PEs of a running job do and use, live or once", top_command},
    {"stacks", "show why a running job waits, and the call stacks of its PEs", stacks_command,
     "atoll stacks [JOB]"},
    {"record", "print the last events of a running job, or all of a file, one JSON object a line",
     record_command, "atoll record [JOB|FILE]"},
    {"report", "summarize a file of `atoll run --trace` or --record, as text or as a page with pictures",
     report_command},
    {"new", "make a project with a program, a test and a page that says how to run both", new_command},
    {"completion", "print the completion of commands and options for bash, zsh or fish", completion_command},
};

void print_help() {
    std::puts("atoll " ATOLL_VERSION ": one symmetric memory over the processes of a job\n");
    for (const Command& command : commands) std::printf("  atoll %-10s %s\n", command.name, command.summary);
    std::puts("\nFor example: atoll run -n 4 script.py\n`atoll COMMAND --help` tells more.");
}

int call(const Command& command, const Arguments& arguments) {
    const bool asks = !arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h");
    if (command.usage == nullptr || !asks) return command.call(arguments);
    std::string summary = command.summary;
    summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
    std::printf(
        "%s.\nUsage: %s\n\nOptions:\n  -h,--help                   Print this help message and exit\n",
        summary.c_str(), command.usage);
    return 0;
}

int dispatch(const Arguments& arguments) {
    if (arguments.empty()) {
        print_help();
        return UsageError::bad_usage;
    }
    const std::string& name = arguments[0];
    if (name == "help" && arguments.size() == 2 && arguments[1][0] != '-')
        return dispatch({arguments[1], "--help"});
    if (name == "--help" || name == "-h" || name == "help") {
        print_help();
        return 0;
    }
    if (name == "--version" || name == "-V") {
        std::puts("atoll " ATOLL_VERSION);
        return 0;
    }
    if (name == "pane") return pane_command({arguments.begin() + 1, arguments.end()});  // for --tmux
    if (name == "agent") return agent_command({});  // internal: started by `atoll run --hosts`
    // internal: started by --mps
    if (name == "mps-guard") return mps_guard_command({arguments.begin() + 1, arguments.end()});
    Arguments names;
    for (const Command& command : commands) {
        if (name == command.name) return call(command, {arguments.begin() + 1, arguments.end()});
        names.emplace_back(command.name);
    }
    const std::string nearest = common::nearest_name(name, names);
    throw UsageError("\"" + name + "\" is no command of atoll" +
                     (nearest.empty() ? "; `atoll --help` lists them" : "; did you mean " + nearest + "?"));
}

}  // namespace

}  // namespace atl::cli

int main(int argc, char** argv) {
    using atl::cli::UsageError;
    const atl::cli::Arguments arguments(argv + (argc > 0), argv + argc);
    const std::string name = arguments.empty() || arguments[0][0] == '-' ? "" : " " + arguments[0];
    try {
        return atl::cli::dispatch(arguments);
    } catch (const UsageError& error) {
        std::fprintf(stderr, "atoll%s: %s\n", name.c_str(), error.what());
        return error.status();
    } catch (const atl::Error& error) {  // an invalid setting
        std::fprintf(stderr, "atoll%s: %s\n", name.c_str(), error.what());
        return UsageError::bad_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "atoll%s: %s\n", name.c_str(), error.what());
        return 1;
    }
}
