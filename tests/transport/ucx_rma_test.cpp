// UCX's own puts and gets. Over TCP, UCX carries them out by messages. Over shared memory, newer versions
// need nothing of the target's CPU.
#include "transport/ucx/endpoint_transports.hpp"
#include "transport/ucx/keys.hpp"
#include "transport/ucx/worker.hpp"
#include "transport/ucx_world.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>

namespace atl::test {

using transport::UcxRma;

struct RmaTcpWorld : UcxWorld {
    explicit RmaTcpWorld(int n) : UcxWorld(n, over_tcp, UcxRma::on, true) {}
};
struct RmaSharedWorld : UcxWorld {
    explicit RmaSharedWorld(int n) : UcxWorld(n, over_shared_memory, UcxRma::on, true) {}
};

INSTANTIATE_TYPED_TEST_SUITE_P(UcxRmaTcp, TransportConformance, RmaTcpWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(UcxRmaShared, TransportConformance, RmaSharedWorld);

template <class World> class UcxRmaShows : public TransportConformance<World> {
  protected:
    static constexpr std::size_t large = 200'000;
    std::vector<char> get(std::uint64_t offset, std::size_t bytes) {
        std::vector<char> into(bytes);
        this->from(0).get(this->context, 1, offset, into.data(), bytes, Completion::local);
        return into;
    }
    void put_large(std::uint64_t offset, const std::vector<char>& data) {
        this->from(0).put(this->context, 1, offset, data.data(), data.size(), Completion::local);
    }
};
using RmaWorlds = ::testing::Types<RmaTcpWorld, RmaSharedWorld>;
TYPED_TEST_SUITE(UcxRmaShows, RmaWorlds);

TYPED_TEST(UcxRmaShows, AFenceOrdersLargePutsAndWords) {
    const std::uint64_t word = 80'000;
    for (int round = 0; round < 50; ++round) {
        std::vector<char> data = this->pattern(this->large, round);
        int first = 0;
        std::memcpy(&first, &data[word], sizeof first);
        this->put(0, 1, word, ~first);
        this->from(0).fence(this->context, 1);
        this->put_large(0, data);  // overwrites the word
        this->from(0).quiet(this->context, 1);
        ASSERT_TRUE(std::equal(data.begin(), data.end(), this->world_.heap(1))) << round;
        this->put_large(0, data);
        this->from(0).fence(this->context, -1);
        this->put(0, 1, word, round);
        this->from(0).quiet(this->context, -1);
        ASSERT_EQ(this->template found<int>(1, word), round);
    }
}

TYPED_TEST(UcxRmaShows, APutIsVisibleBeforeAFlagAfterItsFence) {
    constexpr std::uint64_t flag = 900'000, acknowledged = 8;
    constexpr int rounds = 100;
    std::thread reader([&] {
        for (int round = 1; round <= rounds; ++round) {
            this->wait(1, [&] { return this->template found<int>(1, flag) >= round; });
            const std::vector<char> expected = this->pattern(this->large, round);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), this->world_.heap(1))) << round;
            this->put(1, 0, acknowledged, round);
        }
        this->from(1).quiet(this->context, -1);
    });
    std::vector<char> source;
    for (int round = 1; round <= rounds; ++round) {
        source = this->pattern(this->large, round);
        this->from(0).put(this->context, 1, 0, source.data(), source.size(), Completion::at_quiet);
        this->from(0).fence(this->context, 1);
        this->put(0, 1, flag, round);
        this->wait(0, [&] { return this->template found<int>(0, acknowledged) >= round; });
    }
    reader.join();
}

TYPED_TEST(UcxRmaShows, AGetSeesWhatItsContextPutBefore) {
    for (int round = 0; round < 50; ++round) {
        this->put(0, 1, 4000, round);
        const std::vector<char> all = this->get(0, this->large);
        int seen = -1;
        std::memcpy(&seen, &all[4000], sizeof seen);
        ASSERT_EQ(seen, round);
        this->put_large(0, this->pattern(this->large, round));
        ASSERT_EQ(this->get(0, 8), this->pattern(8, round));
        this->put_large(0, this->pattern(this->large, round + 1));
        ASSERT_EQ(this->get(0, this->large), this->pattern(this->large, round + 1));
    }
}

TYPED_TEST(UcxRmaShows, ASignalArrivesAfterItsLargeData) {
    constexpr std::uint64_t signal = 900'000;
    std::uint64_t expected = 0;
    for (const Completion completion : {Completion::local, Completion::at_quiet})
        for (const std::size_t bytes : {4097, 100'003, 300'000}) {
            const std::vector<char> source = this->pattern(bytes, static_cast<int>(bytes));
            this->from(0).put_signal(this->context, 1, 64, source.data(), bytes,
                                     {signal, ++expected, SignalOp::set}, completion);
            this->wait(1, [&] { return this->template found<std::uint64_t>(1, signal) == expected; });
            EXPECT_TRUE(std::equal(source.begin(), source.end(), this->world_.heap(1) + 64)) << bytes;
        }
    this->from(0).quiet(this->context, -1);
}

