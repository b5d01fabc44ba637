// Distributed arrays over all PEs and over teams: boxes, halos, redistribution, lifetime, and errors.
#include "support/dist_array_model.hpp"

#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>

namespace atl::testing {
namespace {

class DistArrays : public WithPes {};

TEST_P(DistArrays, BoxesAreReadAndWrittenFromAnyPe) {
    run([](Job& job) {
        for (const auto& options : some_options<1>(job.n_pes())) compare_boxes<1>(job.world(), {29}, options);
        for (const auto& options : some_options<2>(job.n_pes()))
            compare_boxes<2>(job.world(), {17, 15}, options);
        for (const auto& options : some_options<3>(job.n_pes()))
            compare_boxes<3>(job.world(), {8, 5, 9}, options);
        compare_boxes<2>(job.world(), {0, 3}, {});
    });
}

TEST_P(DistArrays, HalosHoldTheNeighboursElements) {
    run([](Job& job) {
        compare_halo(job.world(), {Border::fixed, Border::fixed}, {1, 1});
        compare_halo(job.world(), {Border::periodic, Border::periodic}, {Halo(2, 1), Halo(1, 3)});
        compare_halo(job.world(), {Border::periodic, Border::reflect}, {Halo(0, 2), Halo(2, 2)});
        compare_halo(job.world(), {Border::symmetric, Border::edge}, {Halo(2, 1), Halo(1, 3)});
        compare_halo(job.world(), {Border::edge, Border::symmetric}, {Halo(3, 0), Halo(2, 2)});
    });
}

TEST_P(DistArrays, AreRedistributed) {
    run([](Job& job) {
        const int n = job.n_pes();
        DistArray<std::int64_t, 2> rows(job, {13, 11},
                                        {.dist = {Distribution::block(), Distribution::whole()}});
        rows.for_each_local([](const Index<2>& at, std::int64_t& element) { element = at[0] * 11 + at[1]; });
        std::vector<std::ptrdiff_t> bounds(static_cast<std::size_t>(n) + 1, 13);
        bounds[0] = 0;  // PE 0 has all rows but one, which the last PE has
        for (std::size_t i = 1; i + 1 < bounds.size(); ++i) bounds[i] = 12;
        DistArray<std::int64_t, 2> other = rows.redistribute(rows.options());
        for (const DistOptions<2>& options :
             {DistOptions<2>{.dist = {Distribution::whole(), Distribution::cyclic(2)}},
              DistOptions<2>{.dist = {Distribution::replicated(), Distribution::whole()}},
              DistOptions<2>{.dist = {Distribution::bounds(bounds), Distribution::whole()}},
              DistOptions<2>{.dist = {Distribution::block(), Distribution::replicated()}, .grid = {1, n}},
              DistOptions<2>{.dist = {Distribution::block(), Distribution::replicated()}, .halo = {1, 0}}}) {
            other = other.redistribute(job, options);
            other.for_each_local([](const Index<2>& at, const std::int64_t& element) {
                ASSERT_EQ(element, at[0] * 11 + at[1]);
            });
            std::vector<std::int64_t> expected(13 * 11);
            std::iota(expected.begin(), expected.end(), 0);
            ASSERT_EQ(other.to_vector(), expected);
        }
    });
}

TEST_P(DistArrays, AccumulateLosesNothing) {
    run([](Job& job) {
        DistArray<std::int64_t, 2> array(job, {6, 7});
        const Box<2> box{Range{1, 6, 2}, Range{0, 7}};
        const std::vector<std::int64_t> ones(3 * 7, 1);
        for (int round = 0; round < 5; ++round) array.accumulate(box, ones, 2);
        array.fetch_add({0, 3}, 1);
        job.world().barrier();
        const std::vector<std::int64_t> all = array.to_vector();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::int64_t expected = i == 3 ? 1 : i / 7 % 2 == 1 ? 10 : 0;
            ASSERT_EQ(all[i], expected * job.n_pes()) << i;
        }
    });
}

template <class T> void add_complex(Job& job) {
    DistArray<T, 1> array(job, {6}, {.dist = {Distribution::cyclic()}});
    const Box<1> box{Range{1, 6, 2}};
    const std::vector<T> values{{1, 2}, {3, -4}, {0, 5}};
    const std::vector<Index<1>> twice{{0}, {0}};
    for (int round = 0; round < 5; ++round) array.accumulate(box, values, T{0, 2});
    array.at(twice).add(std::vector<T>{{1, 0}, {0, 3}});
    array.team().barrier();
    const T n{static_cast<typename T::value_type>(job.n_pes())};
    EXPECT_EQ(array.to_vector(),
              (std::vector<T>{n * T{1, 3}, n * T{-20, 10}, 0, n * T{40, 30}, 0, n * T{-50, 0}}));
}

TEST_P(DistArrays, ComplexNumbersAreAddedByParts) {
    run([](Job& job) {
        add_complex<std::complex<float>>(job);
        add_complex<std::complex<double>>(job);
    });
}

TEST_P(DistArrays, WrongArgumentsAreNamed) {
    run([](Job& job) {
        DistArray<float, 2> array(job, {4, 6});
        std::vector<float> values(4);
        expect_error(ErrorCode::invalid_argument,
                     {"put: the range 2 to 5 in steps of 1 of axis 0; expected 0 <= start"}, [&] {
                         array.put(Box<2>{Range{2, 5}, Range{0, 1}}, values);
                     });
        expect_error(ErrorCode::invalid_argument, {"get: the range 0 to 2 in steps of 0 of axis 1"}, [&] {
            (void)array.get(Box<2>{Range{0, 4}, Range{0, 2, 0}});
        });
        expect_error(ErrorCode::shape_mismatch, {"put: 4 elements for a box of {2, 3}"}, [&] {
            array.put(Box<2>{Range{0, 2}, Range{0, 3}}, values);
        });
        expect_error(ErrorCode::shape_mismatch, {"get: the array has lengths {4, 1}, and the box {1, 4}"},
                     [&] {
                         array.get(Box<2>{Range{0, 1}, Range{0, 4}}, View<float, 2>(values.data(), {4, 1}));
                     });
        expect_error(ErrorCode::invalid_argument, {"g: index {0, 6} of an array of shape {4, 6}"}, [&] {
            (void)array.g({0, 6});
        });
        expect_error(ErrorCode::pe, {"the array's team has PEs 0 to"}, [&] { (void)array.bounds(-1); });
        expect_error(ErrorCode::invalid_argument, {"has no halo"}, [&] { array.exchange_halo(); });
        expect_error(ErrorCode::invalid_argument, {"{3, 5} (0: any number) does not divide"}, [&] {
            DistArray<float, 2>(job, {4, 6}, {.grid = {3, 5}});
        });
        expect_error(ErrorCode::invalid_argument, {"a halo of 9 and 9 is wider than the smallest part"},
                     [&] { DistArray<float, 1>(job, {8}, {.halo = {9}}); });
        expect_error(ErrorCode::invalid_argument, {"bounds {0, 3} do not ascend from 0 to 4"}, [&] {
            DistOptions<2> options;
            options.dist = {Distribution::bounds({0, 3}), Distribution::block()};
            DistArray<float, 2>(job, {4, 6}, options);
        });
    });
}

TEST_P(DistArrays, GridsThatNoArgumentAsksForAreNotNamed) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const std::string pes = ", and the team has " + std::to_string(job.n_pes()) + " PEs; ";
        expect_error(ErrorCode::invalid_argument,
                     {"the distribution makes 1 parts in all" + pes + "give bounds for as many parts"}, [&] {
                         DistArray<int, 1>(job, {20}, {.dist = {Distribution::bounds({0, 20})}});
                     });
        const std::array<Distribution, 2> dist{Distribution::whole(), Distribution::block()};
        expect_error(ErrorCode::invalid_argument,
                     {"the grid {0, 99}, with the distribution's parts {1, 0} (0: any number) does not"},
                     [&] {
                         DistArray<int, 2>(job, {20, 4}, {.dist = dist, .grid = {0, 99}});
                     });
    });
}

