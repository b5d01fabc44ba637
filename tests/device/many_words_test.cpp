// The kernel of waits for many words, with 32 threads of the host as a warp, or a single one.
#include "gpu/cuda/kernels/many_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace atl::testing {
namespace {

using detail::Many;
using detail::ManyWords;

/// A warp's ballot, by threads.
class Threads {
  public:
    static constexpr unsigned size = 32;
    unsigned ballot(unsigned rank, bool mine) {
        const unsigned turn = turns_[rank]++ % 2;
        if (mine) bits_[turn].fetch_or(1u << rank);
        meeting_.arrive_and_wait();
        const unsigned all = bits_[turn].load();
        meeting_.arrive_and_wait();
        if (rank == 0) bits_[turn].store(0);
        return all;
    }

  private:
    std::barrier<> meeting_{size};
    std::atomic<unsigned> bits_[2] = {};
    unsigned turns_[size] = {};
};

struct Lane {
    Threads* all;
    unsigned mine;
    unsigned rank() const { return mine; }
    unsigned size() const { return Threads::size; }
    unsigned ballot(bool yes) const { return all->ballot(mine, yes); }
};

class ManyWordsPolls : public ::testing::TestWithParam<bool> {
  protected:
    void look(ManyWords asked, std::vector<std::int64_t>& out) {
        asked.out = out.data();
        device::Team team{};
        team.control = &control_;
        const auto as = [&](auto lanes) {
            kernels::poll_many(team, asked, device::Operation::wait_until_any, device::Values::unsigned_word,
                               lanes);
        };
        if (!GetParam()) return as(kernels::OneLane{});
        Threads warp;
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < Threads::size; ++i) threads.emplace_back([&, i] { as(Lane{&warp, i}); });
    }
    std::vector<std::int64_t> looked(const ManyWords& asked) {
        std::vector<std::int64_t> out(asked.n + 1, -7);
        look(asked, out);
        return out;
    }
    device::Control control_{};
};

TEST_P(ManyWordsPolls, TestsTellWhatHoldsInOrder) {
    for (const std::size_t n : {0u, 1u, 31u, 32u, 33u, 64u, 100u}) {
        std::vector<std::int16_t> words(n + 2), values(n);  // the last is loaded with 2 more bytes
        std::vector<int> status(n);
        std::vector<std::int64_t> met{0};
        for (std::size_t i = 0; i < n; ++i) {
            words[i] = static_cast<std::int16_t>(i % 7) - 3;
            values[i] = static_cast<std::int16_t>(i % 3) - 2;
            status[i] = i % 5 == 2 ? -4 : 0;
            if (status[i] == 0 && words[i] < values[i]) met.push_back(static_cast<std::int64_t>(i));
        }
        met[0] = static_cast<std::int64_t>(met.size()) - 1;
        const std::int64_t lowest = met.size() > 1 ? met[1] : -1;
        ManyWords asked{words.data(), n,           status.data(), values.data(), 0, nullptr,
                        DType::int16, Compare::lt, Many::some,    false};
        for (const bool waits : {false, true}) {
            if (waits && lowest < 0) break;
            asked.waits = waits;
            asked.kind = Many::some;
            auto found = looked(asked);
            EXPECT_EQ(std::vector<std::int64_t>(met.size() <= n ? n + 1 - met.size() : 0, -7),
                      std::vector<std::int64_t>(found.begin() + static_cast<std::ptrdiff_t>(met.size()),
                                                found.end()))
                << "nothing is written behind the indices";
            found.resize(met.size());
            EXPECT_EQ(found, met) << n;
            asked.kind = Many::any;
            EXPECT_EQ(looked(asked)[0], lowest) << n;
        }
        asked.waits = false;
        asked.kind = Many::all;
        EXPECT_EQ(looked(asked)[0], n <= 1 ? 1 : 0) << n;  // word 0 holds
        asked.compare = Compare::gt;
        asked.value = static_cast<std::uint64_t>(std::int64_t{-4});
        asked.values = nullptr;
        EXPECT_EQ(looked(asked)[0], 1) << "signed, of " << n;
        asked.type = DType::uint16;
        asked.value = 2;
        asked.compare = Compare::le;
        EXPECT_EQ(looked(asked)[0], n == 0 ? 1 : 0) << "unsigned, of " << n;
    }
}

TEST_P(ManyWordsPolls, WordsOfAllSizesAreReadWithTheirSign) {
    const auto lowest_negative = [&]<class T>(T, DType type) {
        alignas(8) T words[40] = {};
        words[37] = static_cast<T>(-1);
        const ManyWords asked{words,   37 + 1, nullptr,     nullptr,   0,
                              nullptr, type,   Compare::lt, Many::any, false};
        return looked(asked)[0];
    };
    EXPECT_EQ(lowest_negative(std::int8_t{}, DType::int8), 37);
    EXPECT_EQ(lowest_negative(std::uint8_t{}, DType::uint8), -1);
    EXPECT_EQ(lowest_negative(std::int16_t{}, DType::int16), 37);
    EXPECT_EQ(lowest_negative(std::uint16_t{}, DType::uint16), -1);
    EXPECT_EQ(lowest_negative(std::int32_t{}, DType::int32), 37);
    EXPECT_EQ(lowest_negative(std::uint32_t{}, DType::uint32), -1);
    EXPECT_EQ(lowest_negative(std::int64_t{}, DType::int64), 37);
    EXPECT_EQ(lowest_negative(std::uint64_t{}, DType::uint64), -1);
}

TEST_P(ManyWordsPolls, WaitsEndByWhatOthersStore) {
    for (const Many kind : {Many::all, Many::any, Many::some}) {
        alignas(8) std::uint64_t words[70] = {};
        std::vector<int> status(70);
        status[3] = 1;
        const ManyWords asked{words,         70,          status.data(), nullptr, 1, nullptr,
                              DType::uint64, Compare::eq, kind,          true};
        std::jthread other([&] {
            for (const int i : {3, 66, 40, 0})  // the first of which is left out
                __atomic_store_n(&words[i], 1, __ATOMIC_RELEASE);
            if (kind != Many::all) return;
            for (std::uint64_t& word : words) __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
        });
        const std::vector<std::int64_t> out = looked(asked);
        const std::set<std::int64_t> stored{0, 40, 66};
        if (kind == Many::all) {
            EXPECT_EQ(out[0], -7) << "a wait for all writes nothing";
        }
        if (kind == Many::any) {
            EXPECT_TRUE(stored.contains(out[0])) << out[0];
        }
        if (kind != Many::some) continue;
        ASSERT_GE(out[0], 1);
        ASSERT_LE(out[0], 3);
        for (std::int64_t i = 1; i <= out[0]; ++i)
            EXPECT_TRUE(stored.contains(out[static_cast<std::size_t>(i)])) << i;
    }
}

TEST_P(ManyWordsPolls, WaitsForNoWordEndAtOnce) {
    std::uint64_t words[40] = {};
    const std::vector<int> status(40, 9);
    for (const std::uint64_t n : {0u, 40u}) {
        ManyWords asked{words,         n,           status.data(), nullptr, 1, nullptr,
                        DType::uint64, Compare::eq, Many::any,     true};
        EXPECT_EQ(looked(asked)[0], -1);
        asked.kind = Many::some;
        EXPECT_EQ(looked(asked)[0], 0);
        asked.kind = Many::all;
        EXPECT_EQ(looked(asked)[0], -7);
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, ManyWordsPolls, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Warp" : "OneThread"; });

}  // namespace
}  // namespace atl::testing
