// Setups for the suites of the core: PE counts and transports, with PEs as threads. The suites of
// tests/multi/suites.txt also run as a launched job, whose PEs are processes.
#pragma once

#include "support/pe_threads.hpp"
#include "transport/ucx/ucx.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace atl::testing {

struct Setup {
    int n_pes;  ///< 0: the PEs of the current job
    const char* transport;
    const char* hosts = "";  ///< like ATOLL_HOST_ID: pretended hosts of the PEs
};

inline void PrintTo(const Setup& setup, std::ostream* out) {
    *out << setup.n_pes << " PEs, " << setup.transport;
    if (*setup.hosts) *out << " between hosts " << setup.hosts;
}

/// True if this process is a PE of a launched job (support/as_pe.hpp).
#ifdef ATOLL_PES_ARE_PROCESSES
inline constexpr bool pes_are_processes = true;
#else
inline const bool pes_are_processes = std::getenv("ATOLL_TEST_SUITE") != nullptr;
#endif

/// True if UCX transports can be created here. They then use the network instead of shared memory.
inline bool has_ucx() {
    ::setenv("UCX_TLS", "tcp,self", 1);
    try {
        return !transport::describe_ucx("").empty();
    } catch (const Error&) {
        return false;
    }
}

inline std::vector<Setup> all_setups() {
    if (pes_are_processes) return {{0, "auto"}};
    std::vector<Setup> setups;
    for (const char* transport : {"auto", "loopback"})
        for (const int n : pe_counts) setups.push_back({n, transport});
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
            // Pretended hosts are not run here: these builds take ten times as long.
#elif defined(__SANITIZE_ADDRESS__)
    setups.push_back({4, "loopback", "a,b,b,b"});
#else
    // One PE per host, two, one and three, alternating, and hosts of different sizes in mixed order.
    for (const auto& [n, hosts] :
         {std::pair{2, "a,b"}, {4, "a,a,b,b"}, {4, "a,b,b,b"}, {4, "a,b"}, {7, "a,b,c,b,b"}})
        setups.push_back({n, "loopback", hosts});
#endif
    if (has_ucx()) {
        for (const int n : {2, 4}) setups.push_back({n, "ucx"});
        setups.push_back({4, "ucx", "a,b,b,a"});
    }
    return setups;
}

/// Setups for operations that do not work between hosts.
inline std::vector<Setup> setups_on_one_host() {
    std::vector<Setup> setups = all_setups();
    std::erase_if(setups, [](const Setup& setup) { return *setup.hosts != '\0'; });
    return setups;
}

inline std::string setup_name(const ::testing::TestParamInfo<Setup>& info) {
    if (info.param.n_pes == 0) return "Job";
    std::string name = std::string(info.param.transport) + std::to_string(info.param.n_pes);
    for (const char* c = info.param.hosts; *c; ++c)
        if (*c != ',') name += *c;
    return name;
}

class WithPes : public ::testing::TestWithParam<Setup> {
  protected:
    /// Runs `body` as every PE.
    void run(const std::function<void(Job&)>& body, ThreadJobOptions options = {}) const {
        if (GetParam().n_pes == 0) {
            Job& job = current_job();
            job.free(job.malloc(1));  // reclaims blocks dropped by earlier tests first
            return body(job);
        }
        options.transport = GetParam().transport;
        options.hosts = GetParam().hosts;
        const OneCore core(GetParam().n_pes);
        run_pes(GetParam().n_pes, body, options);
    }
    static int n_pes() { return GetParam().n_pes == 0 ? current_job().n_pes() : GetParam().n_pes; }
};

inline int right_of(const Job& job) { return (job.my_pe() + 1) % job.n_pes(); }
inline int left_of(const Job& job) { return (job.my_pe() + job.n_pes() - 1) % job.n_pes(); }

/// True if all PEs share memory. A message takes a thousand times as long as a store, so tests of many rounds
/// make fewer between hosts.
inline bool is_near(const Job& job) { return job.shared().n_pes() == job.n_pes(); }

/// The next PE of those that share memory with this one.
inline int right_in_window(const Job& job) {
    const Team& near = job.shared();
    return near.world_pe((near.my_pe() + 1) % near.n_pes());
}

/// Expects `call` to throw Error(code) with a sentence that contains all `parts`.
template <class Call> void expect_error(ErrorCode code, const std::vector<std::string>& parts, Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
        for (const std::string& part : parts)
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
                << "\"" << part << "\" is not in: " << error.what();
        return;
    }
    ADD_FAILURE() << "nothing was thrown; expected code " << static_cast<int>(code);
}

/// The same numbers in every run.
inline std::mt19937 random_numbers(int seed) {
    return std::mt19937(static_cast<unsigned>(seed) * 2654435761u + 1);
}
inline std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

}  // namespace atl::testing