TEST_P(DistArrays, DifferentShapesAreNamedOnEveryPe) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const std::ptrdiff_t rows = job.my_pe() == 1 ? 5 : 4;
        const auto make = [&](const DistOptions<2>& options) { DistArray<int, 2>(job, {rows, 6}, options); };
        const std::string call = "DistArray: PEs passed different values of ";
        expect_error(ErrorCode::collective_mismatch,
                     {call + "shape. PE 0 called DistArray", " with shape {4, 6}; PE 1 called DistArray",
                      " with shape {5, 6}. All PEs of the team pass the same"},
                     [&] { make({}); });
        expect_error(
            ErrorCode::collective_mismatch,
            {call + "element type. PE 0 called DistArray", " with element type int32; PE 1 called DistArray",
             " with element type float32. All PEs"},
            [&] {
                if (rows == 5)
                    DistArray<float, 1>(job, {20});
                else
                    DistArray<int, 1>(job, {20});
            });
        DistOptions<2> options{.dist = {Distribution::bounds({0, 4}), Distribution::cyclic(3)}};
        if (rows == 5)
            options = {.dist = {Distribution::replicated(), Distribution::whole()}, .grid = {0, 1}};
        options.halo[0] = {rows == 5 ? 0 : 2, 0};
        expect_error(
            ErrorCode::collective_mismatch,
            {call + "shape, grid, distribution and halo. PE 0", "{{2, 0}, 0}; PE 1 called",
             "with shape {4, 6}, grid {0, 0}, distribution {bounds({0, 4}), cyclic(3)} and halo {{2, 0}, 0};",
             "with shape {5, 6}, grid {0, 1}, distribution {replicated, whole} and halo {0, 0}."},
            [&] { make(options); });
        DistArray<int, 2> usable(job, {4, 6});
        usable.p({3, 5}, 1);
        job.world().barrier();
        EXPECT_EQ(usable.g({3, 5}), 1);
    });
}

