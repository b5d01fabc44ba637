// `atoll info`: describes this build, its settings and the machine.
#include <cstddef>
#include <cstdio>
#include <dlfcn.h>
#include <glob.h>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "cli/cli.hpp"
#include "cli/command/options.hpp"
#include "cli/command/parse.hpp"
#include "cli/mps/mps.hpp"
#include "cli/torch_modules.hpp"
#include "common/board/board.hpp"
#include "common/machine.hpp"
#include "common/settings/settings.hpp"
#include "gpu/device_plugin.hpp"
#include "transport/ucx/ucx.hpp"

#ifndef ATOLL_BUILD_TYPE
#define ATOLL_BUILD_TYPE ""
#endif
#ifndef ATOLL_SANITIZE
#define ATOLL_SANITIZE ""
#endif

namespace atl::cli {
namespace {

// Ordered, so that the output has the order of the code.
using Json = nlohmann::ordered_json;

std::string size_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    char text[48];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

Json describe_build() {
    const std::string sanitizers = ATOLL_SANITIZE;
    return {
#if defined(__clang__)
        {"compiler", "Clang " __clang_version__},
#else
        {"compiler", "GCC " __VERSION__},
#endif
            {"type", ATOLL_BUILD_TYPE}, {"sanitizers", sanitizers.empty() ? "none" : sanitizers},
#if defined(__x86_64__)
            {"architecture", "x86-64"},
#elif defined(__aarch64__)
            {"architecture", "aarch64"},
#endif
#if defined(NDEBUG)
            {"assertions", "off"},
#else
            {"assertions", "on"},
#endif
            {"cuda", gpu::describe_device_plugin()},
    };
}

Json describe_machine(int n_pes) {
    rlimit descriptors{};
    getrlimit(RLIMIT_NOFILE, &descriptors);
    Json machine = {
        {"usable_cpus", common::usable_cpus()},
        {"memory_limit_bytes", common::memory_limit_bytes()},
        {"default_heap_bytes", common::default_heap_bytes(n_pes)},
        {"default_heap_pes", n_pes},
        {"descriptor_limit", descriptors.rlim_max},
    };
    return machine;
}

std::string describe_ucx() {
    try {
        return transport::describe_ucx(common::read_settings().ucx_library);
    } catch (const Error& error) {
        return error.what();
    }
}

bool has_ucx() { return describe_ucx().starts_with("UCX "); }

Json describe_transports() {
    return {
        {{"name", "window"}, {"reaches", "PEs of this host, by loads and stores"}, {"usable", true}},
        {{"name", "ucx"}, {"reaches", "PEs of other hosts: " + describe_ucx()}, {"usable", has_ucx()}},
        {{"name", "loopback"}, {"reaches", "PEs of this host, as a reference for tests"}, {"usable", true}},
    };
}

/// Lists GPUs by their device nodes and the driver's library, so that no driver is started.
Json describe_gpus() {
    std::vector<std::string> nodes;
    glob_t found{};
    if (glob("/dev/nvidia[0-9]*", 0, nullptr, &found) == 0) {
        nodes.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    const bool has_driver = driver != nullptr;
    if (driver) dlclose(driver);
    return {
        {"devices", nodes}, {"driver", has_driver ? "libcuda.so.1" : "not found"}, {"mps", describe_mps()}};
}

Json describe_settings_json() {
    Json settings = Json::array();
    for (const common::SettingRow& row : common::describe_settings()) {
        settings.push_back({{"name", row.name},
                            {"type", row.type},
                            {"unit", row.unit},
                            {"value", row.value},
                            {"source", row.source},
                            {"meaning", row.meaning}});
    }
    return settings;
}

/// The layout of the job board, for tools and tests that read it from another process.
Json describe_board() {
    using common::BoardEntry;
    using common::BoardHeader;
    using common::WaitRecord;
    const auto in_wait = [](std::size_t offset) { return offsetof(BoardEntry, wait) + offset; };
    return {
        {"version", common::board_version},
        {"header_bytes", sizeof(BoardHeader)},
        {"entry_bytes", sizeof(BoardEntry)},
        {"abort", offsetof(BoardHeader, abort)},
        {"abort_text", offsetof(BoardHeader, abort_text)},
        {"exited", offsetof(BoardHeader, exited)},
        {"left", offsetof(BoardHeader, left)},
        {"entry",
         {{"state", offsetof(BoardEntry, state)},
          {"pid", offsetof(BoardEntry, pid)},
          {"pid_namespace", offsetof(BoardEntry, pid_namespace)},
          {"active", in_wait(offsetof(WaitRecord, active))},
          {"operation", in_wait(offsetof(WaitRecord, operation))},
          {"peer", in_wait(offsetof(WaitRecord, peer))},
          {"since_ns", in_wait(offsetof(WaitRecord, since_ns))}}},
    };
}

void print_setting(const Json& row) {
    const auto text = [&](const char* key) { return row[key].get<std::string>(); };
    const std::string value = text("value").empty() ? "\"\"" : text("value");
    std::printf("  %-20s %s  (%s)\n  %-20s   %s\n", text("name").c_str(), value.c_str(),
                text("source").c_str(), "", text("meaning").c_str());
}

/// Prints all settings, or those that are not their defaults.
void print_settings(const Json& settings, bool all) {
    int left_out = 0;
    std::puts(all ? "\nsettings" : "\nsettings that are not the defaults");
    for (const Json& row : settings) {
        const bool is_default = row["source"].get<std::string>() == "default";
        if (all || !is_default)
            print_setting(row);
        else
            ++left_out;
    }
    if (all) return;
    if (left_out == static_cast<int>(settings.size())) std::puts("  none");
    std::printf("atoll info --settings lists the %d others, too.\n", left_out);
}

void print(const Json& info, bool all_settings) {
    const Json& build = info["build"];
    const Json& machine = info["machine"];
    std::printf("atoll %s\n", ATOLL_VERSION);
    std::printf("  build        %s, %s, %s, sanitizers: %s, assertions: %s\n",
                build["architecture"].get<std::string>().c_str(),
                build["compiler"].get<std::string>().c_str(), build["type"].get<std::string>().c_str(),
                build["sanitizers"].get<std::string>().c_str(),
                build["assertions"].get<std::string>().c_str());
    std::printf("  CPUs         %d usable (affinity and cgroup)\n", machine["usable_cpus"].get<int>());
    std::printf("  memory       %s (machine and cgroup)\n",
                size_text(machine["memory_limit_bytes"].get<std::uint64_t>()).c_str());
    std::printf("  heap         %s a PE by default with -n %d\n",
                size_text(machine["default_heap_bytes"].get<std::uint64_t>()).c_str(),
                machine["default_heap_pes"].get<int>());
    std::printf("  descriptors  %s\n", machine["descriptor_limit"].dump().c_str());
    for (const Json& transport : info["transports"]) {
        std::printf("  transport    %s: %s\n", transport["name"].get<std::string>().c_str(),
                    transport["reaches"].get<std::string>().c_str());
    }
    std::printf("  GPUs         %zu found, driver: %s\n", info["gpus"]["devices"].size(),
                info["gpus"]["driver"].get<std::string>().c_str());
    std::printf("  MPS          %s\n", info["gpus"]["mps"].get<std::string>().c_str());
    std::printf("  GPU part     %s\n", build["cuda"].get<std::string>().c_str());
    for (const Json& module : info["torch_modules"])
        std::printf("  PyTorch      %s\n", module.get<std::string>().c_str());
    if (info["torch_modules"].empty()) std::puts("  PyTorch      no module compiled yet");
    print_settings(info["settings"], all_settings);
}

}  // namespace

int info_command(const Arguments& arguments) {
    std::string count;
    bool as_json = false, of_job = false, all_settings = false;
    CLI::App app("Shows version, build, settings, and what this machine offers.", "atoll info");
    app.add_option("-n,--np", count, "number of PEs that the default heap size is shown for")->type_name("N");
    app.add_flag("--settings", all_settings, "all settings, not only those that are set");
    app.add_flag("--json", as_json, "as JSON");
    app.add_flag("--job", of_job,
                 "who reaches whom by what, as a job's program: atoll run -n 4 atoll info --job");
    if (!parse(app, arguments)) return 0;
    if (of_job) return info_of_job();
    const int n_pes = count.empty() ? common::usable_cpus() : parse_pe_count(count);
    const Json info = {{"version", ATOLL_VERSION},
                       {"build", describe_build()},
                       {"machine", describe_machine(n_pes)},
                       {"transports", describe_transports()},
                       {"gpus", describe_gpus()},
                       {"torch_modules", torch_modules()},
                       {"settings", describe_settings_json()},
                       {"board", describe_board()}};
    if (as_json) {
        std::cout << info.dump(2) << '\n';
    } else {
        print(info, all_settings);
    }
    return 0;
}

}  // namespace atl::cli
