// The transport by UCX over TCP: three instances in one process, each with a progress thread.
#include "transport/ucx/ucx.hpp"

#include "support/tcp_connections.hpp"
#include "transport/ucx_world.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace atl::test {

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, TransportConformance, UcxWorld);

class UcxShows : public TransportConformance<UcxWorld> {
  protected:
    template <class Call> std::string error_of(ErrorCode code, Call&& call) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }
};

TEST_F(UcxShows, ConnectionsAreMadeAtTheFirstUseOrAllAtOnce) {
    EXPECT_EQ(world_.directory.looked_up(), 0);
    const int before = atl::testing::tcp_connections();
    put(0, 1, 0, 7);
    from(0).quiet(context, 1);
    EXPECT_EQ(world_.directory.looked_up(), 1);
    EXPECT_GT(atl::testing::tcp_connections(), before);  // both ends are in this process
    put(1, 0, 0, 8);                                     // a PE that was greeted knows the way back
    from(1).quiet(context, 0);
    EXPECT_EQ(world_.directory.looked_up(), 1);
    from(2).connect_all();
    EXPECT_EQ(world_.directory.looked_up(), 3);
}

TEST_F(UcxShows, DataAndSignalAreOneCallOfAnySize) {
    constexpr std::uint64_t signal = 8, data = 4096;
    std::uint64_t expected = 0;
    for (const std::size_t bytes : {0, 1, 8, 4000, 4096, 100003, 300000}) {
        const std::vector<char> source = pattern(bytes, static_cast<int>(bytes));
        from(0).put_signal(context, 1, data, source.data(), bytes, {signal, ++expected, SignalOp::set},
                           Completion::local);
        wait(1, [&] { return found<std::uint64_t>(1, signal) == expected; });
        EXPECT_TRUE(std::equal(source.begin(), source.end(), world_.heap(1) + data)) << bytes;
        from(0).put_signal(context, 1, data, source.data(), bytes, {signal, 1, SignalOp::add},
                           Completion::local);
        ++expected;
        wait(1, [&] { return found<std::uint64_t>(1, signal) == expected; });
    }
}

TEST_F(UcxShows, BlocksComeAndGo) {
    for (const std::size_t block : {1, 8, 24, 3000, 5000}) {
        const transport::Blocks blocks{block, 30, block + 7, block + 3};
        const std::vector<char> source = pattern(30 * (block + 3), 5);
        std::memset(world_.heap(1), 0x55, 30 * (block + 7));
        from(0).put_blocks(context, 1, 0, source.data(), blocks);
        from(0).quiet(context, 1);
        std::vector<char> back(30 * (block + 3), 0x33);
        from(0).get_blocks(context, 1, 0, back.data(), blocks);
        for (std::size_t i = 0; i < 30; ++i) {
            EXPECT_EQ(std::memcmp(world_.heap(1) + i * (block + 7), &source[i * (block + 3)], block), 0) << i;
            EXPECT_EQ(world_.heap(1)[i * (block + 7) + block], 0x55) << i;
            EXPECT_EQ(std::memcmp(&back[i * (block + 3)], &source[i * (block + 3)], block), 0) << i;
            EXPECT_EQ(back[i * (block + 3) + block], 0x33) << i;
        }
    }
}

TEST_F(UcxShows, FetchingAtomicsOverlapAndAreCompleteAtQuiet) {
    std::vector<std::uint32_t> fetched(500, 7);
    const std::uint64_t one = 1;
    for (std::uint32_t& each : fetched)
        from(0).fetch_atomic(context, 1, 16, AtomicOp::fetch_add, DType::uint32, one, 0, &each);
    from(0).quiet(context, 1);
    for (std::uint32_t i = 0; i < fetched.size(); ++i) ASSERT_EQ(fetched[i], i);
    EXPECT_EQ(found<std::uint32_t>(1, 16), fetched.size());
}

TEST_F(UcxShows, AnotherUcxIsNamed) {
    world_.directory.publish(1, "atoll-ucx 4 9.9.9\nnothing");
    const std::string said = error_of(ErrorCode::bootstrap, [&] { put(0, 1, 0, 1); });
    EXPECT_NE(said.find("9.9.9"), std::string::npos) << said;
    EXPECT_NE(said.find("PE 1"), std::string::npos) << said;
}

TEST_F(UcxShows, ADeviceThatIsNotThereIsAnErrorThatNamesThoseThatAre) {
    ::setenv("UCX_NET_DEVICES", "nosuch0", 1);
    const std::string said =
        error_of(ErrorCode::system, [&] { transport::create_ucx(world_.options(0, n_pes)); });
    ::unsetenv("UCX_NET_DEVICES");
    EXPECT_NE(said.find("UCX_NET_DEVICES=nosuch0"), std::string::npos) << said;
    EXPECT_NE(said.find("lo"), std::string::npos) << said;
}

