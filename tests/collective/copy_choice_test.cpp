// The choice between plain and streamed stores, by made-up times; and that both ways copy every byte.
#include "collective/copy_choice.hpp"
#include "support/pe_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace atl::testing {
namespace {

using collective::CopyChoice;
using collective::CopyChoices;
constexpr std::size_t piece = 64 * 1024;

/// Number of the next `n` pieces that are streamed, if each method takes the time given.
int streamed_of(CopyChoice& choice, int n, std::uint64_t plain_ns, std::uint64_t streamed_ns) {
    int streamed = 0;
    for (int i = 0; i < n; ++i) {
        const auto [method, timed] = choice.next();
        streamed += method == CopyChoice::streamed;
        if (timed) choice.note(method, piece, method == CopyChoice::streamed ? streamed_ns : plain_ns);
    }
    return streamed;
}

TEST(CopyChoice, TakesTheFasterWayAndGoesOnTryingTheOther) {
    CopyChoice choice;
    EXPECT_EQ(streamed_of(choice, 16, 8000, 5000), 8) << "in turns at first";
    EXPECT_GE(streamed_of(choice, 1000, 8000, 5000), 990);
    EXPECT_LT(streamed_of(choice, 1000, 8000, 5000), 1000);
    streamed_of(choice, 1000, 3000, 5000);  // the speeds of the machine have changed
    EXPECT_LE(streamed_of(choice, 1000, 3000, 5000), 10);
    EXPECT_GT(streamed_of(choice, 1000, 3000, 5000), 0);
}

TEST(CopyChoice, StreamsOnlyWhereThatIsClearlyFasterIfAsked) {
    CopyChoice choice(0.5);
    EXPECT_LE(streamed_of(choice, 1016, 8000, 5000), 8 + 10);
    streamed_of(choice, 1000, 8000, 2000);
    EXPECT_GE(streamed_of(choice, 1000, 8000, 2000), 990);
}

TEST(CopyChoice, OnePieceThatLostItsCoreChangesLittle) {
    CopyChoice choice;
    choice.note(CopyChoice::streamed, piece, 50'000'000);
    streamed_of(choice, 16, 8000, 5000);
    EXPECT_GE(streamed_of(choice, 100, 8000, 5000), 99);
    choice.note(CopyChoice::streamed, piece, 50'000'000);
    streamed_of(choice, 10, 8000, 5000);  // timed pieces among them
    EXPECT_GE(streamed_of(choice, 100, 8000, 5000), 99);
}

TEST(CopyChoice, CopiesEveryByteAtEveryOffset) {
    CopyChoice copies;
    std::vector<char> from(2 * piece), to(2 * piece);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7 + i / 251);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{255}, std::size_t{4097}, piece - 3, piece})
        for (const std::size_t shift : {0, 1, 31, 64})
            for (int turn = 0; turn < 3; ++turn) {  // both ways
                std::fill(to.begin(), to.end(), 'x');
                copies.copy(to.data() + shift, from.data() + 5, bytes);
                ASSERT_TRUE(std::equal(from.begin() + 5,
                                       from.begin() + 5 + static_cast<std::ptrdiff_t>(bytes),
                                       to.begin() + static_cast<std::ptrdiff_t>(shift)));
                ASSERT_EQ(std::count(to.begin() + static_cast<std::ptrdiff_t>(shift + bytes), to.end(), 'x'),
                          static_cast<std::ptrdiff_t>(to.size() - shift - bytes));
            }
}

TEST(CopyChoice, CarriesABroadcastOfManyPieces) {
    constexpr std::size_t bytes = CopyChoices::own_from_bytes + 4097;
    ThreadJobOptions options;
    options.heap_bytes = std::size_t{32} << 20;
    options.algorithms = "broadcast=both";
    std::vector<unsigned char> pattern(bytes + 64);  // a turn's bytes begin at its number
    for (std::size_t i = 0; i < pattern.size(); ++i)
        pattern[i] = static_cast<unsigned char>(i * 13 + i / 4099);
    const auto body = [&pattern](Job& job) {
        SymmetricArray<unsigned char> src(job, bytes), dst(job, bytes);
        std::vector<unsigned char> local(bytes);
        // Kinds of the root's target: another array, its source, memory that others do not reach.
        for (int turn = 0; turn < 3 * job.n_pes(); ++turn) {
            const int root = turn / 3, kind = turn % 3;
            const bool is_root = job.my_pe() == root;
            const unsigned char* wanted = pattern.data() + turn;
            if (is_root)
                std::memcpy(src.data(), wanted, bytes);
            else
                std::memset(src.data(), 255, bytes);
            std::memset(dst.data(), 0, bytes);
            unsigned char* to = kind == 0   ? dst.data()
                                : kind == 1 ? src.data()
                                : is_root   ? local.data()
                                            : dst.data();
            job.world().broadcast(std::span(to, bytes), std::span<const unsigned char>(src.data(), bytes),
                                  root);
            EXPECT_EQ(std::memcmp(to, wanted, bytes), 0) << "kind " << kind << ", root " << root;
            job.world().barrier();
        }
    };
    for (const int n : {2, 3}) run_pes(n, body, options);
}

}  // namespace
}  // namespace atl::testing