// ---- replicated axes

const DistOptions<1> copies{.dist = {Distribution::replicated()}};

TEST_P(DistArrays, CopiesAreMadeWhereNoOtherAxisIsLeft) {
    run([](Job& job) {
        const Distribution block, copy = Distribution::replicated();
        const std::ptrdiff_t n = job.n_pes();
        const auto grid = [&](const std::array<Distribution, 2>& dist, const Index<2>& given = {}) {
            return DistArray<int, 2>(job, {7, 7}, {.dist = dist, .grid = given}).grid();
        };
        EXPECT_EQ(grid({copy, block}), (Index<2>{1, n}));
        EXPECT_EQ(grid({copy, copy}), (Index<2>{n, 1}));
        EXPECT_EQ(grid({Distribution::whole(), copy}), (Index<2>{1, n}));
        EXPECT_EQ(grid({copy, block}, {n, 0}), (Index<2>{n, 1}));
        EXPECT_EQ(grid({Distribution::bounds({0, 7}), copy}), (Index<2>{1, n}));
    });
}

TEST_P(DistArrays, WritesReachAllCopies) {
    run([](Job& job) {
        const int n = job.n_pes(), me = job.my_pe();
        DistArray<int, 1> array(job, {5}, copies);
        EXPECT_EQ(array.local().size(), 5U);
        EXPECT_EQ(array.bounds(n - 1)[0].stop, 5);
        EXPECT_EQ(array.owner({4}), 0);
        const std::vector<Index<1>> indices{{2}, {3}};
        if (me == n - 1) {
            array.p({0}, 1);
            array.put(Box<1>{Range{1, 2}}, std::vector<int>{2});
            array.at(indices).set(std::vector<int>{3, 4});
        }
        array.team().barrier();
        EXPECT_EQ(std::vector<int>(array.local().data(), array.local().data() + 5),
                  (std::vector<int>{1, 2, 3, 4, 0}));
        array.team().barrier();
        array.local()(3) = 10 + me;  // the copy of this PE, which it reads
        EXPECT_EQ(array.g({3}), 10 + me);
        EXPECT_EQ(array.get(Box<1>{Range{3, 4}}), (std::vector<int>{10 + me}));
        EXPECT_EQ(array.get(Box<1>{Range{0, 4, 3}}), (std::vector<int>{1, 10 + me}));
        EXPECT_EQ(array.at(indices).get(), (std::vector<int>{3, 10 + me}));
        EXPECT_EQ(array.to_vector(), (std::vector<int>{1, 2, 3, 10 + me, 0}));
        job.world().barrier();
    });
}