TEST_F(UcxShows, AForkedChildLeavesItsParentsConnectionsAlone) {
    put(0, 1, 0, 1);
    from(0).quiet(context, 1);
    const pid_t child = ::fork();
    if (child == 0) {
        world_.transports.clear();
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    put(0, 1, 0, 2);
    from(0).quiet(context, 1);
    EXPECT_EQ(found<int>(1, 0), 2);
}

TEST_F(UcxShows, AfterItsEndOperationsAreRefused) {
    put(0, 1, 0, 1);
    for (int pe = 0; pe < n_pes; ++pe) from(pe).expect_end();
    from(0).close();
    EXPECT_EQ(found<int>(1, 0), 1);  // earlier messages have arrived
    error_of(ErrorCode::not_initialized, [&] { put(0, 1, 0, 2); });
    EXPECT_FALSE(from(0).progress());
}

/// PEs answer only when the test lets them; a wait ends by the given error.
struct SilentWorld : UcxWorld {
    SilentWorld() : UcxWorld(2, over_tcp, transport::UcxRma::off, false) {}
    void wait(int pe, const char* operation, int of, const std::function<bool()>& ready) override {
        if (error != ErrorCode{}) throw Error(error, "on purpose");
        UcxWorld::wait(pe, operation, of, ready);
    }
    /// Returns once PE 1 has answered all earlier requests of PE 0.
    void answer() {
        error = {};
        std::uint64_t word = 0;
        std::thread other([&] {
            while (!done) transport(1).progress();
        });
        transport(0).get(0, 1, 8, &word, sizeof word, Completion::local);
        done = true;
        other.join();
        done = false;
    }
    ErrorCode error{};
    std::atomic<bool> done = false;
};

TEST(UcxQuiet, ThatFailsHasNoMoreUseForWhatWasAskedFor) {
    SilentWorld world;
    world.heaps[1][0] = 7;
    std::uint64_t kept = 0, dropped = 0;
    const auto fails = [&](ErrorCode code) {
        world.error = code;
        try {
            world.transport(0).quiet(0, -1);
            ADD_FAILURE() << "quiet ended without answers";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code);
        }
        world.answer();
    };
    world.transport(0).get(0, 1, 0, &kept, sizeof kept, Completion::at_quiet);
    fails(ErrorCode::timeout);  // quiet may be called again
    EXPECT_EQ(kept, 7);
    world.transport(0).quiet(0, -1);
    world.transport(0).get(0, 1, 0, &dropped, sizeof dropped, Completion::at_quiet);
    fails(ErrorCode::pe_died);  // the job is over: the memory may be freed
    EXPECT_EQ(dropped, 0);
}

TEST(UcxEnd, OfAFinishedJobWaitsForNoPe) {
    SilentWorld world;
    int asked = 0;
    transport::UcxOptions options = world.options(0, 2);
    options.is_over = [&] { return ++asked > 0; };
    world.transports[0] = transport::create_ucx(std::move(options));
    std::uint64_t word = 0;
    world.transport(0).get(0, 1, 0, &word, sizeof word, Completion::at_quiet);
    world.transport(0).close();
    EXPECT_GE(asked, 1);
    EXPECT_LE(asked, 3);  // otherwise it polls until its time is up, thousands of times
}

/// PE 1 of two, the peer of the test below, until it is killed. Its base is a file of shared memory.
TEST(UcxPeer, DISABLED_ServesUntilItIsKilled) {
    std::vector<char> heap(std::size_t{1} << 20);
    transport::UcxOptions options;
    options.pe = 1;
    options.rma = transport::UcxRma::on;
    options.library = given_library();
    options.n_pes = 2;
    options.base = heap.data();
    options.bytes = heap.size();
    options.publish = [](const std::string& value) {
        ASSERT_EQ(::write(3, value.data(), value.size()), static_cast<ssize_t>(value.size()));
    };
    options.lost = [](int, const std::string&) {};
    const auto transport = transport::create_ucx(std::move(options));
    for (;;) ::pause();
}

/// By messages, or by UCX's own puts.
class UcxPeerDies : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, UcxPeerDies, ::testing::Values(4, 100'000));

TEST_P(UcxPeerDies, ADeathIsNamedAndEndsTheWait) {
    ::setenv("UCX_TLS", over_tcp, 1);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 3);
        ::execl("/proc/self/exe", "peer", "--gtest_also_run_disabled_tests",
                "--gtest_filter=UcxPeer.DISABLED_*", nullptr);
        ::_exit(127);
    }
    std::vector<char> heap(std::size_t{1} << 20);
    std::string lost;
    transport::UcxOptions options;
    options.rma = transport::UcxRma::on;
    options.library = given_library();
    options.n_pes = 2;
    options.base = heap.data();
    options.bytes = heap.size();
    options.publish = [](const std::string&) {};
    options.find = [&](int) {
        char text[4096];
        const ssize_t got = ::read(ends[0], text, sizeof text);
        return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    };
    Transport* of = nullptr;
    options.wait = [&](const char*, int, const std::function<bool()>& ready) {
        while (!ready()) of->progress();
    };
    options.lost = [&](int pe, const std::string& sentence) { lost = std::to_string(pe) + ": " + sentence; };
    const auto transport = transport::create_ucx(std::move(options));
    of = transport.get();
    const std::vector<char> data(GetParam(), 5);
    transport->put(0, 1, 0, data.data(), data.size(), Completion::local);
    transport->quiet(0, 1);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ::waitpid(child, nullptr, 0);
    std::string said;
    try {
        for (;;) {
            transport->put(0, 1, 0, data.data(), data.size(), Completion::local);
            transport->quiet(0, 1);
        }
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::pe_died);
        said = error.what();
    }
    EXPECT_NE(said.find("PE 1 cannot be reached"), std::string::npos) << said;
    EXPECT_EQ(lost, "1: " + said);
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace atl::test
