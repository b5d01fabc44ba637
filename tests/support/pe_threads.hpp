// PEs as threads of this process: runs one function as every PE of a job.
#pragma once

#include "atoll/atoll.hpp"
#include "bootstrap/bootstrap.hpp"
#include "common/settings/settings.hpp"
#include "core/job/job_state.hpp"
#include "front/new_job.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace atl::testing {

struct ThreadJobOptions {
    std::size_t heap_bytes = std::size_t{16} << 20;
    common::CheckLevel check = common::CheckLevel::all;
    std::string transport = "auto";  ///< like ATOLL_TRANSPORT
    std::string hosts;               ///< like ATOLL_HOST_ID
    double wait_timeout_s = 60;
    std::string algorithms;  ///< like ATOLL_COLLECTIVE
    bool finalize = true;
    std::size_t team_bytes = common::Settings{}.team_bytes;  ///< like ATOLL_TEAM_MEMORY
};

/// Runs `body` as PEs 0 … n-1 and finalizes. An exception of a PE ends the job and is rethrown here (the
/// lowest PE's).
inline void run_pes(int n, const std::function<void(Job&)>& body, const ThreadJobOptions& options = {}) {
    common::Settings settings;
    settings.heap_bytes = options.heap_bytes;
    settings.team_bytes = options.team_bytes;
    settings.check = options.check;
    settings.transport = common::parse_transport(options.transport);
    settings.host_ids = common::parse_host_ids(options.hosts);
    settings.wait_timeout_s = options.wait_timeout_s;
    settings.algorithms = common::parse_algorithms(options.algorithms);
    const auto layout = memory::layout_for(options.heap_bytes);
    const auto hub = bootstrap::create_hub(n, layout.stride() * static_cast<std::size_t>(n));
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    for (int pe = 0; pe < n; ++pe)
        threads.emplace_back([&, pe] {
            try {
                Job job(front::new_job(bootstrap::create_thread(hub, pe), settings));
                body(job);
                if (options.finalize) job.finalize();
            } catch (...) {
                errors[static_cast<std::size_t>(pe)] = std::current_exception();
            }
        });
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors)
        if (error) std::rethrow_exception(error);
}

/// Keeps threads that the calling thread starts on one core, if there are at least two more of them than
/// cores. Then a turn costs the same beside any load; the job of one PE more than cores covers several cores
/// (docs/measurements/2026-11-25-tests.md).
class OneCore {
  public:
    explicit OneCore(int n_threads) {
        if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        const int cores = CPU_COUNT(&before_);
        if (n_threads < cores + 2) return;
        int skipped = static_cast<int>(::getpid()) % cores;  // processes of tests spread over the cores
        for (std::size_t i = 0; i < CPU_SETSIZE && !changed_; ++i) {
            if (!CPU_ISSET(i, &before_) || skipped-- > 0) continue;
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            changed_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    ~OneCore() {
        if (changed_) ::sched_setaffinity(0, sizeof before_, &before_);
    }
    OneCore(const OneCore&) = delete;
    OneCore& operator=(const OneCore&) = delete;

  private:
    cpu_set_t before_{};
    bool changed_ = false;
};

/// The PE counts of the suites.
inline const std::vector<int> pe_counts = {1, 2, 3, 4, 7};

}  // namespace atl::testing
