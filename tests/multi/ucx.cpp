// What only the transport by UCX has to show; under other transports these pass without a look.
#include "support/multi_main.hpp"
#include "support/setups.hpp"
#include "support/tcp_connections.hpp"

#include <chrono>
#include <csignal>
#include <thread>

namespace atl::testing {
namespace {

using namespace std::chrono_literals;

bool by_ucx() {
    const char* transport = std::getenv("ATOLL_TRANSPORT");
    return transport && std::string(transport) == "ucx" && current_job().n_pes() > 1;
}

/// Who handled a crash before main().
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

TEST(UcxJob, LeavesTheSignalsOfCrashesAlone) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    const Handlers now;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(now.of[i], at_start.of[i]) << "signal " << Handlers::signals[i];
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
        // No call of Atoll here: only the thread can serve PE 0.
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (detail::atomic_load(&x[0]) < 100 && std::chrono::steady_clock::now() < end) {
        }
        EXPECT_EQ(detail::atomic_load(&x[0]), 100);
    }
    job.world().barrier();
}

TEST(UcxJob, AtomicsFromHereAndElsewhereAreAtomicTogether) {
    if (!by_ucx()) GTEST_SKIP() << "ATOLL_TRANSPORT is not ucx, or the job has one PE";
    Job& job = current_job();
    SymmetricArray<double> sum(job, 1);
    SymmetricArray<std::uint32_t> count(job, 1);
    const Context& ctx = job.context();
    job.world().barrier();
    constexpr int rounds = 3000;
    for (int i = 0; i < rounds; ++i) {  // PE 0's own are done at once, the others' by messages
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