/// A PE that has no copy of an element reads that at its own place along the replicated axis.
TEST_P(DistArrays, ReadsTakeTheNearestCopy) {
    run([](Job& job) {
        const int n = job.n_pes();
        if (n % 2 != 0) return;
        DistArray<int, 2> array(
            job, {4, 3}, {.dist = {Distribution::block(), Distribution::replicated()}, .grid = {2, 0}});
        const int column = job.my_pe() % (n / 2);
        array.local().fill(column);
        EXPECT_EQ(array.to_vector(), std::vector<int>(12, column));
        EXPECT_EQ(array.g({0, 1}), column);
        EXPECT_EQ(array.g({3, 1}), column);
        EXPECT_EQ(array.owner({3, 1}), n / 2);
        job.world().barrier();
    });
}

/// Each element goes into another distribution once: PEs send even shares of what all of them have.
TEST_P(DistArrays, CopiesAreSentInShares) {
    run([](Job& job) {
        DistArray<int, 1> array(job, {11}, copies);
        array.local().fill(job.my_pe());
        const DistArray<int, 1> blocks(job, {11});
        const auto expect_shares = [&](const DistArray<int, 1>& made) {
            const std::vector<int> found = made.to_vector();
            for (std::ptrdiff_t i = 0; i < 11; ++i)
                ASSERT_EQ(found[static_cast<std::size_t>(i)], blocks.owner({i})) << i;
        };
        expect_shares(array.redistribute({.dist = {Distribution::cyclic(2)}}));
        expect_shares(array.redistribute(copies));
        expect_shares(redistribute(array, job.world(), job.world(), copies));
    });
}

TEST_P(DistArrays, OfCopiesHaveHalosAlongOtherAxesAlone) {
    run([](Job& job) {
        const int n = job.n_pes();
        if (n > 1)
            expect_error(ErrorCode::invalid_argument, {"a halo of 1 and 1; a replicated axis has none"}, [&] {
                DistArray<int, 1>(job, {9}, {.dist = {Distribution::replicated()}, .halo = {1}});
            });
        const std::ptrdiff_t parts = n % 2 == 0 ? 2 : n, rows = 2 * parts;
        DistArray<int, 2> array(job, {rows, 3},
                                {.dist = {Distribution::block(), Distribution::replicated()},
                                 .grid = {parts, 0},
                                 .halo = {1, 0}});
        array.for_each_local([](const Index<2>& at, int& x) { x = static_cast<int>(10 * at[0] + at[1]); });
        array.exchange_halo(Border::periodic);
        const std::ptrdiff_t first = array.bounds()[0].start;
        array.local_with_halo().for_each_index([&](const Index<2>& at) {
            const std::ptrdiff_t row = (first + at[0] - 1 + rows) % rows;
            ASSERT_EQ(array.local_with_halo()[at], 10 * row + at[1]) << at[0] << " " << at[1];
        });
        job.world().barrier();
    });
}

TEST_P(DistArrays, CopiesRefuseAtomicUpdates) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const DistArray<int, 1> array(job, {5}, copies);
        const std::vector<Index<1>> indices{{2}};
        const std::vector<int> one{1};
        const auto refuses = [&](const std::string& call, const std::function<void()>& update) {
            expect_error(ErrorCode::unsupported,
                         {call + ": an axis is replicated, and no update of several copies is atomic",
                          "redistribute it with Distribution::replicated()"},
                         update);
        };
        refuses("accumulate", [&] { array.accumulate(Box<1>{Range{0, 1}}, one); });
        refuses("fetch_add", [&] { array.fetch_add({9}, 1); });
        refuses("at(...).add", [&] { array.at(indices).add(one); });
        EXPECT_EQ(array.to_vector(), std::vector<int>(5));
    });
}

// ---- over teams

constexpr std::size_t room_bytes = std::size_t{128} << 10;

/// Every second PE in reverse order, so that two teams work at once; the last PE alone; all but one; all in
/// reverse order. Empty where this PE is not a member.
std::vector<Team> some_teams(Job& job) {
    const Team& world = job.world();
    const int n = job.n_pes(), me = job.my_pe();
    job.reserve_for_teams(room_bytes);
    return {world.split(me % 2, -me), world.split_strided(n - 1, 1, 1),
            world.split_strided(n > 1 ? 1 : 0, 1, std::max(n - 1, 1)), world.split(0, -me)};
}

