// PEs as threads of this process: runs one function as every PE of a job.
#pragma once

#include "atoll/atoll.hpp"
#include "bootstrap/bootstrap.hpp"
#include "common/settings/settings.hpp"
#include "core/job/job_state.hpp"
#include "front/new_job.hpp"

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
};

/// Runs `body` as PEs 0 … n-1 and finalizes. An exception of a PE ends the job and is rethrown here (the
/// lowest PE's).
inline void run_pes(int n, const std::function<void(Job&)>& body, const ThreadJobOptions& options = {}) {
    common::Settings settings;
    settings.heap_bytes = options.heap_bytes;
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

/// The PE counts of the suites.
inline const std::vector<int> pe_counts = {1, 2, 3, 4, 7};

}  // namespace atl::testing
