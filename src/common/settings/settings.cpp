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
#include "common/settings/job_environment.hpp"
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

/// NVSHMEM's flags take any word; NVSHMEM_DEBUG takes a level, such as WARN.
bool is_on_in_nvshmem(std::string_view value) {
    const bool is_off = strncasecmp(value.data(), "off", value.size()) == 0 && value.size() == 3;
    return !is_off && std::string_view("0nNfF").find(value[0]) == std::string_view::npos;
}

bool parse_flag(const Raw& raw) {
    // OpenSHMEM's own flags count as set whatever their value.
    if (is_openshmem(raw.variable)) return true;
    if (raw.variable.starts_with("NVSHMEM_")) return is_on_in_nvshmem(raw.value);
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

/// Whole pages, so that the memory behind it is aligned.
std::uint64_t parse_team_memory(const Raw& raw) {
    constexpr std::uint64_t step = 64u << 10, most = std::uint64_t{16} << 30;
    const std::uint64_t bytes = parse_size(raw.value, raw.variable);
    if (bytes < step || bytes > most) refuse(raw.variable, raw.value, "a size from 64K to 16G, such as 8M");
    return (bytes + step - 1) / step * step;
}

std::uint64_t parse_events(const Raw& raw) {
    std::uint64_t count = 0;
    const char* end = raw.value.data() + raw.value.size();
    const auto [rest, error] = std::from_chars(raw.value.data(), end, count);
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    if (error != std::errc{} || rest != end || count < 1 || count > most)
        refuse(raw.variable, raw.value, "a number of events, from 1 to 1073741824");
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

/// The words of an enumeration, in the order of its values.
template <class Enum> struct ChoiceWords;
template <> struct ChoiceWords<CheckLevel> {
    static constexpr const char* all[] = {"none", "basic", "args", "all"};
};
template <> struct ChoiceWords<TransportChoice> {
    static constexpr const char* all[] = {"auto", "window", "loopback", "ucx"};
};
template <> struct ChoiceWords<BootstrapChoice> {
    static constexpr const char* all[] = {"auto", "single", "launcher", "tcp", "pmix", "pmi"};
};
template <> struct ChoiceWords<UcxRma> {
    static constexpr const char* all[] = {"auto", "on", "device", "off"};
};
/// Choices whose two values are false and true.
enum class UcxConnect { lazy, all };
template <> struct ChoiceWords<UcxConnect> { static constexpr const char* all[] = {"lazy", "all"}; };
enum class UcxProgress { none, thread };
template <> struct ChoiceWords<UcxProgress> { static constexpr const char* all[] = {"none", "thread"}; };

template <class Enum> Enum parse_choice(const Raw& raw) {
    std::string expected;
    for (std::size_t i = 0; i < std::size(ChoiceWords<Enum>::all); ++i) {
        if (raw.value == ChoiceWords<Enum>::all[i]) return static_cast<Enum>(i);
        expected += (i == 0 ? "" : ", ") + std::string(ChoiceWords<Enum>::all[i]);
    }
    refuse(raw.variable, raw.value, "one of " + expected);
}

enum class SettingType { size, seconds, count, port, gpu, flag, choice, name, names, rules };

constexpr const char* name_of(SettingType type) {
    constexpr const char* names[] = {"size", "seconds", "count", "port",  "GPU",
                                     "flag", "choice",  "name",  "names", "rules"};
    return names[static_cast<int>(type)];
}

constexpr const char* unit_of(SettingType type) {
    return type == SettingType::size ? "bytes" : type == SettingType::seconds ? "s" : "";
}

/// One row of the table below.
struct Variable {
    const char* name;
    std::array<const char*, 3> aliases;  ///< names in other libraries; ours wins, then the first of these
    SettingType type;
    const char* fallback;  ///< the default, as text
    const char* meaning;
    void (*apply)(Settings&, const Raw&);
};

// The only list of variables: reading, `atoll info` and the warning about misspelt names all use it.
constexpr Variable variables[] = {
    {"ATOLL_HEAP_SIZE",
     {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "NVSHMEM_SYMMETRIC_SIZE"},
     SettingType::size,
     "half of the memory, divided among the PEs",
     "limit of a PE's symmetric heap, such as 512m or 1.5G; only pages in use take memory",
     [](Settings& s, const Raw& raw) { s.heap_bytes = parse_heap_size(raw.value, raw.variable); }},
    {"ATOLL_HEAP_KEEP",
     {},
     SettingType::size,
     "an eighth of the heap's limit",
     "freed memory of its host heap that a PE keeps for later blocks, such as 256m. It is less if the host "
     "runs short of memory; 0 returns all of it at once",
     [](Settings& s, const Raw& raw) { s.heap_keep_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_TEAM_MEMORY",
     {},
     SettingType::size,
     "2M",
     "memory of each PE for its teams in kernels, and as much on its GPU for their collectives on streams. "
     "At least 64K",
     [](Settings& s, const Raw& raw) { s.team_bytes = parse_team_memory(raw); }},
    {"ATOLL_CHECK",
     {},
     SettingType::choice,
     "basic (args in Python)",
     "level of checks: none, basic, args or all. With basic: null pointers, PEs, bounds of symmetric "
     "memory, fingerprints of collective calls. With args: also blocks of the heap and use after free. "
     "With all: also collective calls in full, and that arrays in kernels are symmetric",
     [](Settings& s, const Raw& raw) {
         s.check = parse_choice<CheckLevel>(raw);
         s.check_given = true;
     }},
    {"ATOLL_WAIT_TIMEOUT",
     {},
     SettingType::seconds,
     "0",
     "seconds after which a wait after init fails and names what it waited for; 0: no limit",
     [](Settings& s, const Raw& raw) { s.wait_timeout_s = parse_seconds(raw); }},
    {"ATOLL_STALL_WARN",
     {},
     SettingType::seconds,
     "1.2",
     "seconds without progress, while all PEs wait, after which atoll run or a PE reports a stall. Under "
     "atoll "
     "run ten times as long if others sleep outside Atoll, fifty times if they work or with a terminal as "
     "input. 0: never",
     [](Settings& s, const Raw& raw) { s.stall_warn_s = parse_seconds(raw); }},
    {"ATOLL_INIT_TIMEOUT",
     {},
     SettingType::seconds,
     "60",
     "seconds that init waits for the other PEs. If it is set, PEs of one host also wait so long for each "
     "other, or while they open their GPUs. 0: no limit",
     [](Settings& s, const Raw& raw) {
         s.init_timeout_s = parse_seconds(raw);
         s.init_timeout_given = true;
     }},
    {"ATOLL_SPIN",
     {},
     SettingType::count,
     "-1",
     "polls of a wait before it yields the core; -1: by PEs and cores",
     [](Settings& s, const Raw& raw) { s.spin = parse_spin(raw); }},
    {"ATOLL_INFO",
     {"SHMEM_INFO", "SMA_INFO", "NVSHMEM_INFO"},
     SettingType::flag,
     "0",
     "1: PE 0 prints version and settings when the job starts",
     [](Settings& s, const Raw& raw) { s.info = parse_flag(raw); }},
    {"ATOLL_STATS",
     {},
     SettingType::flag,
     "0",
     "1: count and time the operations. A table is printed when the job ends (atoll run --stats)",
     [](Settings& s, const Raw& raw) { s.stats = parse_flag(raw); }},
    {"ATOLL_TRACE",
     {},
     SettingType::name,
     "",
     "file for Perfetto's UI to which atoll run writes all operations of all PEs (atoll run --trace)",
     [](Settings& s, const Raw& raw) { s.trace = raw.value; }},
    {"ATOLL_RECORD",
     {},
     SettingType::name,
     "",
     "file to which atoll run writes all events of the flight recorders (atoll run --record)",
     [](Settings& s, const Raw& raw) { s.record = raw.value; }},
    {"ATOLL_TRACE_EVENTS",
     {},
     SettingType::count,
     "262144",
     "most events of a PE in a trace or record, of 64 bytes each; later ones are counted and left out",
     [](Settings& s, const Raw& raw) { s.log_events = parse_events(raw); }},
    {"SHMEM_VERSION",
     {"SMA_VERSION", "NVSHMEM_VERSION"},
     SettingType::flag,
     "not set",
     "if set: PE 0 prints the version when the job starts",
     [](Settings& s, const Raw& raw) { s.version = parse_flag(raw); }},
    {"SHMEM_DEBUG",
     {"SMA_DEBUG", "NVSHMEM_DEBUG"},
     SettingType::flag,
     "not set",
     "if set: calls in C of OpenSHMEM and NVSHMEM print the reason of an error status",
     [](Settings& s, const Raw& raw) { s.debug = parse_flag(raw); }},
    {"ATOLL_TRANSPORT",
     {},
     SettingType::choice,
     "auto",
     "how PEs reach each other: auto, window, ucx or loopback. By auto it is window (shared memory) on "
     "one host, and ucx between hosts. The transport loopback is a reference. In a job of several hosts "
     "it applies between them",
     [](Settings& s, const Raw& raw) { s.transport = parse_choice<TransportChoice>(raw); }},
    {"ATOLL_HOST_ID",
     {},
     SettingType::names,
     "",
     "name of this PE's host: PEs with different names share no memory. Or names for PEs 0, 1, ..., as in "
     "a,a,b, repeated if there are more PEs",
     [](Settings& s, const Raw& raw) { s.host_ids = parse_host_ids(raw.value); }},
    {"ATOLL_UCX_CONNECT",
     {},
     SettingType::choice,
     "lazy",
     "when a PE connects to others by UCX: lazy (at the first use) or all (at init)",
     [](Settings& s, const Raw& raw) {
         s.ucx_connect_all = parse_choice<UcxConnect>(raw) == UcxConnect::all;
     }},
    {"ATOLL_UCX_PROGRESS",
     {},
     SettingType::choice,
     "thread",
     "progress of UCX while the program computes: thread, or none (then only within calls of Atoll)",
     [](Settings& s, const Raw& raw) {
         s.ucx_thread = parse_choice<UcxProgress>(raw) == UcxProgress::thread;
     }},
    {"ATOLL_UCX_RMA",
     {},
     SettingType::choice,
     "auto",
     "engine of large puts and gets between hosts: on (UCX), device (UCX, for memory of GPUs too), off (the "
     "target's CPU) or auto. With auto it is UCX on InfiniBand and RoCE, from UCX 1.14 on",
     [](Settings& s, const Raw& raw) { s.ucx_rma = parse_choice<UcxRma>(raw); }},
    {"ATOLL_UCX_RMA_BYTES",
     {},
     SettingType::size,
     "8k",
     "from this size on a put or get is large; up to 4,096 bytes, which are copied into a message, it never "
     "is",
     [](Settings& s, const Raw& raw) { s.ucx_rma_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_UCX_LIBRARY",
     {},
     SettingType::name,
     "a UCX in the process, else the system's, else that of pip install '.[ucx]' in a clone",
     "path of the libucp.so.0 to load",
     [](Settings& s, const Raw& raw) { s.ucx_library = raw.value; }},
    {"ATOLL_COLLECTIVE",
     {},
     SettingType::rules,
     "",
     "algorithms by size, such as broadcast:65536=pull,reduce=slices",
     [](Settings& s, const Raw& raw) { s.algorithms = parse_algorithms(raw.value); }},
    {"ATOLL_BOOTSTRAP",
     {},
     SettingType::choice,
     "auto",
     "how PEs find each other: auto, single (a job of one), launcher, tcp (torchrun's variables), pmix or "
     "pmi",
     [](Settings& s, const Raw& raw) { s.bootstrap = parse_choice<BootstrapChoice>(raw); }},
    {"ATOLL_SECRET",
     {},
     SettingType::name,
     "not set",
     "secret that PEs of several hosts prove to know when they find each other by torchrun's variables",
     [](Settings& s, const Raw& raw) { s.secret = raw.value; }},
    {"ATOLL_PORT",
     {},
     SettingType::port,
     "a free one, or MASTER_PORT",
     "the port at which PE 0 listens for the PEs of other hosts",
     [](Settings& s, const Raw& raw) { s.port = parse_port(raw); }},
    {"ATOLL_INTERFACE",
     {},
     SettingType::name,
     "all",
     "network interface, or address, at which other hosts reach PE 0's host, such as eth1",
     [](Settings& s, const Raw& raw) { s.interface = raw.value; }},
    {"ATOLL_PEER_TIMEOUT",
     {},
     SettingType::seconds,
     "3",
     "seconds without an answer of a host after which the job ends",
     [](Settings& s, const Raw& raw) {
         s.peer_timeout_s = parse_seconds(raw);
         if (s.peer_timeout_s < 2) refuse(raw.variable, raw.value, "at least 2 seconds");
     }},
    {"ATOLL_AGENT",
     {},
     SettingType::name,
     "ssh",
     "command with which atoll run --hosts starts programs on other hosts; gets the host's name and a "
     "command",
     [](Settings& s, const Raw& raw) { s.agent = raw.value; }},
    {"ATOLL_NONTEMPORAL",
     {},
     SettingType::size,
     "0",
     "from this size on, data that the peer reads next bypass the writer's cache (0: never)",
     [](Settings& s, const Raw& raw) {
         const std::uint64_t bytes = parse_size(raw.value, raw.variable);
         s.nontemporal_bytes = bytes == 0 ? never_nontemporal : bytes;
     }},
    {"ATOLL_DEVICE",
     {"LOCAL_RANK"},
     SettingType::gpu,
     "the PE's number, modulo the number of GPUs",
     "the GPU of this PE's device heap, among those that CUDA_VISIBLE_DEVICES lets it see",
     [](Settings& s, const Raw& raw) {
         s.device = parse_device(raw);
         s.device_exact = raw.variable == "ATOLL_DEVICE";
     }},
    {"ATOLL_MPS",
     {},
     SettingType::flag,
     "0",
     "1: as atoll run --mps, PEs that share a GPU run on it at once",
     [](Settings& s, const Raw& raw) { s.mps = parse_flag(raw); }},
    {"ATOLL_REDUCE_ENGINES",
     {},
     SettingType::size,
     "96M between 2 PEs, 12M for each of more",
     "from this size on, the GPUs' copy engines distribute the result of a reduce",
     [](Settings& s, const Raw& raw) { s.reduce_engines_bytes = parse_size(raw.value, raw.variable); }},
    {"ATOLL_NVTX",
     {},
     SettingType::flag,
     "0",
     "1: in Python every call of Atoll is an NVTX range, for Nsight's time lines",
     [](Settings& s, const Raw& raw) { s.nvtx = parse_flag(raw); }},
    {"ATOLL_COMPAT",
     {},
     SettingType::names,
     "",
     "packages, separated by commas, whose names programs in Python find in Atoll: shmem4py, nvshmem, nccl, "
     "nbshmem (read by atoll run and import atoll)",
     [](Settings&, const Raw&) {}},
    {"ATOLL_TORCH_CACHE",
     {},
     SettingType::name,
     "~/.cache/atoll/torch",
     "folder of the modules compiled for PyTorch, which only its owner may write (read by the "
     "backend)",
     [](Settings&, const Raw&) {}},
    {"ATOLL_TORCH_REPLACE",
     {},
     SettingType::names,
     "",
     "backends of PyTorch, separated by commas, whose groups Atoll makes: gloo, nccl (read by import torch)",
     [](Settings&, const Raw&) {}},
    {"ATOLL_NO_LAUNCHER",
     {},
     SettingType::flag,
     "0",
     "1: init takes no notice of the launcher that started the program",
     [](Settings& s, const Raw& raw) { s.no_launcher = parse_flag(raw); }},
    {"ATOLL_PYTHON",
     {},
     SettingType::name,
     "that of an active environment with Atoll, else the one beside atoll, else python3",
     "interpreter with which atoll run starts .py files",
     [](Settings& s, const Raw& raw) { s.python = raw.value; }},
};

// Our internal variables, not for users: between the launcher and its PEs, for the tests, and CMake's names
// of this package.
constexpr const char* internal_names[] = {"ATOLL_LAUNCHED", "ATOLL_JOIN", ranks_record,
                                          "ATOLL_BIN",      "ATOLL_ROOT", "ATOLL_DIR"};
constexpr const char* internal_prefixes[] = {"ATOLL_TEST_", "ATOLL_LAUNCH_", "ATOLL_BENCH_", "ATOLL_BUILD_"};

/// Finds the value of `variable`; false if it is not set under any name. An empty value counts as unset,
/// except for OpenSHMEM's flags, which need no value. LOCAL_RANK of `atoll run` counts as unset, too. It
/// numbers the PEs of one launcher, and a machine can have several.
bool lookup(const Variable& variable, Raw& raw) {
    const char* names[] = {variable.name, variable.aliases[0], variable.aliases[1], variable.aliases[2]};
    for (const char* name : names) {
        const char* value = name ? std::getenv(name) : nullptr;
        const bool counts = value && (*value || (is_openshmem(name) && !std::strstr(name, "_SIZE"))) &&
                            !(name == std::string_view("LOCAL_RANK") && is_set_by_run(name));
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
        warning +=
            "atoll: " + name + " is set, but Atoll has no such setting" +
            (nearest.empty() ? " (atoll info --settings lists them)\n" : "; did you mean " + nearest + "?\n");
    }
    if (!warning.empty() && !warned.exchange(true)) std::fputs(warning.c_str(), stderr);
}

}  // namespace

TransportChoice parse_transport(const std::string& text) {
    return parse_choice<TransportChoice>({"ATOLL_TRANSPORT", text});
}

const char* name_of(TransportChoice choice) {
    return ChoiceWords<TransportChoice>::all[static_cast<int>(choice)];
}

std::vector<std::string> parse_host_ids(const std::string& text) {
    if (text.find('\n') != std::string::npos)
        throw Error(ErrorCode::settings, "ATOLL_HOST_ID holds a line break; give a name without.");
    std::vector<std::string> names;
    for (std::size_t at = 0; !text.empty() && at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        names.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

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
           (settings.team_bytes == Settings{}.team_bytes
                ? ""
                : " ATOLL_TEAM_MEMORY=" + std::to_string(settings.team_bytes)) +
           " ATOLL_TRANSPORT=" + name_of(settings.transport) +
           " ATOLL_COLLECTIVE=" + text_of(settings.algorithms) +
           (settings.reduce_engines_bytes == 0
                ? ""
                : " ATOLL_REDUCE_ENGINES=" + std::to_string(settings.reduce_engines_bytes)) +
           (settings.host_ids.empty() ? "" : " ATOLL_HOST_ID (set)");
}

std::vector<SettingRow> describe_settings() {
    std::vector<SettingRow> rows;
    for (const Variable& variable : variables) {
        SettingRow row{variable.name, name_of(variable.type), unit_of(variable.type), variable.fallback,
                       "default",     variable.meaning};
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