TEST_P(DistArrays, OfTeamsAreThoseOfTheirMembers) {
    run([](Job& job) {
        for (const Team& team : some_teams(job)) {
            if (!team) {
                expect_error(ErrorCode::invalid_argument, {"DistArray: this PE is not a member of the team"},
                             [&] {
                                 DistArray<int, 2>(team, {3, 4});
                             });
                continue;
            }
            for (const auto& options : some_options<2>(team.n_pes()))
                compare_boxes<2>(team, {13, 11}, options);
            compare_halo(team, {Border::periodic, Border::reflect}, {Halo(2, 1), Halo(1, 1)});
        }
        job.world().barrier();
    });
}

TEST_P(DistArrays, OfTeamsNumberPesWithinTheTeam) {
    run([](Job& job) {
        const Team team = some_teams(job)[0];
        const int n = team.n_pes(), me = team.my_pe();
        DistArray<std::int64_t, 1> a(team, {3 * n}, {.dist = {Distribution::cyclic(2)}});
        EXPECT_TRUE(a.team() == team);
        EXPECT_EQ(team.world_pe(0) % 2, job.my_pe() % 2);
        EXPECT_EQ(team.world_pe(n - 1), job.my_pe() % 2);  // in reverse order
        const std::vector<std::ptrdiff_t> own = a.global_indices(0);
        EXPECT_EQ(own, a.global_indices(0, me));
        std::vector<Index<1>> all;
        std::vector<std::int64_t> numbers;
        for (std::ptrdiff_t i = 0; i < 3 * n; ++i) {
            EXPECT_EQ(a.owner({i}), i / 2 % n);
            EXPECT_EQ(std::count(own.begin(), own.end(), i), i / 2 % n == me ? 1 : 0);
            all.push_back({i});
            numbers.push_back(10 * i);
        }
        a.at(all).add(numbers);
        a.team().barrier();
        for (std::int64_t& number : numbers) number *= n;
        EXPECT_EQ(a.at(all).get(), numbers);
        a.team().barrier();
        if (me == n - 1) a.at(all).set(std::vector<std::int64_t>(all.size(), 7));
        a.team().barrier();
        EXPECT_EQ(a.gather(n - 1), std::vector<std::int64_t>(me == n - 1 ? all.size() : 0, 7));
        const auto b = DistArray<std::int64_t, 1>(team, {3 * n}).redistribute(a.options());
        EXPECT_EQ(b.global_indices(0), own);
        expect_error(ErrorCode::pe, {"PE " + std::to_string(n) + " does not exist; the array's team has"},
                     [&] { (void)b.bounds(n); });
        expect_error(ErrorCode::pe, {"does not exist"}, [&] { (void)a.gather(-1); });
        expect_error(ErrorCode::shape_mismatch, {"at(...).set: 1 elements for"},
                     [&] { a.at(all).set(std::vector<std::int64_t>(1)); });
        all[0] = {-1};
        expect_error(ErrorCode::invalid_argument, {"at: index {-1}"}, [&] { a.at(all); });
        expect_error(ErrorCode::invalid_argument, {"global_indices: axis 1 of an array of 1 axes"},
                     [&] { (void)a.global_indices(1); });
        job.world().barrier();
    });
}