TYPED_TEST(UcxRmaShows, ManyAtOnceAreCompleteAtQuiet) {
    constexpr std::size_t bytes = 5000, count = 600;  // more than UCX gets at once
    std::vector<std::vector<char>> sources, back(count, std::vector<char>(bytes));
    for (std::size_t i = 0; i < count; ++i) {
        sources.push_back(this->pattern(bytes, static_cast<int>(i)));
        this->from(0).put(this->context, 1, i % 100 * bytes, sources.back().data(), bytes,
                          Completion::at_quiet);
        if (i % 100 == 99) this->from(0).quiet(this->context, -1);
    }
    for (std::size_t i = 0; i < count; ++i)
        this->from(0).get(this->context, 1, i % 100 * bytes, back[i].data(), bytes, Completion::at_quiet);
    this->from(0).quiet(this->context, -1);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], sources[500 + i % 100]) << i;
}

TYPED_TEST(UcxRmaShows, ThreadsPutAndGetAtOnce) {
    constexpr std::size_t bytes = 50'000;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const ContextId mine = this->from(0).create_context();
            for (int round = 0; round < 30; ++round) {
                const std::vector<char> data = this->pattern(bytes, static_cast<int>(t) + round);
                std::vector<char> back(bytes);
                this->from(0).put(mine, 1, t * bytes, data.data(), bytes, Completion::at_quiet);
                this->from(0).quiet(mine, 1);
                this->from(0).get(mine, 1, t * bytes, back.data(), bytes, Completion::local);
                ASSERT_EQ(back, data);
            }
            this->from(0).destroy_context(mine);
        });
    for (std::thread& thread : threads) thread.join();
}

TYPED_TEST(UcxRmaShows, RegisteredMemoryIsNotGivenBack) {
    using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    const auto released = [&] {
        Parts parts;
        this->from(1).release(4096, 8192, [&](auto begin, auto end) { parts.emplace_back(begin, end); });
        return parts;
    };
    EXPECT_EQ(released(), (Parts{{4096, 8192}}));
    this->get(0, this->large);
    EXPECT_EQ(released(), Parts{});
}

/// The settings of PE 1 and PE 0 differ.
struct Uneven : UcxWorld {
    Uneven() : UcxWorld(1, over_tcp, UcxRma::on, true) {
        heaps.emplace_back(heap_bytes / 8);
        transport::UcxOptions other = options(1, 2);
        other.rma = UcxRma::off;
        transports.clear();
        transports.push_back(transport::create_ucx(options(0, 2)));
        transports.push_back(transport::create_ucx(std::move(other)));
    }
};

TEST(UcxRma, APeWithoutItIsReachedByMessages) {
    Uneven world;
    std::vector<char> source(100'000, 7), back(100'000);
    world.transport(0).put(0, 1, 0, source.data(), source.size(), Completion::local);
    world.transport(0).get(0, 1, 0, back.data(), back.size(), Completion::local);
    EXPECT_EQ(back, source);
    EXPECT_NE(world.transport(0).note().find("=on"), std::string::npos);
    EXPECT_NE(world.transport(1).note().find("=off"), std::string::npos);
}

/// Shared memory counts as a network with remote access, and TCP does not.
TEST(UcxRma, AutoLooksAtTheNetwork) {
    const UcxWorld tcp_world(2, over_tcp, UcxRma::automatic, true);
    const std::string by_tcp = tcp_world.transports[0]->note();
    const UcxWorld shared_world(2, over_shared_memory, UcxRma::automatic, true);
    const std::string by_shared = shared_world.transports[0]->note();
    const bool tells = transport::ucx::library(given_library()).minor >= 14;
    EXPECT_EQ(by_shared.find("by messages:") == std::string::npos, tells) << by_shared;
    if (!transport::ucx::has_rdma_device()) {
        EXPECT_NE(by_tcp.find("by messages:"), std::string::npos) << by_tcp;
    }
}

/// A PE makes progress only in its own calls, and these have a bound.
struct UnattendedWorld : UcxWorld {
    explicit UnattendedWorld(UcxRma rma, int patience_s = 20)
        : UcxWorld(2, over_shared_memory, rma, false), patience(patience_s) {}
    void wait(int pe, const char*, int, const std::function<bool()>& ready) override {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!ready()) {
            transport(pe).progress();
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the target is needed");
        }
    }
    /// Runs `call` while PE 1 makes progress.
    template <class Call> void with_target(Call&& call) {
        std::atomic<bool> done{false};
        std::thread target([&] {
            while (!done) transport(1).progress();
        });
        call();
        done = true;
        target.join();
    }
    const std::chrono::seconds patience;
};

