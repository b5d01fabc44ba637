// Reductions, compared bit by bit with a fold in PE order: types × operators × sizes × teams × kinds of
// memory × algorithms.
#include "support.hpp"

namespace atl::testing {
namespace {

using Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                               std::uint16_t, std::uint32_t, std::uint64_t, float, double, long double,
                               std::complex<float>, std::complex<double>, bool, float16, bfloat16>;

template <class T>
::testing::AssertionResult is_fold(std::span<const T> found, const Team& team, ReduceOp op, int last,
                                   int round, std::size_t first = 0) {
    const auto pe_of = [&](int p) { return team.world_pe(p); };
    // All elements of small arrays, a sample of large ones: the sequential fold is slow.
    const std::size_t step = found.size() > 5000 ? 97 : 1;
    for (std::size_t i = 0; i < found.size();
         i += (i + step < found.size() || i + 1 == found.size()) ? step : found.size() - 1 - i) {
        const T expected = folded<T>(op, last, first + i, round, pe_of);
        if (!same_bits(found[i], expected))
            return ::testing::AssertionFailure()
                   << "element " << i << " of " << found.size() << " differs, op " << static_cast<int>(op);
    }
    return ::testing::AssertionSuccess();
}

template <class T>
void check_reduce(Job& job, const Team& team, Memory memory, std::size_t count, ReduceOp op, int round) {
    const Argument<T> src(job, memory, count);
    const Argument<T> dst(job, memory == Memory::mixed && round % 2 ? Memory::ordinary : memory, count);
    if (!team) return;
    const int me = team.world_pe(team.my_pe());
    fill(src, me, round);
    team.reduce(dst.span(), src.view(), op);
    ASSERT_TRUE(is_fold<T>(dst.view(), team, op, team.n_pes() - 1, round));
    fill(src, me, round + 1);
    team.reduce(src.span(), src.view(), op);  // in place
    ASSERT_TRUE(is_fold<T>(src.view(), team, op, team.n_pes() - 1, round + 1));
    const int root = round % team.n_pes();
    fill(src, me, round + 2);
    team.reduce_to(team.my_pe() == root ? dst.span() : std::span<T>(), src.view(), op, root);
    if (team.my_pe() == root) {
        ASSERT_TRUE(is_fold<T>(dst.view(), team, op, team.n_pes() - 1, round + 2));
    }
}

template <class T> void check_scan(Job& job, const Team& team, Memory memory, std::size_t count, int round) {
    const Argument<T> src(job, memory, count);
    const Argument<T> dst(job, memory, count);
    if (!team) return;
    const int me = team.world_pe(team.my_pe());
    fill(src, me, round);
    team.sum_inscan(dst.span(), src.view());
    ASSERT_TRUE(is_fold<T>(dst.view(), team, ReduceOp::sum, team.my_pe(), round));
    team.sum_exscan(src.span(), src.view());  // in place
    if (team.my_pe() > 0) {
        ASSERT_TRUE(is_fold<T>(src.view(), team, ReduceOp::sum, team.my_pe() - 1, round));
    } else {
        for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same_bits(src[i], T()));
    }
}

template <class T>
void check_reduce_scatter(Job& job, const Team& team, Memory memory, std::size_t count, ReduceOp op,
                          int round) {
    const auto n = static_cast<std::size_t>(team ? team.n_pes() : job.n_pes());
    const Argument<T> src(job, memory, count * static_cast<std::size_t>(job.n_pes()));
    const Argument<T> dst(job, memory, count);
    if (!team) return;
    const int me = team.world_pe(team.my_pe());
    const auto all = src.span().first(n * count);
    const std::size_t first = static_cast<std::size_t>(team.my_pe()) * count;
    fill(src, me, round);
    team.reduce_scatter(dst.span(), all, op);
    ASSERT_TRUE(is_fold<T>(dst.view(), team, op, team.n_pes() - 1, round, first));
    team.reduce_scatter(all.first(count), all, op);  // in place, at the start
    ASSERT_TRUE(is_fold<T>(all.first(count), team, op, team.n_pes() - 1, round, first));
    fill(src, me, round + 1);
    team.reduce_scatter(all.subspan(first, count), all, op);  // in place, at the block
    ASSERT_TRUE(is_fold<T>(all.subspan(first, count), team, op, team.n_pes() - 1, round + 1, first));
}

template <class T> class Reduce : public ::testing::Test {};
TYPED_TEST_SUITE(Reduce, Types);

/// All operators of the type, at sizes near those where algorithms change.
template <class T> void all_ops(Job& job) {
    int round = 0;
    for (const ReduceOp op : ops_of<T>())
        for (const std::size_t count :
             {std::size_t{0}, std::size_t{1}, 48 / sizeof(T), 48 / sizeof(T) + 1, std::size_t{1001}}) {
            SCOPED_TRACE("op " + std::to_string(static_cast<int>(op)) + ", count " + std::to_string(count));
            check_reduce<T>(job, job.world(), Memory::heap, count, op, ++round);
            check_reduce_scatter<T>(job, job.world(), Memory::heap, count, op, ++round);
            if (::testing::Test::HasFailure()) return;
        }
    // The prefixes of halves have loops of their own, in blocks of 1024 elements.
    if constexpr (is_half<T>)
        for (const std::size_t count : {std::size_t{1}, std::size_t{3001}})
            check_scan<T>(job, job.world(), Memory::heap, count, ++round);
}

TYPED_TEST(Reduce, AllOperatorsByTable) { run_everywhere("", all_ops<TypeParam>); }
TYPED_TEST(Reduce, AllOperatorsStaged) {
    run_everywhere("reduce=staged,reduce_to=staged,reduce_scatter=staged,scan=staged", all_ops<TypeParam>);
}
TYPED_TEST(Reduce, AllOperatorsSlices) {
    run_everywhere("reduce=slices,reduce_to=slices,reduce_scatter=pull,scan=slices", all_ops<TypeParam>);
}

class ReduceAlgorithms : public ::testing::TestWithParam<const char*> {};

/// Teams of all shapes. PEs outside a team also make the arguments.
template <class T> void all_teams(Job& job) {
    const auto teams = some_teams(job);
    const auto named = [&](const char* name) {
        for (const NamedTeam& t : teams)
            if (t.name == name) return t.team;
        return Team();
    };
    int round = 0;
    for (const Memory memory : memories)
        for (const char* name : {"world", "every other", "reversed", "by color"})
            for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{7}, std::size_t{513},
                                            std::size_t{30011}, std::size_t{200003}}) {
                if (count > (slowly_checked ? 10000 : 100000) && std::string(name) != "world") continue;
                if (count > 100000 && slowly_checked) continue;
                SCOPED_TRACE(std::string(name) + ", count " + std::to_string(count) + ", memory " +
                             std::to_string(static_cast<int>(memory)));
                round += 3;
                check_reduce<T>(job, named(name), memory, count, ReduceOp::sum, round);
                check_scan<T>(job, named(name), memory, count, round);
                check_reduce_scatter<T>(job, named(name), memory, count / 5, ReduceOp::sum, round);
                if (::testing::Test::HasFailure()) return;
            }
}