TEST_P(DistArrays, GoFromTeamToTeam) {
    run([](Job& job) {
        const std::vector<Team> teams = some_teams(job);
        const Team halves[] = {job.my_pe() % 2 == 0 ? teams[0] : Team(),
                               job.my_pe() % 2 == 0 && job.n_pes() > 1 ? Team() : teams[0]};
        DistArray<int, 2> a(job, {7, 9}, {.dist = {Distribution::block(), Distribution::cyclic(2)}});
        a.for_each_local(
            [](const Index<2>& at, int& element) { element = static_cast<int>(9 * at[0] + at[1]); });
        std::vector<int> expected = a.to_vector();
        const DistOptions<2> options[] = {
            {.dist = {Distribution::cyclic(2), Distribution::block()}},
            {.dist = {Distribution::replicated(), Distribution::whole()}},
            {.dist = {Distribution::whole(), Distribution::block()}, .halo = {1, 0}}};
        int turn = 0;  // from all PEs along the teams, and back to all
        for (const Team& team : {halves[0], halves[1], teams[1], teams[2], teams[3], job.world()}) {
            a = redistribute(a, team, job.world(), options[turn++ % 3]);
            ASSERT_EQ(static_cast<bool>(a), static_cast<bool>(team));
            if (a) {
                EXPECT_TRUE(a.team() == team);
                EXPECT_EQ(a.to_vector(), expected);
                if (team.my_pe() == 0) a.p({6, 8}, turn);
                a.team().barrier();
            }
            expected.back() = turn;
        }
        EXPECT_EQ(a.redistribute(job, options[0]).to_vector(), expected);
        // Within a larger team than both, and smaller than all.
        if (const Team& over = teams[2]) {
            const Team first = over.split_strided(0, 1, 1);
            DistArray<int, 2> one;
            if (first) one = DistArray<int, 2>(first, {2, 2});
            if (one) one.local().fill(3);
            const auto all = redistribute(one, over, over);
            EXPECT_EQ(all.to_vector(), std::vector<int>(4, 3));
        }
        job.world().barrier();
    });
}

TEST_P(DistArrays, RedistributionsThatDoNotFitAreRefusedOnEveryPe) {
    run([](Job& job) {
        const Team& world = job.world();
        const Team half = some_teams(job)[0];
        const DistArray<int, 1> a(half, {4}), none;
        const bool mine = job.my_pe() == 0;
        const auto refuses = [&](ErrorCode code, const std::string& text, const DistArray<int, 1>& array,
                                 const Team& team, const DistOptions<1>& options = {}) {
            expect_error(code, {text}, [&] { redistribute(array, team, world, options); });
        };
        refuses(ErrorCode::invalid_argument, "no PE passed an array", none, half);
        const DistArray<int, 1> of_all(job, {3});
        refuses(ErrorCode::invalid_argument, "no PE passed a team", of_all, {});
        refuses(ErrorCode::invalid_argument, "does not divide", of_all, world, {.grid = {99}});
        const std::string other = "redistribute: PEs passed different values of distribution. PE 0 called ";
        const DistOptions<1> dealt{.dist = {mine ? Distribution::cyclic() : Distribution::block()}};
        expect_error(ErrorCode::invalid_argument, {"is not a member of the team"},
                     [&] { redistribute(a, half, Team()); });
        if (job.n_pes() > 1) refuses(ErrorCode::collective_mismatch, other, of_all, world, dealt);
        if (job.n_pes() > 1)
            expect_error(ErrorCode::collective_mismatch, {other, "{cyclic(1)}; PE ", "{block}"},
                         [&] { (void)of_all.redistribute(dealt); });
        if (job.n_pes() > 2) {
            refuses(ErrorCode::invalid_argument, "passed different arrays", a, world);
            refuses(ErrorCode::invalid_argument, "PEs, and PE 0 passed it", mine ? a : none, world);
            expect_error(ErrorCode::invalid_argument, {"redistribute(job, ...): this array is over a team"},
                         [&] { (void)a.redistribute(job, {}); });
        }
        world.barrier();
    });
}

