// The reference transport: the conformance suite, and the mistakes that it must expose.
#include "transport/loopback/loopback.hpp"

#include "transport/conformance.hpp"

namespace atl::test {

struct LoopbackWorld {
    static constexpr std::size_t heap_bytes = std::size_t{1} << 20;

    explicit LoopbackWorld(int n)
        : heaps(static_cast<std::size_t>(n), std::vector<std::uint64_t>(heap_bytes / 8)) {
        for (int pe = 0; pe < n; ++pe)
            transports.push_back(transport::create_loopback(n, [this](int of) { return heap(of); }));
    }
    Transport& transport(int pe) { return *transports[static_cast<std::size_t>(pe)]; }
    char* heap(int pe) { return reinterpret_cast<char*>(heaps[static_cast<std::size_t>(pe)].data()); }

    std::vector<std::vector<std::uint64_t>> heaps;
    std::vector<std::unique_ptr<Transport>> transports;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Loopback, TransportConformance, LoopbackWorld);

class LoopbackShows : public TransportConformance<LoopbackWorld> {};

TEST_F(LoopbackShows, AMissingQuiet) {
    put(0, 1, 0, 7);
    EXPECT_EQ(found<int>(1, 0), 0);
    atomic<int>(0, 1, 8, AtomicOp::add, 7);
    EXPECT_EQ(found<int>(1, 8), 0);
    int value = 5;
    from(0).put(context, 1, 16, &value, sizeof value, Completion::at_quiet);
    value = 6;  // belongs to the transport until quiet
    from(0).quiet(context, 1);
    EXPECT_EQ(found<int>(1, 0), 7);
    EXPECT_EQ(found<int>(1, 16), 6);
}

TEST_F(LoopbackShows, AMissingFence) {
    put(0, 1, 0, 1);
    put(0, 1, 0, 2);
    from(0).quiet(context, 1);
    EXPECT_EQ(found<int>(1, 0), 1);
}

TEST_F(LoopbackShows, QuietOfAnotherPeOrContext) {
    const ContextId other = from(0).create_context();
    put(0, 1, 0, 1);
    from(0).quiet(context, 2);
    from(0).quiet(other, -1);
    EXPECT_EQ(found<int>(1, 0), 0);
    from(0).progress();
    EXPECT_EQ(found<int>(1, 0), 1);
}

TEST_F(LoopbackShows, AGetThatComesBeforeOnesOwnPut) {
    int seen = -1;
    put(0, 1, 0, 1);
    from(0).get(context, 1, 0, &seen, sizeof seen, Completion::local);
    EXPECT_EQ(seen, 0);
}

}  // namespace atl::test
