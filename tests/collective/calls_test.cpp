// Calls of collectives: wrong ones, sequences without a pause, and calls of two threads on two teams.
#include <thread>

#include "collective/table.hpp"
#include "support.hpp"

namespace atl::testing {
namespace {

class Calls : public ::testing::TestWithParam<int> {};

/// Each PE is alone in a team, so that it is the root and no member waits for another.
TEST_P(Calls, NullForArraysThatThisPeUses) {
    run_pes(
        GetParam(),
        [](Job& job) {
            const Team own = job.world().split(job.my_pe());
            for (const std::size_t count : {std::size_t{1}, std::size_t{5000}}) {
                std::vector<std::int64_t> array(count);
                const std::size_t bytes = 8 * count;
                const auto both = [&](const char* name, const std::function<void(void*, const void*)>& call) {
                    SCOPED_TRACE(name);
                    const std::string size = std::to_string(bytes);
                    expect_error(ErrorCode::invalid_argument, {name, "null pointer", "dst", size},
                                 [&] { call(nullptr, array.data()); });
                    expect_error(ErrorCode::invalid_argument, {name, "null pointer", "src", size},
                                 [&] { call(array.data(), nullptr); });
                    call(array.data(), array.data());
                };
                constexpr auto type = DType::int64;
                constexpr auto sum = ReduceOp::sum;
                both("broadcast",
                     [&](void* d, const void* s) { own.broadcast_bytes(d, bytes, s, bytes, 0); });
                both("fcollect", [&](void* d, const void* s) { own.fcollect_bytes(d, bytes, s, bytes); });
                both("collect", [&](void* d, const void* s) { own.collect_bytes(d, bytes, s, bytes); });
                both("alltoall", [&](void* d, const void* s) { own.alltoall_bytes(d, bytes, s, bytes); });
                both("alltoalls", [&](void* d, const void* s) { own.alltoalls_bytes(d, s, 1, 1, count, 8); });
                both("gather", [&](void* d, const void* s) { own.gather_bytes(d, bytes, s, bytes, 0); });
                both("scatter", [&](void* d, const void* s) { own.scatter_bytes(d, bytes, s, bytes, 0); });
                both("reduce", [&](void* d, const void* s) { own.reduce_erased(d, s, count, type, sum); });
                both("reduce_to",
                     [&](void* d, const void* s) { own.reduce_to_erased(d, count, s, count, type, sum, 0); });
                both("reduce_scatter", [&](void* d, const void* s) {
                    own.reduce_scatter_erased(d, count, s, count, type, sum);
                });
                both("inscan",
                     [&](void* d, const void* s) { own.scan_erased(d, s, count, type, sum, true); });
                both("exscan",
                     [&](void* d, const void* s) { own.scan_erased(d, s, count, type, sum, false); });
            }
            expect_team_works(job.world());
        },
        checked_options(common::CheckLevel::basic));
}

/// An empty array may be null, with all algorithms.
TEST(EmptyArrays, OfAllAlgorithms) {
    for (const char* algorithms : {"", "broadcast=both,reduce=slices,reduce_to=slices,scan=slices",
                                   "broadcast=staged,reduce=staged,reduce_to=staged,scan=staged"})
        run_everywhere(algorithms, [](Job& job) {
            const Team& team = job.world();
            team.broadcast_bytes(nullptr, 0, nullptr, 0, 0);
            team.reduce_erased(nullptr, nullptr, 0, DType::float32, ReduceOp::sum);
            team.reduce_to_erased(nullptr, 0, nullptr, 0, DType::float32, ReduceOp::sum, 0);
            team.scan_erased(nullptr, nullptr, 0, DType::float32, ReduceOp::sum, true);
            expect_team_works(team);
        });
}

TEST_P(Calls, ArgumentsThatAllPassWronglyAreErrorsOnAll) {
    for (const auto check : {common::CheckLevel::args, common::CheckLevel::all})
        run_pes(
            GetParam(),
            [](Job& job) {
                const Team& team = job.world();
                const int n = job.n_pes();
                std::vector<int> one(1), two(2);
                const std::span<int> nothing;
                for (const int root : {-1, n, 1 << 30}) {
                    const std::string named = "PE " + std::to_string(root);
                    const std::string range = std::to_string(n) + " PE";
                    expect_error(ErrorCode::pe, {named, range},
                                 [&] { team.broadcast(std::span(one), one, root); });
                    expect_error(ErrorCode::pe, {named, range}, [&] { team.gather(nothing, one, root); });
                    expect_error(ErrorCode::pe, {named, range},
                                 [&] { team.scatter(std::span(one), nothing, root); });
                    expect_error(ErrorCode::pe, {named, range},
                                 [&] { team.reduce_to(nothing, one, ReduceOp::sum, root); });
                }
                expect_error(ErrorCode::shape_mismatch, {"4 bytes", "8"},
                             [&] { team.broadcast(std::span(two), one, 0); });
                const std::vector<int> wide(static_cast<std::size_t>(n) + 1);
                const std::vector<char> uneven(static_cast<std::size_t>(n) + 1);
                std::vector<char> target(uneven);
                expect_error(ErrorCode::shape_mismatch, {"fcollect", "4 bytes", std::to_string(8 * n)},
                             [&] { team.fcollect(std::span(one), two); });
                if (n > 1) {
                    expect_error(ErrorCode::shape_mismatch, {"divide", std::to_string(n)},
                                 [&] { team.alltoall(std::span(target), uneven); });
                }
                expect_error(ErrorCode::shape_mismatch, {"elements"},
                             [&] { team.sum_reduce(std::span(one), two); });
                expect_error(ErrorCode::shape_mismatch, {"reduce_scatter", "elements"},
                             [&] { team.reduce_scatter(std::span(one), wide, ReduceOp::sum); });
                expect_error(ErrorCode::invalid_argument, {"tride"},
                             [&] { team.alltoalls(one.data(), two.data(), 0, 1, 1); });
                expect_team_works(team);
            },
            checked_options(check));
}

TEST_P(Calls, OperatorsThatATypeDoesNotHave) {
    run_pes(
        GetParam(),
        [](Job& job) {
            const Team& team = job.world();
            char from[16] = {}, to[16] = {};
            const auto refused = [&](DType type, ReduceOp op, const std::vector<std::string>& texts) {
                expect_error(ErrorCode::dtype_mismatch, texts,
                             [&] { team.reduce_erased(to, from, 1, type, op); });
            };
            refused(DType::boolean, ReduceOp::sum, {"sum", "bool", "int8", "complex128"});
            refused(DType::float64, ReduceOp::bit_xor, {"xor", "float64", "uint64", "bool"});
            refused(DType::complex64, ReduceOp::max, {"max", "complex64", "float32"});
            expect_team_works(team);
        },
        checked_options(common::CheckLevel::all));
}

TEST_P(Calls, DifferingCallsAreNamedOnEveryPe) {
    if (GetParam() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    run_pes(
        GetParam(),
        [](Job& job) {
            const Team& team = job.world();
            const bool odd = job.my_pe() == 1;
            std::vector<double> a(64), b(64);
            const auto dst = std::span(a);
            const auto both = [&](const std::vector<std::string>& texts, const std::function<void()>& call) {
                std::vector<std::string> all = {"PE 0", "PE 1"};
                all.insert(all.end(), texts.begin(), texts.end());
                expect_error(ErrorCode::collective_mismatch, all, call);
            };
            both({"broadcast", "8", "16"},
                 [&] { team.broadcast(dst.first(odd ? 1 : 2), std::span(b).first(odd ? 1 : 2), 0); });
            both({"root"}, [&] { team.broadcast(dst, b, odd ? 1 : 0); });
            both({"PE 0 called sum_reduce(bytes=512, dtype=float64)", "max_reduce(", "they differ in op;"},
                 [&] { team.reduce(dst, b, odd ? ReduceOp::max : ReduceOp::sum); });
            both({"dtype=float64", "dtype=int64", "they differ in dtype;"}, [&] {
                team.reduce_erased(a.data(), b.data(), 64, odd ? DType::int64 : DType::float64,
                                   ReduceOp::sum);
            });
            both({"reduce_to(bytes=", "root=1, dtype=float64, op=sum)", "they differ in root;"},
                 [&] { team.reduce_to(dst, b, ReduceOp::sum, odd ? 1 : 0); });
            both({"reduce", "broadcast"}, [&] {
                if (odd)
                    team.sum_reduce(dst, b);
                else
                    team.broadcast(dst, b, 0);
            });
            both({"inscan", "exscan"}, [&] {
                if (odd)
                    team.sum_inscan(dst, b);
                else
                    team.sum_exscan(dst, b);
            });
            both({"gather"},
                 [&] { team.gather(dst.first(job.my_pe() == 0 ? 1 : 0), std::span(b).first(1), 0); });
            expect_team_works(team);
        },
        checked_options(common::CheckLevel::all));
}

TEST_P(Calls, CollectIntoTooLittleMemoryFailsOnEveryPe) {
    run_pes(
        GetParam(),
        [](Job& job) {
            const Team& team = job.world();
            for (const std::size_t count : {std::size_t{1}, std::size_t{100000}}) {
                std::vector<int> mine(count, job.my_pe()),
                    all(count * static_cast<std::size_t>(job.n_pes()) - (job.my_pe() == 0));
                if (job.my_pe() == 0)
                    expect_error(ErrorCode::shape_mismatch, {"collect", "bytes"},
                                 [&] { team.collect(std::span(all), mine); });
                else
                    EXPECT_EQ(team.collect(std::span(all), mine), all.size());
            }
            expect_team_works(team);
        },
        checked_options(common::CheckLevel::args));
}

/// Many collectives of all kinds and sizes without a sync between them: a PE that runs ahead must not harm a
/// late one.
TEST_P(Calls, OneAfterTheOther) {
    run_pes(
        GetParam(),
        [](Job& job) {
            const auto n = static_cast<std::size_t>(job.n_pes());
            const std::size_t most = 20000;
            SymmetricArray<std::uint32_t> heap_src(job, most * n), heap_dst(job, most * n);
            std::vector<std::uint32_t> own_src(most * n), own_dst(most * n);
            const Team& team = job.world();
            unsigned random = 12345;
            for (int round = 0; round < 400; ++round) {
                random = random * 1664525u + 1013904223u;
                const std::size_t sizes[] = {1, 2, 12, 13, 100, 1000, 4097, round % 20 == 0 ? most : 3};
                const std::size_t count = sizes[random >> 29];
                const int root = static_cast<int>((random >> 8) % n);
                // The kind of memory differs between PEs and rounds.
                const auto all_src =
                    (random >> (10 + job.my_pe() % 8)) & 1 ? heap_src.span() : std::span(own_src);
                const auto all_dst =
                    (random >> (18 + job.my_pe() % 8)) & 1 ? heap_dst.span() : std::span(own_dst);
                const auto src = all_src.first(count), dst = all_dst.first(count);
                const auto at = [&](int pe, std::size_t i) { return value<std::uint32_t>(pe, i, round); };
                for (std::size_t i = 0; i < count * n; ++i) all_src[i] = at(job.my_pe(), i);
                const auto sum = [&](std::size_t i, int last) {
                    std::uint32_t result = 0;
                    for (int pe = 0; pe <= last; ++pe) result += at(pe, i);
                    return result;
                };
                bool right = true;
                switch ((random >> 4) % 8) {
                    case 0:
                        team.broadcast(dst, src, root);
                        for (std::size_t i = 0; i < count; ++i) right &= dst[i] == at(root, i);
                        break;
                    case 1:
                        team.sum_reduce(dst, src);
                        for (std::size_t i = 0; i < count; ++i) right &= dst[i] == sum(i, job.n_pes() - 1);
                        break;
                    case 2:
                        team.fcollect(all_dst.first(count * n), src);
                        for (std::size_t i = 0; i < count * n; ++i)
                            right &= all_dst[i] == at(static_cast<int>(i / count), i % count);
                        break;
                    case 3:
                        team.alltoall(all_dst.first(count * n), all_src.first(count * n));
                        for (std::size_t i = 0; i < count * n; ++i)
                            right &=
                                all_dst[i] == at(static_cast<int>(i / count),
                                                 i % count + count * static_cast<std::size_t>(job.my_pe()));
                        break;
                    case 4:
                        team.sum_inscan(dst, src);
                        for (std::size_t i = 0; i < count; ++i) right &= dst[i] == sum(i, job.my_pe());
                        break;
                    case 5:
                        team.gather(all_dst.first(job.my_pe() == root ? count * n : 0), src, root);
                        for (std::size_t i = 0; i < count * n && job.my_pe() == root; ++i)
                            right &= all_dst[i] == at(static_cast<int>(i / count), i % count);
                        break;
                    case 6:
                        team.reduce_scatter(dst, all_src.first(count * n), ReduceOp::sum);
                        for (std::size_t i = 0; i < count; ++i)
                            right &= dst[i] ==
                                     sum(i + count * static_cast<std::size_t>(job.my_pe()), job.n_pes() - 1);
                        break;
                    default:
                        team.reduce_to(dst.first(job.my_pe() == root ? count : 0), src, ReduceOp::sum, root);
                        for (std::size_t i = 0; i < count && job.my_pe() == root; ++i)
                            right &= dst[i] == sum(i, job.n_pes() - 1);
                }
                ASSERT_TRUE(right) << "round " << round << ", collective " << (random >> 4) % 8 << ", count "
                                   << count;
            }
            team.barrier();
        },
        checked_options(common::CheckLevel::none));
}

TEST_P(Calls, TwoTeamsFromTwoThreads) {
    run_pes(
        GetParam(),
        [](Job& job) {
            const Team teams[2] = {job.world().split(0, job.my_pe()), job.world().split(0, -job.my_pe())};
            std::vector<std::thread> threads;
            for (const Team& team : teams)
                threads.emplace_back([&team] {
                    for (std::size_t round = 0; round < 100; ++round) {
                        const std::size_t count = round % 10 == 0 ? 20000 : round % 3 == 0 ? 500 : 2;
                        std::vector<double> a(count, team.my_pe() + 1.0), b(count);
                        team.sum_reduce(std::span(b), a);
                        ASSERT_EQ(b[count - 1], team.n_pes() * (team.n_pes() + 1) / 2.0);
                        team.broadcast(std::span(b), a, team.n_pes() - 1);
                        ASSERT_EQ(b[count / 2], team.n_pes());
                    }
                });
            for (std::thread& thread : threads) thread.join();
            expect_team_works(job.world());
        },
        checked_options(common::CheckLevel::args));
}

TEST_P(Calls, StagingOfDestroyedTeamsComesBack) {
    run_pes(
        GetParam(),
        [](Job& job) {
            // Each team stages; the arena has room for about a hundred.
            std::vector<int> a(1000, 1), b(1000);
            for (int round = 0; round < 300; ++round) {
                Team team = job.world().split(0);
                team.sum_reduce(std::span(b), a);
                ASSERT_EQ(b[999], team.n_pes());
                team.destroy();
            }
        },
        checked_options(common::CheckLevel::args));
}

INSTANTIATE_TEST_SUITE_P(Pes, Calls, ::testing::ValuesIn(pe_counts));

TEST(CollectiveSettings, ReadByNameAndSize) {
    using namespace collective;
    const Choices choices(common::parse_algorithms("broadcast:65536=pull,reduce=slices,broadcast:100=staged"),
                          {false, 2});
    EXPECT_EQ(choices.choose(Collective::broadcast, 8, 8), Algorithm::line);
    EXPECT_EQ(choices.choose(Collective::broadcast, 200, 200), Algorithm::staged);
    EXPECT_EQ(choices.choose(Collective::broadcast, 1 << 20, 1 << 20), Algorithm::staged)
        << "the last rule counts";
    EXPECT_EQ(choices.choose(Collective::reduce, 8, 8), Algorithm::slices);
    EXPECT_EQ(
        Choices(common::parse_algorithms("gather=line"), {false, 2}).choose(Collective::gather, 1000, 1000),
        Algorithm::staged)
        << "a line holds 48 bytes, so the table's next counts";
}

TEST(CollectiveSettings, InvalidTextNamesTheValidNames) {
    using common::parse_algorithms;
    expect_error(ErrorCode::settings, {"ATOLL_COLLECTIVE", "shout", "broadcast", "reduce_scatter"},
                 [] { parse_algorithms("shout=line"); });
    expect_error(ErrorCode::settings, {"broadcast", "tree", "line", "staged", "pull"},
                 [] { parse_algorithms("broadcast=tree"); });
    expect_error(ErrorCode::settings, {"64k", "bytes"}, [] { parse_algorithms("broadcast:64k=line"); });
    expect_error(ErrorCode::settings, {"COLLECTIVE[:BYTES]=ALGORITHM"},
                 [] { parse_algorithms("broadcast"); });
    ThreadJobOptions options;
    options.algorithms = "broadcast=tree";
    expect_error(ErrorCode::settings, {"tree"}, [&] {
        run_pes(
            2, [](Job&) {}, options);
    });
}

}  // namespace
}  // namespace atl::testing
