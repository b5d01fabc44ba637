// Settings: every environment variable of Atoll, read once and documented here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/settings/algorithms.hpp"

namespace atl::common {

/// Levels of ATOLL_CHECK. Each includes the previous ones.
enum class CheckLevel {
    none,   ///< only the comparisons of allocation and team creation
    basic,  ///< null pointers, PE numbers, bounds of symmetric memory, fingerprints of collective calls
    args,   ///< blocks of the heap and freed memory, in C overlap and alignment too
    all,    ///< all arguments of collective calls, at the cost of one more exchange for each
};

enum class TransportChoice { automatic, window, loopback, ucx };
enum class BootstrapChoice { automatic, single, launcher, tcp, pmix, pmi };

/// Selects how large puts and gets are carried out: by UCX's own remote memory access, or by messages.
enum class UcxRma : std::uint8_t {
    automatic,  ///< UCX's own where the network does it without the target's CPU, else messages
    on,         ///< UCX's own; UCX itself sends messages where the network does not do it
    device,     ///< the same, and device heaps where the network reaches GPUs' memory (GPUDirect RDMA)
    off,
};

inline constexpr std::uint64_t never_nontemporal = UINT64_MAX;
inline constexpr std::uint64_t keep_by_heap_limit = UINT64_MAX;

struct Settings {
    std::uint64_t team_bytes = 2u << 20;  ///< ATOLL_TEAM_MEMORY
    std::uint64_t heap_bytes = 0;         ///< ATOLL_HEAP_SIZE or an alias of it; 0 = default
    std::uint64_t heap_keep_bytes =
        keep_by_heap_limit;                ///< ATOLL_HEAP_KEEP; by default an eighth of the limit
    CheckLevel check = CheckLevel::basic;  ///< ATOLL_CHECK, also read by the Python package, for kernels
    bool check_given = false;              ///< set by the environment
    double wait_timeout_s = 0;             ///< ATOLL_WAIT_TIMEOUT; 0 = none
    double stall_warn_s = 1.2;             ///< ATOLL_STALL_WARN; 0 = never
    double init_timeout_s = 60;            ///< ATOLL_INIT_TIMEOUT
    bool init_timeout_given = false;       ///< set by the environment
    int spin = -1;                         ///< ATOLL_SPIN; -1 = by the number of cores
    bool info = false;                     ///< ATOLL_INFO, SHMEM_INFO
    bool stats = false;                    ///< ATOLL_STATS
    std::string trace, record;             ///< ATOLL_TRACE, ATOLL_RECORD: files; empty: none
    std::uint64_t log_events = 1 << 18;    ///< ATOLL_TRACE_EVENTS
    bool mps = false;                      ///< ATOLL_MPS
    bool version = false;                  ///< SHMEM_VERSION
    bool debug = false;                    ///< SHMEM_DEBUG
    TransportChoice transport = TransportChoice::automatic;  ///< ATOLL_TRANSPORT
    std::vector<std::string> host_ids;   ///< ATOLL_HOST_ID: names of PEs 0, 1, ..., repeated
    bool ucx_connect_all = false;        ///< ATOLL_UCX_CONNECT
    bool ucx_thread = true;              ///< ATOLL_UCX_PROGRESS
    UcxRma ucx_rma = UcxRma::automatic;  ///< ATOLL_UCX_RMA
    std::uint64_t ucx_rma_bytes = std::uint64_t{8} << 10;    ///< ATOLL_UCX_RMA_BYTES
    std::string ucx_library;                                 ///< ATOLL_UCX_LIBRARY; empty = searched for
    AlgorithmRules algorithms;                               ///< ATOLL_COLLECTIVE
    BootstrapChoice bootstrap = BootstrapChoice::automatic;  ///< ATOLL_BOOTSTRAP
    std::string secret;                                      ///< ATOLL_SECRET
    int port = 0;                                            ///< ATOLL_PORT; 0 = any free one, or MASTER_PORT
    std::string interface;      ///< ATOLL_INTERFACE: an interface's name or an address; empty = all
    double peer_timeout_s = 3;  ///< ATOLL_PEER_TIMEOUT
    std::string agent;          ///< ATOLL_AGENT: command with which `atoll run --hosts` reaches hosts;
                                ///< empty = ssh
    std::uint64_t nontemporal_bytes = never_nontemporal;  ///< ATOLL_NONTEMPORAL
    std::uint64_t reduce_engines_bytes = 0;               ///< ATOLL_REDUCE_ENGINES; 0 = by the number of PEs
    bool no_launcher = false;  ///< ATOLL_NO_LAUNCHER: init ignores the launcher that started the program
    bool static_data = false;  ///< symmetric static objects, requested by the front (JobOptions), not by a
                               ///< variable
    bool raise_kernel_errors = false;  ///< see JobOptions
    bool front_notes_signals = false;  ///< see JobOptions::Notes
    bool front_notes_writes = false;
    unsigned stream_blocks = 0;  ///< largest number of blocks of a stream collective's kernel; set by the
                                 ///< front, equal on all PEs; 0 = as many as fit
    int device = -1;             ///< ATOLL_DEVICE, LOCAL_RANK; -1 = by the number of the PE
    bool nvtx = false;           ///< ATOLL_NVTX, read by the Python package when it is imported
    bool device_exact = false;   ///< set by ATOLL_DEVICE; LOCAL_RANK continues past the last GPU
    std::string python;          ///< ATOLL_PYTHON: interpreter of .py files; empty = beside atoll

    bool checks(CheckLevel level) const { return check >= level; }
    /// True if members of a team compare a fingerprint of each collective call when they meet. The same on
    /// all PEs of a job.
    bool compares_calls() const { return checks(CheckLevel::basic); }
};

/// One row of `atoll info`.
struct SettingRow {
    std::string name;
    std::string type;  ///< such as "size"
    std::string unit;  ///< such as "bytes"; empty: none
    std::string value;
    std::string source;  ///< "default", "environment", or "SHMEM_SYMMETRIC_SIZE" when an alias was read
    std::string meaning;
};

/// Reads the environment. Throws Error(settings) for an unreadable value. Warns once about unknown ATOLL_*
/// names, with the nearest known name. Under the launcher only the launcher warns, so call this before
/// ATOLL_LAUNCHED is removed from the environment.
Settings read_settings();
/// Text of the settings that must be equal on all PEs of a job, since they select the algorithms of
/// collectives.
std::string agreed_settings(const Settings& settings);
/// All documented variables in the order of `atoll info`. Throws nothing: an unreadable value is reported in
/// `value`.
std::vector<SettingRow> describe_settings();

/// Parses ATOLL_TRANSPORT. Throws Error(settings).
TransportChoice parse_transport(const std::string& text);
const char* name_of(TransportChoice choice);
/// Parses ATOLL_HOST_ID: names separated by commas; none if the text is empty. Throws Error(settings).
std::vector<std::string> parse_host_ids(const std::string& text);
/// Parses "512m", "1.5G", ".5m", "4096": only the suffix's first letter (k, m, g, t) counts, 1024-based.
/// Throws Error(settings).
std::uint64_t parse_size(const std::string& text, const std::string& variable);
/// The same for a symmetric heap, which must not be empty.
std::uint64_t parse_heap_size(const std::string& text, const std::string& variable);

}  // namespace atl::common
