// Splits of teams: members, their order, rejected arguments, and many teams.
#include "support/setups.hpp"

#include <algorithm>
#include <climits>

namespace atl::testing {
namespace {

class Teams : public WithPes {};

/// The expected result of a split: world PEs in order, or no team on other PEs.
void expect_team(const Job& job, const Team& team, const std::vector<int>& members) {
    const auto me = std::find(members.begin(), members.end(), job.my_pe());
    ASSERT_EQ(static_cast<bool>(team), me != members.end());
    if (!team) return;
    ASSERT_EQ(team.n_pes(), static_cast<int>(members.size()));
    EXPECT_EQ(team.my_pe(), static_cast<int>(me - members.begin()));
    for (int i = 0; i < team.n_pes(); ++i) {
        EXPECT_EQ(team.world_pe(i), members[static_cast<std::size_t>(i)]);
        EXPECT_EQ(team.translate_pe(i, job.world()), members[static_cast<std::size_t>(i)]);
    }
    for (int pe = 0; pe < job.n_pes(); ++pe) {
        const auto it = std::find(members.begin(), members.end(), pe);
        EXPECT_EQ(job.world().translate_pe(pe, team), it == members.end() ? -1 : it - members.begin());
    }
    team.sync();
}

TEST_P(Teams, World) {
    run([](Job& job) {
        const Team& world = job.world();
        EXPECT_EQ(world.my_pe(), job.my_pe());
        EXPECT_EQ(world.n_pes(), job.n_pes());
        EXPECT_EQ(world.translate_pe(job.n_pes(), world), -1);
        EXPECT_EQ(world.translate_pe(-1, world), -1);
        EXPECT_EQ(world.translate_pe(0, Team()), -1);
        EXPECT_EQ(Team().translate_pe(0, world), -1);
        expect_error(ErrorCode::pe, {}, [&] { world.world_pe(job.n_pes()); });
        Team handle = world;
        expect_error(ErrorCode::invalid_argument, {"world team"}, [&] { handle.destroy(); });
    });
}

/// Name of a PE's host, from names that are assigned to PEs in turn.
char host_of(const char* hosts, int pe) {
    const std::string names(hosts);
    return names.empty() ? 'a' : names[2 * (static_cast<std::size_t>(pe) % (names.size() / 2 + 1))];
}

TEST_P(Teams, PredefinedTeamsFollowHosts) {
    // Real hosts given by tests/clusters, else pretended ones.
    const char* given = pes_are_processes ? std::getenv("ATOLL_TEST_HOSTS") : GetParam().hosts;
    if (pes_are_processes && given == nullptr) given = std::getenv("ATOLL_HOST_ID");
    const char* hosts = given ? given : "";
    run([hosts](Job& job) {
        std::vector<int> host, rail;
        const auto index = [&](int pe) {
            int before = 0;
            for (int i = 0; i < pe; ++i) before += host_of(hosts, i) == host_of(hosts, pe);
            return before;
        };
        for (int pe = 0; pe < job.n_pes(); ++pe) {
            if (host_of(hosts, pe) == host_of(hosts, job.my_pe())) host.push_back(pe);
            if (index(pe) == index(job.my_pe())) rail.push_back(pe);
        }
        const auto members = [](const Team& team) {
            std::vector<int> pes;
            for (int i = 0; i < team.n_pes(); ++i) pes.push_back(team.world_pe(i));
            return pes;
        };
        EXPECT_EQ(members(job.shared()), host);
        EXPECT_EQ(members(job.host()), host);
        EXPECT_EQ(members(job.rail()), rail);
        SymmetricArray<int> word(job, 1);
        for (int pe = 0; pe < job.n_pes(); ++pe) {
            const bool here = std::find(host.begin(), host.end(), pe) != host.end();
            if (!here) {
                EXPECT_EQ(job.context().ptr(word.data(), pe), nullptr);
            }
        }
        for (const Team& team : {job.shared(), job.host(), job.rail()}) {
            std::int64_t sum = 0, expected = 0;
            const std::int64_t mine = job.my_pe();
            for (const int pe : members(team)) expected += pe;
            team.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            EXPECT_EQ(sum, expected);
            Team handle = team;
            expect_error(ErrorCode::invalid_argument, {"cannot be destroyed"}, [&] { handle.destroy(); });
        }
    });
}

TEST_P(Teams, EveryStridedTriplet) {
    run([](Job& job) {
        const int n = job.n_pes();
        for (int start = 0; start < n; ++start)
            for (int stride = -n; stride <= n; ++stride)
                for (int size = 1; size <= n; ++size) {
                    const int last = start + stride * (size - 1);
                    if (last < 0 || last >= n || (stride == 0 && size > 1)) continue;
                    std::vector<int> members;
                    for (int i = 0; i < size; ++i) members.push_back(start + i * stride);
                    Team team = job.world().split_strided(start, stride, size);
                    expect_team(job, team, members);
                    if (team) team.destroy();
                }
    });
}

TEST_P(Teams, RangesOutsideTheParentAreRefusedOnEveryPe) {
    run([](Job& job) {
        const int n = job.n_pes();
        const Team& world = job.world();
        const auto refuse = [&](int start, int stride, int size) {
            expect_error(ErrorCode::invalid_argument, {"split_strided", std::to_string(stride)},
                         [&] { world.split_strided(start, stride, size); });
        };
        refuse(0, 1, n + 1);
        refuse(n - 1, 1, 2);
        refuse(0, -1, 2);
        refuse(n, 1, 1);
        refuse(-1, 1, 1);
        refuse(0, 1, 0);
        refuse(0, 1, -3);
        refuse(0, 0, 2);
        refuse(0, INT_MAX, 3);  // the product wraps
        refuse(0, INT_MIN, 3);
        refuse(0, 1 << 30, 5);
        expect_error(ErrorCode::invalid_argument, {"split_2d"}, [&] { world.split_2d(0); });
        expect_error(ErrorCode::invalid_argument, {"-2"}, [&] { world.split_2d(-2); });
        if (n > 1)
            expect_error(ErrorCode::collective_mismatch, {"PE 0", "split_strided"},
                         [&] { world.split_strided(0, 1, job.my_pe() == 0 ? 1 : 2); });
        world.sync();  // still usable
    });
}

/// An id that PE 0 made, sent to all PEs.
std::uint64_t shared_id(Job& job) {
    std::uint64_t id = job.my_pe() == 0 ? job.get_team_unique_id() : 0, mine = id;
    job.world().broadcast(std::span(&id, 1), std::span(&mine, 1), 0);
    return id;
}

TEST_P(Teams, FromAnIdWithoutTheOthers) {
    run([](Job& job) {
        const int n = job.n_pes(), me = job.my_pe();
        const std::uint64_t ids[2] = {shared_id(job), shared_id(job)};
        EXPECT_NE(ids[0], ids[1]);
        // The even and the odd PEs, backwards, at once.
        std::vector<int> members;
        for (int pe = n - 1; pe >= 0; --pe)
            if (pe % 2 == me % 2) members.push_back(pe);
        const auto index = [&](int pe) {
            return static_cast<int>(std::find(members.begin(), members.end(), pe) - members.begin());
        };
        const int size = static_cast<int>(members.size());
        {
            Team team = job.team_init(ids[me % 2], size, index(me));
            expect_team(job, team, members);
            std::int64_t sum = 0, expected = 0;
            const std::int64_t mine = me;
            for (const int pe : members) expected += pe;
            team.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            EXPECT_EQ(sum, expected);
            Team last = team.split(team.my_pe() == size - 1 ? 0 : -1);
            expect_team(job, last, {members.back()});
            team.destroy();
            expect_error(ErrorCode::invalid_argument, {"team_init", "each id makes one team"},
                         [&] { job.team_init(ids[me % 2], size, index(me)); });
        }
        for (int round = 0; round < 3; ++round)
            expect_team(job, job.team_init(job.get_team_unique_id(), 1, 0), {me});
    });
}

TEST_P(Teams, AnIdOfOtherCallsMakesNoTeam) {
    run([](Job& job) {
        const int n = job.n_pes(), me = job.my_pe();
        const auto refuse = [&](std::uint64_t id, int size, int pe, const char* words) {
            expect_error(size == n && pe == n ? ErrorCode::pe : ErrorCode::invalid_argument,
                         {"team_init", words}, [&] { job.team_init(id, size, pe); });
        };
        const std::uint64_t good = shared_id(job);
        refuse(0, n, me, "0 is no id of a team");
        refuse(~std::uint64_t{0}, n, me, "is no id of a team");
        refuse(good + 1, n, me, "no id of a team that can still be made");
        refuse(good, 0, 0, "n_pes is 0");
        refuse(good, n + 1, me, "pass 1 to");
        refuse(good, n, n, "my_pe is");
        if (n > 1) {
            const auto differs = [&](int size, int pe) {
                expect_error(ErrorCode::collective_mismatch, {"team_init", "join"},
                             [&, id = shared_id(job)] { job.team_init(id, size, pe); });
                job.world().sync();
            };
            differs(n, me == 1 ? 0 : me);
            if (n > 2) differs(me == n - 1 ? n - 1 : n, me % (n - 1));
        }
        expect_team(job, job.team_init(good, n, me), [&] {
            std::vector<int> all;
            for (int pe = 0; pe < n; ++pe) all.push_back(pe);
            return all;
        }());
    });
}

TEST_P(Teams, TwoAxes) {
    run([](Job& job) {
        const int n = job.n_pes();
        for (const int xrange : {1, 2, 3, n, n + 5, INT_MAX}) {
            const int width = std::min(xrange, n);
            const auto [row, column] = job.world().split_2d(xrange);
            std::vector<int> in_row, in_column;
            for (int pe = 0; pe < n; ++pe) {
                if (pe / width == job.my_pe() / width) in_row.push_back(pe);
                if (pe % width == job.my_pe() % width) in_column.push_back(pe);
            }
            expect_team(job, row, in_row);
            expect_team(job, column, in_column);
            Team a = row, b = column;
            a.destroy();
            b.destroy();
        }
    });
}

TEST_P(Teams, AnySubsetByColourAndKey) {
    run([](Job& job) {
        const int n = job.n_pes();
        auto random = random_numbers(n);
        for (int round = 0; round < 40; ++round) {
            std::vector<int> colors, keys;
            for (int pe = 0; pe < n; ++pe) {
                colors.push_back(static_cast<int>(below(random, 4)) - 1);
                keys.push_back(static_cast<int>(below(random, 3)) *
                               (below(random, 2) == 0 ? -1000 : INT_MAX / 3));
            }
            const auto me = static_cast<std::size_t>(job.my_pe());
            std::vector<std::pair<int, int>> order;
            for (int pe = 0; pe < n; ++pe)
                if (colors[static_cast<std::size_t>(pe)] == colors[me] && colors[me] >= 0)
                    order.emplace_back(keys[static_cast<std::size_t>(pe)], pe);
            std::sort(order.begin(), order.end());
            std::vector<int> members;
            for (const auto& [key, pe] : order) members.push_back(pe);
            Team team = job.world().split(colors[me], keys[me]);
            expect_team(job, team, members);
            if (team) team.destroy();
        }
    });
}

TEST_P(Teams, NestedToTheLastPe) {
    run([](Job& job) {
        std::vector<Team> chain{job.world()};
        while (chain.back() && chain.back().n_pes() > 1) {
            const Team parent = chain.back();
            // All but the first, in reverse order.
            chain.push_back(parent.split_strided(parent.n_pes() - 1, -1, parent.n_pes() - 1));
            if (!chain.back()) break;
            EXPECT_EQ(chain.back().n_pes(), parent.n_pes() - 1);
            EXPECT_EQ(chain.back().my_pe(), parent.n_pes() - 1 - parent.my_pe());
            EXPECT_EQ(parent.translate_pe(parent.n_pes() - 1, chain.back()), 0);
            chain.back().barrier();
        }
        // A parent may be destroyed before its children.
        for (std::size_t i = 1; i < chain.size(); ++i)
            if (chain[i]) chain[i].destroy();
        job.world().barrier();
    });
}

TEST_P(Teams, HundredsAtOnceAndOneAfterAnother) {
    run([](Job& job) {
        std::vector<Team> teams;
        for (int i = 0; i < 300; ++i)
            teams.push_back(job.world().split(job.my_pe() % (1 + i % 3), i % 2 ? -job.my_pe() : 0));
        for (const Team& team : teams) team.sync();
        for (auto it = teams.rbegin(); it != teams.rend(); ++it) it->destroy();
        for (int i = 0; i < 500; ++i) {
            Team team = job.world().split(0, i % 2 ? -job.my_pe() : job.my_pe());
            team.barrier();
            team.destroy();
        }
    });
}

TEST_P(Teams, MemoryOfDestroyedOnesComesBack) {
    // The arena of the smallest heap holds a few hundred control blocks with channels; a leak would use it
    // up.
    run([](Job& job) {
        for (int i = 0; i < 1000; ++i) {
            Team team = job.world().split(0, 0);
            int value = i;
            if (team.n_pes() > 1) {
                MessageGroup group(team);
                int got = -1;
                group.send_bytes(&value, sizeof value, (team.my_pe() + 1) % team.n_pes());
                group.recv_bytes(&got, sizeof got, (team.my_pe() + team.n_pes() - 1) % team.n_pes());
                group.run();
                ASSERT_EQ(got, i);
            }
            team.destroy();
        }
    });
}

TEST_P(Teams, UseAfterDestroyIsRefused) {
    run([](Job& job) {
        Team team = job.world().split(0, 0);
        const Team copy = team;
        EXPECT_EQ(team, copy);
        team.destroy();
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { copy.sync(); });
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { copy.barrier(); });
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { copy.split(0); });
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { copy.split_strided(0, 1, 1); });
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { copy.create_context(); });
        expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { team.destroy(); });
        const Team nobody;
        expect_error(ErrorCode::use_after_free, {"not a member"}, [&] { nobody.sync(); });
        expect_error(ErrorCode::use_after_free, {"not a member"}, [&] { nobody.my_pe(); });
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Teams, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
