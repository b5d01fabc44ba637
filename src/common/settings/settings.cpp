#include "common/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include "atoll/error.hpp"
#include "common/settings/nearest_name.hpp"

namespace atl::common {
namespace {

[[noreturn]] void refuse(const std::string& variable, const std::string& value, const std::string& expected) {
    throw Error(ErrorCode::settings, variable + "=" + value + " cannot be read: expected " + expected);
}

/// A value, and its variable for messages.
struct Raw {
    std::string variable;
    std::string value;
};

bool is_openshmem(std::string_view name) {
    return name.substr(0, 6) == "SHMEM_" || name.substr(0, 4) == "SMA_";
}

bool parse_flag(const Raw& raw) {
    // OpenSHMEM's own flags count as set whatever their value.
    if (is_openshmem(raw.variable)) return true;
    for (const char* yes : {"1", "true", "yes", "on"}) {
        if (strcasecmp(raw.value.c_str(), yes) == 0) return true;
    }
    for (const char* no : {"0", "false", "no", "off"}) {
        if (strcasecmp(raw.value.c_str(), no) == 0) return false;
    }
    refuse(raw.variable, raw.value, "1 or 0");
}

double parse_seconds(const Raw& raw) {
    double seconds = 0;
    const char* end = raw.value.data() + raw.value.size();
    const auto [rest, error] = std::from_chars(raw.value.data(), end, seconds);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (error != std::errc{} || (unit != "" && unit != "s") || !std::isfinite(seconds) || seconds < 0) {
        refuse(raw.variable, raw.value, "seconds, such as 30 or 0.5 (0 switches it off)");
    }
    return seconds;
}

int parse_spin(const Raw& raw) {
    int count = 0;
    const char* end = raw.value.data() + raw.value.size();
    const auto [rest, error] = std::from_chars(raw.value.data(), end, count);
    if (error != std::errc{} || rest != end || count < -1) {
        refuse(raw.variable, raw.value,
               "how often to look before yielding, such as 1000 (-1: by the number of cores)");
    }
    return count;
}

int parse_port(const Raw& raw) {
    int number = 0;
    const char* end = raw.value.data() + raw.value.size();
    const auto [rest, error] = std::from_chars(raw.value.data(), end, number);
    if (error != std::errc{} || rest != end || number < 1 || number > 65535)
        refuse(raw.variable, raw.value, "a port, from 1 to 65535");
    return number;
}

int parse_device(const Raw& raw) {
    int number = 0;
    const char* end = raw.value.data() + raw.value.size();
    const auto [rest, error] = std::from_chars(raw.value.data(), end, number);
    if (raw.variable == "LOCAL_RANK" && number == -1) return -1;  // some scripts' value for "not launched"
    if (error != std::errc{} || rest != end || number < 0)
        refuse(raw.variable, raw.value, "the number of a GPU among those that this process sees, from 0");
    return number;
}

std::string parse_choice(const Raw& raw, std::initializer_list<const char*> choices) {
    std::string expected;
    for (const char* choice : choices) {
        if (raw.value == choice) return raw.value;
        expected += (expected.empty() ? "" : ", ") + std::string(choice);
    }
    refuse(raw.variable, raw.value, "one of " + expected);
}

CheckLevel parse_check(const Raw& raw) {
    const std::string level = parse_choice(raw, {"none", "basic", "args", "all"});
    return level == "none"    ? CheckLevel::none
           : level == "basic" ? CheckLevel::basic
           : level == "args"  ? CheckLevel::args
                              : CheckLevel::all;
}

/// One row of the table below.
struct Variable {
    const char* name;
    std::array<const char*, 2> aliases;  ///< names in other libraries; ours wins, then the first of these
    const char* fallback;                ///< the default, as text
    const char* meaning;
    void (*apply)(Settings&, const Raw&);
};

// The only list of variables: reading, `atoll info` and the warning about misspelt names all use it.
constexpr Variable variables[] = {
    {"ATOLL_HEAP_SIZE",
     {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"},
     "half of the memory, divided among the PEs",
     "limit of a PE's symmetric heap, such as 512m or 1.5G; only pages in use take memory",
     [](Settings& s, const Raw& raw) { s.heap_bytes = parse_heap_size(raw.value, raw.variable); }},
    {"ATOLL_HEAP_KEEP",
     {},
     "an eighth of the heap's limit",
     "freed memory of its host heap that a PE keeps for later blocks, such as 256m; less if the host runs "
     "short of memory; 0 returns all of it at once",
     [](Settings& s, const Raw& raw) { s.heap_keep_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_CHECK",
     {},
     "basic (args in Python)",
     "level of checks: none; basic (null pointers, PEs, bounds of symmetric memory, fingerprints of "
     "collective "
     "calls); args (also blocks of the heap, use after free); all (also collective calls in full, and that "
     "arrays in kernels are symmetric)",
     [](Settings& s, const Raw& raw) {
         s.check = parse_check(raw);
         s.check_given = true;
     }},
    {"ATOLL_WAIT_TIMEOUT",
     {},
     "0",
     "seconds after which a wait after init fails and names what it waited for; 0: no limit",
     [](Settings& s, const Raw& raw) { s.wait_timeout_s = parse_seconds(raw); }},
    {"ATOLL_STALL_WARN",
     {},
     "30",
     "seconds without progress, while all PEs wait, after which atoll run reports a stall; 0: never",
     [](Settings& s, const Raw& raw) { s.stall_warn_s = parse_seconds(raw); }},
    {"ATOLL_INIT_TIMEOUT",
     {},
     "60",
     "seconds that init waits for the other PEs; if set, also PEs of one host for each other, or while they "
     "open their GPUs; 0: no limit",
     [](Settings& s, const Raw& raw) {
         s.init_timeout_s = parse_seconds(raw);
         s.init_timeout_given = true;
     }},
    {"ATOLL_SPIN",
     {},
     "-1",
     "polls of a wait before it yields the core; -1: by PEs and cores",
     [](Settings& s, const Raw& raw) { s.spin = parse_spin(raw); }},
    {"ATOLL_INFO",
     {"SHMEM_INFO", "SMA_INFO"},
     "0",
     "1: PE 0 prints version and settings when the job starts",
     [](Settings& s, const Raw& raw) { s.info = parse_flag(raw); }},
    {"SHMEM_VERSION",
     {"SMA_VERSION"},
     "not set",
     "if set: PE 0 prints the version when the job starts",
     [](Settings& s, const Raw& raw) { s.version = parse_flag(raw); }},
    {"SHMEM_DEBUG",
     {"SMA_DEBUG"},
     "not set",
     "if set: OpenSHMEM's C calls print the reason of an error status",
     [](Settings& s, const Raw& raw) { s.debug = parse_flag(raw); }},
    {"ATOLL_TRANSPORT",
     {},
     "auto",
     "how PEs reach each other: auto, window (shared memory; auto's choice on one host), ucx (auto's choice "
     "between hosts) or loopback (reference); in a job of several hosts it applies between them",
     [](Settings& s, const Raw& raw) {
         s.transport = parse_choice(raw, {"auto", "window", "loopback", "ucx"});
     }},
    {"ATOLL_HOST_ID",
     {},
     "",
     "names this PE's host: PEs with different names share no memory; or names for PEs 0, 1, ..., as in "
     "a,a,b (repeated if there are more PEs)",
     [](Settings& s, const Raw& raw) { s.host_id = raw.value; }},
    {"ATOLL_UCX_CONNECT",
     {},
     "lazy",
     "when a PE connects to others by UCX: lazy (at the first use) or all (at init)",
     [](Settings& s, const Raw& raw) {
         s.ucx_connect_all = parse_choice(raw, {"lazy", "all"}) == "all";
     }},
    {"ATOLL_UCX_PROGRESS",
     {},
     "thread",
     "progress of UCX while the program computes: thread, or none (then only within calls of Atoll)",
     [](Settings& s, const Raw& raw) {
         s.ucx_thread = parse_choice(raw, {"thread", "none"}) == "thread";
     }},
    {"ATOLL_UCX_RMA",
     {},
     "auto",
     "implementation of large puts and gets between hosts: UCX itself (on; device: of GPUs' memory too, if "
     "the network can access it), the target's CPU (off), or UCX if the network needs no CPU for it (auto: "
     "InfiniBand and RoCE, with UCX from 1.14 on)",
     [](Settings& s, const Raw& raw) {
         s.ucx_rma = parse_choice(raw, {"auto", "on", "device", "off"});
     }},
    {"ATOLL_UCX_RMA_BYTES",
     {},
     "8k",
     "from this size on a put or get is large; up to 4,096 bytes, which are copied into a message, it never "
     "is",
     [](Settings& s, const Raw& raw) { s.ucx_rma_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_UCX_LIBRARY",
     {},
     "a UCX in the process, else the system's, else that of pip install 'atoll[ucx]'",
     "path of the libucp.so.0 to load",
     [](Settings& s, const Raw& raw) { s.ucx_library = raw.value; }},
    {"ATOLL_COLLECTIVE",
     {},
     "",
     "algorithms by size, such as broadcast:65536=pull,reduce=slices",
     [](Settings& s, const Raw& raw) { s.algorithms = raw.value; }},
    {"ATOLL_BOOTSTRAP",
     {},
     "auto",
     "how PEs find each other: auto, single (a job of one), launcher, tcp (torchrun's variables), pmix or "
     "pmi",
     [](Settings& s, const Raw& raw) {
         s.bootstrap = parse_choice(raw, {"auto", "single", "launcher", "tcp", "pmix", "pmi"});
     }},
    {"ATOLL_SECRET",
     {},
     "not set",
     "secret that PEs of several hosts prove to know when they find each other by torchrun's variables",
     [](Settings& s, const Raw& raw) { s.secret = raw.value; }},
    {"ATOLL_PORT",
     {},
     "a free one, or MASTER_PORT",
     "the port at which PE 0 listens for the PEs of other hosts",
     [](Settings& s, const Raw& raw) { s.port = parse_port(raw); }},
    {"ATOLL_INTERFACE",
     {},
     "all",
     "network interface, or address, at which other hosts reach PE 0's host, such as eth1",
     [](Settings& s, const Raw& raw) { s.interface = raw.value; }},
    {"ATOLL_PEER_TIMEOUT",
     {},
     "3",
     "seconds after which a host that does not answer ends the job",
     [](Settings& s, const Raw& raw) {
         s.peer_timeout_s = parse_seconds(raw);
         if (s.peer_timeout_s < 2) refuse(raw.variable, raw.value, "at least 2 seconds");
     }},
    {"ATOLL_AGENT",
     {},
     "ssh",
     "command with which atoll run --hosts starts programs on other hosts; gets the host's name and a "
     "command",
     [](Settings& s, const Raw& raw) { s.agent = raw.value; }},
    {"ATOLL_NONTEMPORAL",
     {},
     "0",
     "from this size on, data that the peer reads next bypass the writer's cache (0: never)",
     [](Settings& s, const Raw& raw) {
         const std::uint64_t bytes = parse_size(raw.value, raw.variable);
         s.nontemporal_bytes = bytes == 0 ? never_nontemporal : bytes;
     }},
    {"ATOLL_DEVICE",
     {"LOCAL_RANK"},
     "the PE's number, modulo the number of GPUs",
     "the GPU of this PE's device heap, among those that CUDA_VISIBLE_DEVICES lets it see",
     [](Settings& s, const Raw& raw) {
         s.device = parse_device(raw);
         s.device_exact = raw.variable == "ATOLL_DEVICE";
     }},
    {"ATOLL_MPS",
     {},
     "0",
     "1: as atoll run --mps, PEs that share a GPU run on it at once",
     [](Settings& s, const Raw& raw) { s.mps = parse_flag(raw); }},
    {"ATOLL_REDUCE_ENGINES",
     {},
     "96M between 2 PEs, 12M for each of more",
     "from this size on, the GPUs' copy engines distribute the result of a reduce",
     [](Settings& s, const Raw& raw) { s.reduce_engines_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_NVTX",
     {},
     "0",
     "1: in Python every call of Atoll is an NVTX range, for Nsight's time lines",
     [](Settings& s, const Raw& raw) { s.nvtx = parse_flag(raw); }},
    {"ATOLL_COMPAT",
     {},
     "",
     "packages, separated by commas, whose names programs in Python find in Atoll: shmem4py (read by atoll "
     "run and "
     "import atoll)",
     [](Settings&, const Raw&) {}},
    {"ATOLL_NO_LAUNCHER",
     {},
     "0",
     "1: init takes no notice of the launcher that started the program",
     [](Settings& s, const Raw& raw) { s.no_launcher = parse_flag(raw); }},
    {"ATOLL_PYTHON",
     {},
     "that of an active environment with Atoll, else the one beside atoll, else python3",
     "interpreter with which atoll run starts .py files",
     [](Settings& s, const Raw& raw) { s.python = raw.value; }},
};

// Our internal variables, not for users: between the launcher and its PEs, for the tests, and CMake's names
// of this package.
constexpr const char* internal_names[] = {"ATOLL_LAUNCHED", "ATOLL_JOIN", "ATOLL_BIN", "ATOLL_ROOT",
                                          "ATOLL_DIR"};
constexpr const char* internal_prefixes[] = {"ATOLL_TEST_", "ATOLL_LAUNCH_", "ATOLL_BENCH_", "ATOLL_BUILD_"};

/// Finds the value of `variable`; false if it is not set under any name. An empty value counts as unset,
/// except for OpenSHMEM's flags, which need no value.
bool lookup(const Variable& variable, Raw& raw) {
    const char* names[] = {variable.name, variable.aliases[0], variable.aliases[1]};
    for (const char* name : names) {
        const char* value = name ? std::getenv(name) : nullptr;
        const bool counts = value && (*value || (is_openshmem(name) && !std::strstr(name, "_SIZE")));
        if (counts) {
            raw = {name, value};
            return true;
        }
    }
    return false;
}

bool is_internal(std::string_view name) {
    return std::any_of(std::begin(internal_names), std::end(internal_names),
                       [&](std::string_view known) { return name == known; }) ||
           std::any_of(std::begin(internal_prefixes), std::end(internal_prefixes),
                       [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

void warn_about_unknown_names() {
    static std::atomic<bool> warned{false};
    if (std::getenv("ATOLL_LAUNCHED") || std::getenv("ATOLL_JOIN") || warned.load()) return;
    std::vector<std::string> known;
    for (const Variable& variable : variables) known.emplace_back(variable.name);
    std::string warning;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text(*entry);
        const std::string name(text.substr(0, text.find('=')));
        if (name.rfind("ATOLL_", 0) != 0 || is_internal(name)) continue;
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const std::string nearest = nearest_name(name, known);
        warning += "atoll: " + name + " is set, but Atoll has no such setting" +
                   (nearest.empty() ? " (atoll info lists them)\n" : "; did you mean " + nearest + "?\n");
    }
    if (!warning.empty() && !warned.exchange(true)) std::fputs(warning.c_str(), stderr);
}

}  // namespace

std::uint64_t parse_size(const std::string& text, const std::string& variable) {
    constexpr const char* expected = "a size in bytes, or one such as 512k, 64m, 1.5G, 2t";
    const char* end = text.data() + text.size();
    double number = 0;
    // from_chars alone would accept "-1", "inf" and "nan".
    const bool starts = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (!starts || error != std::errc{}) refuse(variable, text, expected);
    std::string suffix(rest, end);
    suffix.erase(0, suffix.find_first_not_of(' ') == std::string::npos ? suffix.size()
                                                                       : suffix.find_first_not_of(' '));
    int shift = 0;
    if (!suffix.empty()) {
        constexpr std::string_view letters = "bkmgt";
        const std::size_t position = letters.find(static_cast<char>(suffix[0] | 0x20));
        const bool is_word = std::all_of(suffix.begin(), suffix.end(),
                                         [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
        if (position == std::string_view::npos || !is_word) refuse(variable, text, expected);
        shift = 10 * static_cast<int>(position);
    }
    const double bytes = std::ldexp(number, shift);
    if (!(bytes < 0x1p62)) refuse(variable, text, "a size that this machine can address");
    return static_cast<std::uint64_t>(bytes);
}

std::uint64_t parse_heap_size(const std::string& text, const std::string& variable) {
    const std::uint64_t bytes = parse_size(text, variable);
    if (bytes == 0) refuse(variable, text, "a size above 0, such as 512m or 2g; unset, the default holds");
    return bytes;
}

Settings read_settings() {
    warn_about_unknown_names();
    Settings settings;
    Raw raw;
    for (const Variable& variable : variables) {
        if (lookup(variable, raw)) variable.apply(settings, raw);
    }
    return settings;
}

std::string agreed_settings(const Settings& settings) {
    // PEs in Python and in C have different defaults, and may be in one job.
    static constexpr const char* levels[] = {"none", "basic or args", "basic or args", "all"};
    return std::string("ATOLL_CHECK=") + levels[static_cast<int>(settings.check)] +
           " ATOLL_TRANSPORT=" + settings.transport + " ATOLL_COLLECTIVE=" + settings.algorithms +
           (settings.reduce_engines_bytes == 0
                ? ""
                : " ATOLL_REDUCE_ENGINES=" + std::to_string(settings.reduce_engines_bytes)) +
           (settings.host_id.empty() ? "" : " ATOLL_HOST_ID (set)");
}

std::vector<SettingRow> describe_settings() {
    std::vector<SettingRow> rows;
    for (const Variable& variable : variables) {
        SettingRow row{variable.name, variable.fallback, "default", variable.meaning};
        Raw raw;
        if (lookup(variable, raw)) {
            row.value = variable.name == std::string_view("ATOLL_SECRET") ? "(set)" : raw.value;
            row.source = raw.variable == variable.name ? "environment" : raw.variable;
            try {
                Settings unused;
                variable.apply(unused, raw);
            } catch (const Error& error) {
                row.value = error.what();
            }
        }
        rows.push_back(row);
    }
    return rows;
}

}  // namespace atl::common
