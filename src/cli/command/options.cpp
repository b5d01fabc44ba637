#include "cli/command/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "cli/command/parse.hpp"
#include "common/machine.hpp"
#include "common/settings/settings.hpp"

namespace atl::cli {
namespace {

constexpr const char* run_usage = "atoll run [-n N] [OPTIONS] PROGRAM [ARGUMENTS...]";

/// The number of arguments before PROGRAM. Found here rather than by the parser for two reasons. All
/// arguments behind PROGRAM belong to it. And "-np" and "-ppn" are no options that a parser of single letters
/// accepts.
std::size_t find_program(const Arguments& arguments) {
    constexpr const char* with_value[] = {"-n",          "-np",   "--np",         "--timeout", "--bind",
                                          "--heap-size", "--env", "-x",           "--hosts",   "--agent",
                                          "--ppn",       "-ppn",  "--output-dir", "--trace",   "--record"};
    std::size_t i = 0;
    while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' &&
           arguments[i] != "--" && arguments[i] != "-m") {  // -m is Python's, with all arguments that follow
        const bool takes_next =
            std::find(std::begin(with_value), std::end(with_value), arguments[i]) != std::end(with_value);
        i += takes_next ? 2 : 1;
    }
    return std::min(i, arguments.size());
}

double parse_timeout(const std::string& text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, seconds);
    const bool unit = end - rest == 1 && *rest == 's';
    if (error != std::errc{} || (rest != end && !unit) || !std::isfinite(seconds) || seconds <= 0) {
        throw UsageError("--timeout " + text + ": expected seconds above 0, such as 60 or 0.5");
    }
    return seconds;
}

void check_environment(const Arguments& entries) {
    for (const std::string& entry : entries) {
        const std::size_t sign = entry.find('=');
        if (sign == std::string::npos || sign == 0) {
            throw UsageError("--env " + entry + ": expected NAME=VALUE");
        }
    }
}

/// Handles `-x`. PEs inherit the environment, so on one host a bare name needs no further action.
void add_exported(RunOptions& options, const Arguments& exported) {
    for (const std::string& entry : exported) {
        if (entry.empty() || entry[0] == '=')
            throw UsageError("-x " + entry + ": expected NAME or NAME=VALUE");
        if (entry.find('=') != std::string::npos)
            options.environment.push_back(entry);
        else if (const char* value = std::getenv(entry.c_str()); value && !options.hosts.empty())
            options.environment.push_back(entry + "=" + value);
    }
}

/// Sets the number of PEs: from -n, from --hosts, or one for each core.
void set_counts(RunOptions& options, const std::string& count, const std::string* hosts) {
    if (hosts) {  // an unset variable leaves an empty value
        options.hosts = parse_hosts(*hosts);
        for (const HostShare& host : options.hosts) options.n_pes += host.n_pes;
        if (!count.empty() && parse_pe_count(count) != options.n_pes)
            throw UsageError("-n " + count + " and --hosts " + *hosts + " differ: those hosts have " +
                             std::to_string(options.n_pes) + " PEs; -n may be left out");
        return;
    }
    if (!options.agent.empty()) throw UsageError("--agent goes with --hosts");
    options.is_default_count = count.empty();
    options.n_pes = count.empty() ? common::usable_cpus() : parse_pe_count(count);
}

/// Checks the PEs of each host that --ppn gives: here the other options decide them.
void check_share(const RunOptions& options, const std::string& ppn) {
    const int share = parse_pe_count(ppn, "--ppn");
    const std::string wrong = "--ppn " + ppn + ": expected ";
    if (options.hosts.empty() && share < options.n_pes)
        throw UsageError(wrong + "at least the " + std::to_string(options.n_pes) +
                         " PEs of this host; name several hosts by --hosts");
    for (const HostShare& host : options.hosts)
        if (host.n_pes != share)
            throw UsageError(wrong + "the " + std::to_string(host.n_pes) + " PEs that --hosts gives to " +
                             host.name + "; --ppn may be left out");
}

void check_debuggers(const RunOptions& options) {
    if (options.pdb && options.gdb) throw UsageError("--pdb and --gdb exclude each other: give one of them");
    if ((options.pdb || options.gdb || options.tmux) && !options.hosts.empty())
        throw UsageError("--pdb, --gdb and --tmux are for PEs of this host: leave out --hosts");
    if (options.tmux && (options.label || options.raw || !options.output_folder.empty()))
        throw UsageError("--tmux shows the output in panes: leave out --label, --raw and --output-dir");
}

void check_output(const RunOptions& options) {
    if (int{options.label} + int{options.raw} + int{!options.output_folder.empty()} > 1)
        throw UsageError("--label, --raw and --output-dir exclude one another: give one of them");
}

std::string no_count(const std::string& hosts, const std::string& count) {
    return "--hosts " + hosts + ": \"" + count +
           "\" is no number of PEs; expected NAME:PES,NAME:PES such as a:4,b:4";
}

}  // namespace

std::vector<HostShare> parse_hosts(const std::string& text) {
    std::vector<HostShare> hosts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t colon = part.rfind(':');
        HostShare share{part.substr(0, colon), 1};
        if (colon != std::string::npos) {
            const std::string count = part.substr(colon + 1);
            if (count.empty() || count.size() > 5 ||
                count.find_first_not_of("0123456789") != std::string::npos || std::atoi(count.c_str()) < 1)
                throw UsageError(no_count(text, count));
            share.n_pes = std::atoi(count.c_str());
        }
        if (share.name.empty() || share.name[0] == '-')
            throw UsageError("--hosts " + text + ": \"" + share.name +
                             "\" is no host's name; expected NAME:PES,NAME:PES such as a:4,b:4");
        hosts.push_back(share);
        at = end + 1;
    }
    return hosts;
}

