// Groups over several hosts: their members are threads, which ATOLL_HOST_ID puts on hosts, and UCX joins
// these.
#include "collective/far_setup.hpp"

#include <gtest/gtest.h>
#include <latch>

#include <numeric>

namespace atl::requests {
namespace {

/// Members 0 and 1 are on host a, member 2 is on host b.
class FarGroups : public ::testing::Test {
  protected:
    static constexpr int n = 3;
    FarGroups() { ::setenv("ATOLL_HOST_ID", "a,a,b", 1); }
    ~FarGroups() override { ::unsetenv("ATOLL_HOST_ID"); }

    /// Runs `body` as each member, in a separate thread.
    template <class Body> static void as_members(Body&& body) {
        Store store;
        std::vector<std::thread> threads;
        for (int rank = 0; rank < n; ++rank)
            threads.emplace_back([&, rank] {
                Membership membership = join({store.of_members(), rank, n});
                EXPECT_EQ(membership.far->n_hosts(), 2);
                auto group = std::make_unique<Group>(std::move(membership));
                body(*group, rank);
                group->run(Call{}, 0);  // a barrier, so that no member leaves before
            });
        for (std::thread& thread : threads) thread.join();
    }
};

std::string error_of(Group& group, const Call& call, double timeout_s = 0) {
    try {
        group.run(call, timeout_s);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

constexpr std::size_t group_sizes[] = {0, 1, 5, 3000, 20'000, 600'001};

TEST_F(FarGroups, ReductionsAndBroadcastsMatchTheModel) {
    as_members([](Group& group, int rank) {
        for (const std::size_t count : group_sizes) {
            Values in = values_of<Values>(rank, count), out(count), expected(count);
            for (std::size_t k = 0; k < count; ++k)
                for (int i = 0; i < n; ++i) expected[k] += i * 1000 + static_cast<std::int32_t>(k);
            Call all = call_of(Kind::all_reduce);
            all.in = {span_of(in)};
            all.out = {span_of(out)};
            group.run(all, 0);
            EXPECT_TRUE(out == expected) << rank << ", " << count;
            for (int root = 0; root < n; ++root) {
                Values sent = values_of<Values>(root, count), got(count);
                Call broadcast = call_of(Kind::broadcast, root);
                if (rank == root) broadcast.in = {span_of(sent)};
                if (rank != root) broadcast.out = {span_of(got)};
                group.run(broadcast, 0);
                if (rank != root) {
                    EXPECT_TRUE(got == sent) << rank << " from " << root << ", " << count;
                }
            }
        }
    });
}

TEST_F(FarGroups, PiecesOfDifferentSizesArriveAtTheirPlaces) {
    as_members([](Group& group, int rank) {
        for (const std::size_t count : group_sizes) {
            Call call = call_of(Kind::all_to_all);
            std::vector<Values> in, out;
            for (int j = 0; j < n; ++j) {
                in.push_back(values_of<Values>(rank * n + j, count + std::size_t(rank + 2 * j)));
                out.emplace_back(count + std::size_t(2 * rank + j));
            }
            for (std::size_t j = 0; j < n; ++j) {
                call.in.push_back(span_of(in[j]));
                call.out.push_back(span_of(out[j]));
            }
            group.run(call, 0);
            for (int j = 0; j < n; ++j)
                EXPECT_EQ(out[std::size_t(j)],
                          values_of<Values>(j * n + rank, count + std::size_t(2 * rank + j)));
        }
    });
}

/// More data than a ring has room for, in both directions at once, and of two tags.
TEST_F(FarGroups, MessagesArriveByTags) {
    as_members([](Group& group, int rank) {
        const int other = rank == 2 ? 0 : 2;
        if (rank == 1) return;
        for (const std::size_t count : group_sizes) {
            Values one = values_of<Values>(rank, count), two = values_of<Values>(rank + 10, count),
                   first(count), second(count);
            std::vector<RequestPtr> requests;
            const auto start = [&](Kind kind, Values& values, int tag) {
                Call call = call_of(kind, other);
                call.tag = tag;
                if (kind == Kind::send) call.in = {span_of(values)};
                if (kind == Kind::receive) call.out = {span_of(values)};
                requests.push_back(group.start(call, 0));
            };
            start(Kind::send, one, 1);
            start(Kind::send, two, 2);
            start(Kind::receive, second, 2);
            start(Kind::receive, first, 1);
            for (const RequestPtr& request : requests) group.wait(request, -1);
            EXPECT_EQ(first, values_of<Values>(other, count));
            EXPECT_EQ(second, values_of<Values>(other + 10, count));
        }
    });
}

/// The text that members of both hosts have for an error of one of them.
template <class Body> std::vector<std::string> errors(Body&& body) {
    Store store;
    std::vector<std::string> texts(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
            auto group = std::make_unique<Group>(join({store.of_members(), rank, 3}));
            texts[std::size_t(rank)] = body(group, rank);
        });
    for (std::thread& thread : threads) thread.join();
    return texts;
}

TEST_F(FarGroups, DifferentCallsAreNamedOnAllMembers) {
    const auto texts = errors([](std::unique_ptr<Group>& group, int rank) {
        Values in(rank == 2 ? 4 : 5), out(in.size());
        Call call = call_of(Kind::all_reduce);
        call.in = {span_of(in)};
        call.out = {span_of(out)};
        return error_of(*group, call);
    });
    for (const std::string& text : texts) {
        EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
        EXPECT_NE(text.find("of 16 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("of 20 bytes"), std::string::npos) << text;
    }
}

TEST_F(FarGroups, AMemberThatHasLeftIsNamedByThoseWhoWait) {
    const auto texts = errors([](std::unique_ptr<Group>& group, int rank) -> std::string {
        group->run(Call{}, 0);
        if (rank == 2) {
            group.reset();
            return "rank 2 has left the communicator";
        }
        return error_of(*group, Call{});
    });
    for (const std::string& text : texts)
        EXPECT_NE(text.find("rank 2 has left the communicator"), std::string::npos) << text;
}

/// Member 2 does what a process does that exits normally with its group.
TEST_F(FarGroups, AMemberThatEndsInItsGroupIsNamedByThoseWhoWait) {
    const auto texts = errors([](std::unique_ptr<Group>& group, int rank) -> std::string {
        group->run(Call{}, 0);
        if (rank != 2) return error_of(*group, Call{}, 20);
        for (const auto& endpoint : far::Endpoint::all())
            if (endpoint->number() == 2) endpoint->transport().close();
        return "rank 2 (host b) ended";
    });
    for (const std::string& text : texts)
        EXPECT_NE(text.find("rank 2 (host b) ended"), std::string::npos) << text;
}

TEST_F(FarGroups, ATimeOutNamesTheMembersThatAreMissing) {
    std::latch all_met(n);
    const auto texts = errors([&](std::unique_ptr<Group>& group, int rank) -> std::string {
        group->run(Call{}, 0);
        all_met.arrive_and_wait();  // else one may still be in that call when member 0 gives up
        if (rank != 0) return error_of(*group, Call{});
        Values out(1);
        Call call = call_of(Kind::receive, 1);
        call.out = {span_of(out)};
        const RequestPtr request = group->start(call, 0);
        EXPECT_FALSE(group->wait(request, 0.001));
        try {
            group->throw_late(*request, 0.001);
        } catch (const Error& error) {
            group->abort(error.what());
            return error.what();
        }
        return {};
    });
    for (const std::string& text : texts)
        EXPECT_NE(text.find("waiting for rank 1"), std::string::npos) << text;
}

/// An error of one member is an error of all, and names that member.
TEST_F(FarGroups, AMemberThatCannotJoinIsNamedOnAll) {
    Store store;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < n; ++rank)
        threads.emplace_back([&, rank] {
            JobOptions::Store mine = store.of_members();
            if (rank == 2)
                mine.put = [put = mine.put](const std::string& key, const std::string&) {
                    put(key, "6:failed15:rank 2: no room");
                };
            try {
                join({mine, rank, n});
                ADD_FAILURE() << "member " << rank << " joined";
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("rank 2: no room"), std::string::npos)
                    << error.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace atl::requests
