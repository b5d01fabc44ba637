// Tests that are specific to the transport by UCX; with other transports they pass at once.
#include "support/multi_main.hpp"
#include "support/setups.hpp"
#include "support/tcp_connections.hpp"

#include "core/job/job_state.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <dlfcn.h>
#include <string>
#include <thread>

namespace atl::testing {
namespace {

using namespace std::chrono_literals;

bool by_ucx() {
    const char* transport = std::getenv("ATOLL_TRANSPORT");
    return transport && std::string(transport) == "ucx" && current_job().n_pes() > 1;
}

bool uses(const std::string& network) {
    const char* networks = std::getenv("UCX_TLS");
    return networks && std::string(networks).find(network) != std::string::npos;
}

/// The signal handlers before main().
struct Handlers {
    static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGHUP};
    void (*of[5])(int);
    Handlers() {
        for (int i = 0; i < 5; ++i) {
            struct sigaction action {};
            ::sigaction(signals[i], nullptr, &action);
            of[i] = action.sa_handler;
        }
    }
} const at_start;

TEST(UcxJob, ConnectsByTcpAtTheFirstUse) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    if (!uses("tcp")) GTEST_SKIP() << "UCX_TLS has no tcp";
    Job& job = current_job();
    SymmetricArray<long> x(job, 1);
    const Context& ctx = job.context();
    job.world().barrier();
    if (job.my_pe() == 0) {
        const int before = tcp_connections();
        EXPECT_EQ(ctx.g(&x[0], 1), 0);
        EXPECT_GT(tcp_connections(), before);
    }
    job.world().barrier();
}

/// The file of a function; empty for none.
std::string file_of(const void* function) {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 ? info.dli_fname : "";
}

TEST(UcxJob, HandlesNoSignalsOfCrashes) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    const Handlers now;
    for (int i = 0; i < 5; ++i) {
        if (now.of[i] == at_start.of[i]) continue;
        // Atoll's own handlers are in this program, and UCX's would be in a library of its.
        const std::string file = file_of(reinterpret_cast<void*>(now.of[i]));
        EXPECT_EQ(file, file_of(reinterpret_cast<void*>(&is_initialized)))
            << "signal " << Handlers::signals[i];
    }
}

TEST(UcxJob, ServesOthersWhileItComputes) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    Job& job = current_job();
    SymmetricArray<long> x(job, 2);
    const Context& ctx = job.context();
    job.world().barrier();
    if (job.my_pe() == 0) {
        for (int i = 0; i < 100; ++i) ctx.atomic_fetch_inc(&x[0], 1);
        EXPECT_EQ(ctx.g(&x[0], 1), 100);
    } else if (job.my_pe() == 1) {
        // No call of Atoll: only the progress thread can serve PE 0.
        const auto end = std::chrono::steady_clock::now() + 90s;
        while (detail::atomic_load(&x[0]) < 100 && std::chrono::steady_clock::now() < end) {
        }
        EXPECT_EQ(detail::atomic_load(&x[0]), 100);
    }
    job.world().barrier();
}

/// Needs shared memory between the PEs, UCX's own puts and gets, and no progress thread.
TEST(UcxJob, LargeOperationsNeedNothingOfATargetThatComputes) {
    const char* progress = std::getenv("ATOLL_UCX_PROGRESS");
    if (!by_ucx() || !uses("cma") || !progress || std::string(progress) != "none")
        GTEST_SKIP() << "for ATOLL_TRANSPORT=ucx UCX_TLS=posix,cma,self ATOLL_UCX_PROGRESS=none";
    const std::string note = current_job().state().transport()->note();
    if (note.find("by messages:") != std::string::npos) GTEST_SKIP() << note;
    constexpr std::size_t bytes = std::size_t{3} << 20;
    Job& job = current_job();
    SymmetricArray<char> there(job, bytes);
    SymmetricArray<long> go(job, 1);
    const Context& ctx = job.context();
    std::vector<char> mine(bytes);
    if (job.my_pe() == 1) std::fill_n(&there[0], bytes, char(3));
    job.world().barrier();
    if (job.my_pe() == 0) ctx.get(mine.data(), &there[0], bytes, 1);  // the key arrives; PE 1 waits below
    job.world().barrier();
    if (job.my_pe() == 0) {
        ctx.get(mine.data(), &there[0], bytes, 1);
        EXPECT_EQ(mine, std::vector<char>(bytes, 3));
        std::fill(mine.begin(), mine.end(), char(4));
        mine.back() = 5;
        ctx.put(&there[0], mine.data(), bytes, 1);
        ctx.quiet();
    } else if (job.my_pe() == 1) {
        // No call of Atoll here.
        const auto end = std::chrono::steady_clock::now() + 60s;
        std::atomic_ref<char> last(there[bytes - 1]);
        while (last.load(std::memory_order_acquire) != 5 && std::chrono::steady_clock::now() < end) {
        }
        EXPECT_EQ(last.load(), 5);
    }
    job.world().barrier();
    EXPECT_EQ(there[0], job.my_pe() == 1 ? 4 : 0);
}

/// Memory is registered on request. New memory can therefore be accessed too, and freed memory may be
/// returned to the system and used again.
TEST(UcxJob, TheHeapGrowsAndShrinksUnderLargeOperations) {
    Job& job = current_job();
    const Context& ctx = job.context();
    const int next = (job.my_pe() + 1) % job.n_pes(), before = (job.my_pe() + job.n_pes() - 1) % job.n_pes();
    for (int round = 1; round <= 6; ++round) {
        const std::size_t n = static_cast<std::size_t>(round % 3 + 1) * 700'001;
        SymmetricArray<int> first(job, n), second(job, n / 2);
        std::vector<int> source(n, 100 * round + job.my_pe()), back(n);
        ctx.put(&first[0], source.data(), n, next);
        ctx.put(&second[0], source.data(), n / 2, next);
        job.world().barrier();
        EXPECT_EQ(first[0], 100 * round + before);
        EXPECT_EQ(first[n - 1], 100 * round + before);
        EXPECT_EQ(second[n / 2 - 1], 100 * round + before);
        ctx.get(back.data(), &first[0], n, next);
        EXPECT_EQ(back, source);
        job.world().barrier();
    }
}

TEST(UcxJob, AtomicsFromHereAndElsewhereAreAtomicTogether) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    Job& job = current_job();
    SymmetricArray<double> sum(job, 1);
    SymmetricArray<std::uint32_t> count(job, 1);
    const Context& ctx = job.context();
    job.world().barrier();
    constexpr int rounds = 3000;
    for (int i = 0; i < rounds; ++i) {  // those of PE 0 itself are done at once, the others by messages
        ctx.atomic_add(&count[0], 1, 0);
        atoll::atomic_add(&sum[0], 0.5, 0);
    }
    ctx.quiet();
    atoll::quiet();
    job.world().barrier();
    if (job.my_pe() == 0) {
        EXPECT_EQ(count[0], static_cast<std::uint32_t>(rounds * job.n_pes()));
        EXPECT_EQ(sum[0], 0.5 * rounds * job.n_pes());
    }
    job.world().barrier();
}

}  // namespace
}  // namespace atl::testing