int parse_pe_count(const std::string& text, const char* option) {
    int count = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    constexpr int most = 1 << 16;
    if (error != std::errc{} || rest != end || count < 1 || count > most) {
        throw UsageError(std::string(option) + " " + text + ": expected the number of PEs to start, 1 to " +
                         std::to_string(most));
    }
    return count;
}

std::optional<RunOptions> parse_run_options(const Arguments& arguments) {
    const std::size_t split = find_program(arguments);
    Arguments own(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(split));
    std::replace(own.begin(), own.end(), std::string("-np"), std::string("-n"));
    std::replace(own.begin(), own.end(), std::string("-ppn"), std::string("--ppn"));

    RunOptions options;
    std::string count, ppn, timeout, bind = "none", hosts;
    CLI::App app("Starts PROGRAM as N processing elements (PEs) of one job. A .py file is run by Python.",
                 "atoll run");
    app.add_option("-n,--np", count, "number of PEs (also -np; default: the cores that may be used)")
        ->type_name("N");
    const CLI::Option* over_hosts =
        app.add_option("--hosts", hosts,
                       "hosts and their numbers of PEs, such as a:4,b:4; each needs the same atoll at the "
                       "same path")
            ->type_name("HOST:N,...");
    app.add_option(
           "--ppn", ppn,
           "number of PEs of each host (also -ppn), as other launchers have it; -n and --hosts must agree")
        ->type_name("N");
    app.add_option("--agent", options.agent,
                   "program that runs a command on a host of --hosts; gets the host's name and the command "
                   "(default: ATOLL_AGENT, else ssh)")
        ->type_name("PROGRAM");
    app.add_flag("--label", options.label, "begin every output line of a PE with its number");
    app.add_flag("--raw", options.raw,
                 "PEs write directly to standard output and error, for binary data; lines may mix");
    app.add_option("--output-dir", options.output_folder,
                   "write each PE's output to files in this folder: pe0.out, pe0.err and so on")
        ->type_name("DIR");
    app.add_option("--timeout", timeout,
                   "end the job after this time in seconds with status 124, and print what each PE is doing")
        ->type_name("S");
    app.add_option("--bind", bind, "core: one core for each PE; none (default)")->type_name("core|none");
    app.add_flag(
        "--mps", options.mps,
        "let PEs that share a GPU run at the same time, by NVIDIA's MPS: this user's daemon, or one for "
        "the job");
    app.add_flag("--pdb", options.pdb,
                 "breakpoint() and uncaught exceptions stop in pdb on any PE, one PE at a time");
    app.add_flag("--gdb", options.gdb,
                 "start each PE in gdb, which prints all stacks after a crash; with --tmux it reads "
                 "commands");
    app.add_flag("--tmux", options.tmux, "a terminal for each PE: panes of a window of tmux");
    app.add_option("--trace", options.trace,
                   "write every operation of every PE to this file, for ui.perfetto.dev and `atoll report`")
        ->type_name("FILE");
    app.add_option("--record", options.record,
                   "write all events of the flight recorders to this file, for `atoll record` and "
                   "`atoll report`")
        ->type_name("FILE");
    app.add_flag("--stats", options.stats,
                 "at the end print a table of the operations: calls, bytes, times, waiting");
    app.add_option("--heap-size", options.heap_size, "limit of a PE's symmetric heap, such as 512m or 2g")
        ->type_name("SIZE");
    app.add_option("--env", options.environment, "set a variable for all PEs")
        ->type_name("K=V")
        ->allow_extra_args(false);
    Arguments exported;
    app.add_option("-x", exported,
                   "the same option of other launchers; without =V the variable keeps its present value")
        ->type_name("K[=V]")
        ->allow_extra_args(false);
    std::string shown_in_help;
    app.add_option("PROGRAM", shown_in_help,
                   "the program, or -m MODULE for a module of Python; all further arguments belong to it")
        ->type_name("[ARGUMENTS...]");
    app.footer("Ctrl-C ends the job, a second one at once; Ctrl-\\ prints what every PE is doing.");
    if (!parse(app, own, std::string(" (usage: ") + run_usage + ")")) return std::nullopt;

    set_counts(options, count, over_hosts->count() != 0 ? &hosts : nullptr);
    if (!ppn.empty()) check_share(options, ppn);
    check_output(options);
    check_debuggers(options);
    if (!timeout.empty()) options.timeout_s = parse_timeout(timeout);
    if (bind != "core" && bind != "none") throw UsageError("--bind " + bind + ": expected core or none");
    options.bind_core = bind == "core";
    if (!options.heap_size.empty()) common::parse_heap_size(options.heap_size, "--heap-size");
    check_environment(options.environment);
    add_exported(options, exported);

    std::size_t program = split;
    if (program < arguments.size() && arguments[program] == "--") ++program;
    options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(program), arguments.end());
    if (options.command.empty()) throw UsageError(std::string("PROGRAM is missing: ") + run_usage);
    return options;
}

}  // namespace atl::cli