TEST(UcxRma, LargeOperationsNeedNothingOfTheTarget) {
    const std::string given = given_library();
    const transport::ucx::Library& ucp = transport::ucx::library(given);
    if (ucp.minor < 16)
        GTEST_SKIP() << "UCX " << ucp.version << " makes messages of puts by shared memory; 1.16 does not";
    UnattendedWorld by_messages(UcxRma::off, 1);
    char byte = 0;
    by_messages.with_target([&] { by_messages.transport(0).get(0, 1, 0, &byte, 1, Completion::local); });
    EXPECT_THROW(by_messages.transport(0).get(0, 1, 0, &byte, 1, Completion::local), std::runtime_error);
    for (const UcxRma rma : {UcxRma::on, UcxRma::automatic}) {
        UnattendedWorld world(rma);
        Transport& from = world.transport(0);
        std::vector<char> source(300'000, 5), back(300'000);
        // obtains the key
        world.with_target([&] { from.get(0, 1, 0, back.data(), 100'000, Completion::local); });
        std::fill_n(world.heap(1), source.size(), 9);
        from.get(0, 1, 0, back.data(), back.size(), Completion::local);
        EXPECT_EQ(back, std::vector<char>(300'000, 9));
        from.put(0, 1, 1000, source.data(), source.size(), Completion::local);
        from.quiet(0, -1);
        EXPECT_TRUE(std::equal(source.begin(), source.end(), world.heap(1) + 1000));
        world.with_target([&] { from.atomic(0, 1, 0, AtomicOp::fetch_add, DType::uint64, 1, 0); });
    }
}

// ---- keys

/// A worker, which provides a context.
class Keys : public ::testing::Test {
  protected:
    static constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    Keys() { ::setenv("UCX_TLS", over_tcp, 1); }
    std::pair<std::uint64_t, std::uint64_t> covered(std::uint64_t offset, std::uint64_t bytes) {
        const auto* entry = keys_.cover(offset, bytes);
        return entry ? std::pair{entry->first, entry->second.end} : std::pair<std::uint64_t, std::uint64_t>{};
    }
    ~Keys() override { keys_.unregister_all(); }

    std::vector<char> slot_ = std::vector<char>(100 * mib);
    transport::ucx::Worker worker_{
        transport::ucx::library(given_library()), transport::ucx::OwnAccess::host_memory,
        [](void*, const transport::ucx::Header&, const char*, std::size_t) {}, nullptr};
    transport::ucx::OwnKeys keys_{worker_.ucp(), worker_.context(), slot_.data(), 99 * mib};
};

using Part = std::pair<std::uint64_t, std::uint64_t>;

TEST_F(Keys, RegionsAreRoundAndDoNotOverlap) {
    EXPECT_EQ(covered(5 * mib, 10), (Part{4 * mib, 6 * mib}));
    EXPECT_EQ(covered(4 * mib, 1), (Part{4 * mib, 6 * mib}));
    EXPECT_EQ(covered(3 * mib, 20 * mib), (Part{2 * mib, 4 * mib}));  // the rest needs a second request
    EXPECT_EQ(covered(6 * mib, 17 * mib), (Part{6 * mib, 24 * mib}));
    EXPECT_EQ(covered(98 * mib + 7, 1), (Part{98 * mib, 99 * mib}));  // the slot ends there
    EXPECT_EQ(keys_.n_regions(), 4u);
}

TEST_F(Keys, RegionsGrowWithWhatIsRegistered) {
    EXPECT_EQ(covered(0, 64 * mib), (Part{0, 64 * mib}));
    EXPECT_EQ(covered(70 * mib, 1), (Part{70 * mib, 74 * mib}));
}

TEST_F(Keys, GapsAreWhatIsNotRegistered) {
    covered(10 * mib, 1);
    covered(20 * mib, 1);
    std::vector<Part> gaps;
    keys_.for_each_gap(11 * mib, 30 * mib, [&](auto begin, auto end) { gaps.emplace_back(begin, end); });
    EXPECT_EQ(gaps, (std::vector<Part>{{12 * mib, 20 * mib}, {22 * mib, 30 * mib}}));
    gaps.clear();
    keys_.for_each_gap(10 * mib, 12 * mib, [&](auto begin, auto end) { gaps.emplace_back(begin, end); });
    EXPECT_TRUE(gaps.empty());
}

}  // namespace atl::test