/// A block is free once all PEs of its team have dropped it, also for a team that lacks one of them.
TEST_P(DistArrays, MemoryOfTeamsIsUsedAgain) {
    run([](Job& job) {
        const std::vector<Team> teams = some_teams(job);
        const Team &half = teams[0], &most = teams[2];
        const auto half_room = static_cast<std::ptrdiff_t>(room_bytes / 2 / sizeof(int));
        DistArray<int, 1> kept;
        if (most) kept = DistArray<int, 1>(most, {1000 * most.n_pes()});
        if (kept) kept.local().fill(-1);
        if (kept && most.my_pe() != 0) kept = {};  // one member still reads all parts
        job.world().barrier();
        for (int turn = 0; turn < 14; ++turn) {  // more than the rooms of all tests here can have at once
            DistArray<int, 1> a(half, {half_room * half.n_pes()});
            DistArray<int, 1> b(half, {3 * half.n_pes()}, {.halo = {1}});
            const auto values = std::span(a.local().data(), a.local().size());
            EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](int x) { return x == 0; }));
            a.local().fill(turn + 1);
            b.local().fill(turn + 1);
            b.exchange_halo(Border::periodic);
            EXPECT_EQ(b.local_with_halo()(0), turn + 1);
            a.team().barrier();
            EXPECT_EQ(a.g({0}), turn + 1);
            if (turn == 3) a.free();
        }
        if (half.n_pes() < job.n_pes())
            expect_error(ErrorCode::out_of_memory,
                         {"over a team of", "bytes in one piece on each member; ", "reserve_for_teams"},
                         [&] { DistArray<int, 1>(half, {half_room * 10000}); });
        job.world().barrier();
        const std::vector<int> all = kept ? kept.get({Range{0, kept.shape()[0]}}) : std::vector<int>();
        EXPECT_EQ(all, std::vector<int>(all.size(), -1));
        job.world().barrier();
    });
}

TEST_P(DistArrays, ExactlyTheReservedBytesFit) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const Team odd = job.world().split(job.my_pe() % 2);
        job.reserve_for_teams(800);
        DistArray<double, 1> a(odd, {100 * odd.n_pes()});
        EXPECT_EQ(a.local().size(), 100U);
    });
}

TEST_P(DistArrays, KeepTheirTeam) {
    run([](Job& job) {
        Team half = some_teams(job)[0];
        DistArray<int, 2> a(half, {4, 3 * half.n_pes()}, {.halo = {0, 1}});
        Team last_handle;
        std::swap(half, last_handle);
        last_handle = Team();
        a.local().fill(job.my_pe() + 1);
        a.exchange_halo(Border::periodic);
        EXPECT_EQ(a.to_vector().size(), 4u * 3u * static_cast<unsigned>(a.team().n_pes()));

        Team destroyed = a.team();
        if (destroyed.n_pes() == job.n_pes()) destroyed = job.world().split(0);
        DistArray<int, 2> b(destroyed, {4, 3 * destroyed.n_pes()}, {.halo = {0, 1}});
        b.local().fill(destroyed.my_pe());
        b.team().barrier();
        destroyed.destroy();
        b.exchange_halo(Border::periodic);
        const int n = destroyed.n_pes(), me = destroyed.my_pe();
        EXPECT_EQ(b.local_with_halo()(0, 0), (me + n - 1) % n);
        EXPECT_EQ(b.g({3, 3 * n - 1}), n - 1);
        job.world().barrier();  // PE 0 has read its edge
        b.fetch_add({0, 0}, 1);
        for (const auto& call : std::vector<std::function<void()>>{
                 [&] { b.team().barrier(); }, [&] { (void)b.to_vector(); }, [&] { (void)b.redistribute({}); },
                 [&] {
                     DistArray<int, 2>(destroyed, {4, 4});
                 }})
            expect_error(ErrorCode::use_after_free, {"This team was destroyed", "Make a new team"}, call);
        b = DistArray<int, 2>(job, {2, 2});  // drops the other
        EXPECT_EQ(b.to_vector(), std::vector<int>(4));
        b.free();
        EXPECT_FALSE(b);
        const DistArray<int, 2> none;
        const std::vector<Index<2>> indices{{0, 0}};
        for (const auto& call : std::vector<std::function<void()>>{
                 [&] {
                     (void)b.g({0, 0});
                 },
                 [&] { b.exchange_halo(); }, [&] { b.finish_halo(); }, [&] { (void)none.local(); },
                 [&] { (void)none.bounds(); }, [&] { (void)none.bounds(0); },
                 [&] {
                     (void)none.owner({0, 0});
                 },
                 [&] {
                     (void)none.get({Range{0, 1}, Range{0, 1}});
                 },
                 [&] { (void)none.at(indices); }, [&] { (void)none.global_indices(0); },
                 [&] { none.for_each_local([](const Index<2>&, int&) {}); }, [&] { (void)none.gather(); },
                 [&] { (void)none.to_vector(); }})
            expect_error(ErrorCode::use_after_free, {"this handle has no array"}, call);
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DistArrays, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