TEST_P(ReduceAlgorithms, Teams) {
    const std::string a = GetParam();
    std::string algorithms;
    if (!a.empty())
        for (const char* collective : {"reduce", "reduce_to", "scan"})
            algorithms += (algorithms.empty() ? "" : ",") + std::string(collective) + "=" + a;
    run_everywhere(algorithms, all_teams<float>, std::size_t{128} << 20);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ReduceAlgorithms, ::testing::Values("", "line", "staged", "slices"),
                         [](const auto& info) {
                             return *info.param ? std::string(info.param) : std::string("by_table");
                         });

/// Whole numbers below 32, of which averages are rounded once.
template <class T> T averaged(std::size_t i, std::size_t pe) {
    return rounded<T>(static_cast<Combined<T>>(i % 17) + static_cast<Combined<T>>(pe));
}

/// Checks that dst[i] is the sum over `n` PEs of element `first + i` times `factor`, divided by `divisor`.
template <class T>
void expect_averages(const std::vector<T>& dst, std::size_t first, std::size_t n, Combined<T> factor,
                     Combined<T> divisor) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < dst.size(); ++i) {
        Combined<T> wanted = 0;
        for (std::size_t pe = 0; pe < n; ++pe) wanted += widened(averaged<T>(first + i, pe)) * factor;
        wrong += !same_bits(dst[i], rounded<T>(wanted / divisor));
    }
    ASSERT_EQ(wrong, 0u);
}

template <class T> void averages(Job& job) {
    const auto n = static_cast<std::size_t>(job.n_pes()), me = static_cast<std::size_t>(job.my_pe());
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4000}, std::size_t{70001}}) {
        if (count > 10000 && slowly_checked) continue;
        SCOPED_TRACE(count);
        std::vector<T> src(n * count), dst(count);
        for (std::size_t i = 0; i < src.size(); ++i) src[i] = averaged<T>(i, me);
        const std::span<const T> in(src.data(), count);
        const auto parts = static_cast<Combined<T>>(n), half = static_cast<Combined<T>>(0.5),
                   one = static_cast<Combined<T>>(1);
        job.world().avg_reduce(std::span(dst), in);
        expect_averages(dst, 0, n, one, parts);
        job.world().reduce_scatter(std::span(dst), std::span<const T>(src), ReduceOp::avg);
        expect_averages(dst, me * count, n, one, parts);
        job.world().reduce_to(std::span(dst), in, ReduceOp::avg, 0);
        if (me == 0) expect_averages(dst, 0, n, one, parts);
        job.world().premul_sum_reduce(std::span(dst), in, 0.5);
        expect_averages(dst, 0, n, half, one);
        job.world().premul_sum_reduce_scatter(std::span(dst), std::span<const T>(src), 0.5);
        expect_averages(dst, me * count, n, half, one);
        job.world().barrier();
    }
}

TEST(Averages, OfFloatingPointNumbers) {
    for (const char* algorithm : {"", "reduce=staged", "reduce=slices"})
        run_everywhere(algorithm, [](Job& job) {
            averages<float>(job);
            averages<double>(job);
            averages<float16>(job);
            averages<bfloat16>(job);
        });
}

TEST(Averages, OfHalvesWhoseSumIsTooLarge) {
    run_everywhere("", [](Job& job) {
        const std::vector<float16> src(100, rounded<float16>(60000.0f));
        std::vector<float16> dst(100);
        job.world().avg_reduce(std::span(dst), std::span<const float16>(src));
        for (const float16 each : dst) EXPECT_EQ(widened(each), 60000.0f);
        job.world().barrier();
    });
}

TEST(Averages, OfNothingElse) {
    run_everywhere("", [](Job& job) {
        std::vector<int> x(4), y(4);
        const auto refused = [](auto&& call) {
            try {
                call();
                ADD_FAILURE() << "nothing was thrown";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch) << error.what();
            }
        };
        refused([&] { job.world().reduce(std::span(y), std::span<const int>(x), ReduceOp::avg); });
        job.world().barrier();
    });
}

}  // namespace
}  // namespace atl::testing
