// Non-blocking collectives of teams: results as those of blocking calls, order, errors, and requests that are
// dropped.
#include "atoll/requests.hpp"
#include "common/board/board.hpp"
#include "core/job/job_state.hpp"
#include "support.hpp"

#include <optional>
#include <thread>

namespace atl::testing {
namespace {

/// 1 element is in one line, 1000 in one slot, and 300'000 take several rounds of a sliced reduction.
constexpr std::size_t request_counts[] = {0, 1, 1000, 300'000};

template <class T> std::vector<T> request_values(int pe, std::size_t count, int round = 0) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value<T>(pe, i, round);
    return all;
}

/// Runs `call` with the team, and again with requests: both results are equal.
template <class T, class Call> void compare(const Team& team, std::size_t dst_count, Call&& call) {
    std::vector<T> expected(dst_count), got(dst_count);
    call(team, expected);
    Requests requests(team);
    call(requests, got);
    requests.wait();
    EXPECT_TRUE(requests.test());
    EXPECT_EQ(expected, got);
}

template <class T> void compare_requests(const Team& team, std::size_t count) {
    const int me = team.my_pe();
    const auto n = static_cast<std::size_t>(team.n_pes());
    const std::vector<T> mine = request_values<T>(me, count), wide = request_values<T>(me, count * n);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod})
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.reduce(dst, mine, op); });
    compare<T>(team, count, [&](const auto& on, auto& dst) { on.reduce_scatter(dst, wide, ReduceOp::sum); });
    compare<T>(team, count * n, [&](const auto& on, auto& dst) { on.fcollect(dst, mine); });
    compare<T>(team, count * n, [&](const auto& on, auto& dst) { on.alltoall(dst, wide); });
    for (int root = 0; root < team.n_pes(); ++root) {
        const bool is_root = me == root;
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.broadcast(dst, mine, root); });
        compare<T>(team, is_root ? count : 0,
                   [&](const auto& on, auto& dst) { on.reduce_to(dst, mine, ReduceOp::sum, root); });
        compare<T>(team, is_root ? count * n : 0,
                   [&](const auto& on, auto& dst) { on.gather(dst, mine, root); });
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.scatter(dst, wide, root); });
    }
}

TEST(TeamRequests, HaveTheResultsOfBlockingCalls) {
    for (const int n : {1, 2, 3})
        run_pes(n, [](Job& job) {
            for (const std::size_t count : request_counts) {
                if (slowly_checked && count > 1000 && job.n_pes() != 2) continue;
                compare_requests<double>(job.world(), count);
                compare_requests<std::int16_t>(job.world(), count);
            }
        });
}

TEST(TeamRequests, WorkOnEveryTeam) {
    run_pes(4, [](Job& job) {
        const Team half = job.world().split(job.my_pe() % 2), alone = job.world().split(job.my_pe());
        compare_requests<double>(half, 1000);
        compare_requests<double>(alone, 1000);
        // Two teams at once, in another order on each PE.
        std::int64_t one = 1, sums[2] = {};
        Requests a(job.world()), b(half);
        const auto start = [&](Requests& requests, std::int64_t& sum) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&one, 1));
        };
        if (job.my_pe() < 2) start(a, sums[0]);
        start(b, sums[1]);
        if (job.my_pe() >= 2) start(a, sums[0]);
        if (job.my_pe() % 2 == 0) b.wait();
        a.wait();
        b.wait();
        EXPECT_EQ(sums[0], 4);
        EXPECT_EQ(sums[1], 2);
        Team gone = half;
        gone.destroy();
        EXPECT_THROW(Requests{gone}, Error);
    });
}

TEST(TeamRequests, SeveralGoOnTogetherAndBesideBlockingCalls) {
    run_pes(3, [](Job& job) {
        Requests requests(job.world());
        const std::int64_t mine = job.my_pe() + 1;
        std::vector<std::int64_t> sums(50);
        for (std::int64_t& sum : sums) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        expect_team_works(job.world());
        requests.sync();
        requests.wait();
        EXPECT_EQ(sums, std::vector<std::int64_t>(50, 6));
    });
}

/// The call returns although no other member has made it; the members need not wait at the same time.
TEST(TeamRequests, StartWithoutTheOthers) {
    run_pes(2, [](Job& job) {
        std::int64_t mine = 1, sum = 0;
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            EXPECT_FALSE(requests.test());
        }
        job.world().barrier();
        if (job.my_pe() == 1) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        while (!requests.test()) std::this_thread::yield();
        EXPECT_EQ(sum, 2);
    });
}

/// The text of the error that `call` throws.
template <class Call> std::string error_text_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(TeamRequests, CompareTheCallsOfTheMembers) {
    run_pes(2, [](Job& job) {
        const Team team = job.world().split(0);
        std::vector<double> mine(job.my_pe() == 0 ? 4 : 5), sum(mine.size());
        Requests requests(team);
        const std::string text = error_text_of([&] {
            requests.sum_reduce(sum, mine);
            requests.wait();
        });
        expect_parts(text, {"PE 0 called sum_reduce(bytes=32, dtype=float64)",
                            "PE 1 called sum_reduce(bytes=40, dtype=float64)", "they differ in bytes",
                            "in the same order with the same arguments"});
        expect_parts(error_text_of([&] { requests.sum_reduce(sum, mine); }),
                     {"is unusable", "Its blocking collectives are not affected"});
        expect_team_works(team);
    });
}

/// A difference between two members of three, which every member must report.
struct DifferentCalls {
    const char* name;
    /// Starts a call, which differs on PE 2.
    std::function<void(const Requests&, bool differs)> call;
    std::vector<std::string> parts;
};

std::vector<DifferentCalls> different_calls() {
    // PEs are threads here, and each has arrays of its own.
    static thread_local std::int64_t data[2][64];
    const auto span = [](std::size_t count, int of = 0) { return std::span(data[of], count); };
    return {
        {"the root of a broadcast",
         [=](const Requests& on, bool differs) { on.broadcast(span(4), span(4), differs ? 2 : 0); },
         {"broadcast(dst_bytes=32, root=0)", "broadcast(dst_bytes=32, root=2)", "differ in root"}},
        {"the size of a broadcast",
         [=](const Requests& on, bool differs) {
             on.broadcast(span(differs ? 5 : 4), span(differs ? 5 : 4), 0);
         },
         {"dst_bytes=32", "dst_bytes=40", "differ in dst_bytes"}},
        {"the root of a reduction",
         [=](const Requests& on, bool differs) {
             on.reduce_to(span(4), span(4, 1), ReduceOp::sum, differs ? 2 : 0);
         },
         {"reduce_to(bytes=32, root=0,", "reduce_to(bytes=32, root=2,", "differ in root"}},
        {"the root of a gather",
         [=](const Requests& on, bool differs) { on.gather(span(12), span(4, 1), differs ? 1 : 0); },
         {"gather(src_bytes=32, root=0)", "gather(src_bytes=32, root=1)", "differ in root"}},
        {"the root of a scatter",
         [=](const Requests& on, bool differs) { on.scatter(span(4), span(12, 1), differs ? 1 : 0); },
         {"scatter(dst_bytes=32, root=0)", "scatter(dst_bytes=32, root=1)"}},
        {"the operator",
         [=](const Requests& on, bool differs) {
             on.reduce(span(4), span(4, 1), differs ? ReduceOp::max : ReduceOp::sum);
         },
         {"sum_reduce(", "max_reduce(", "differ in op"}},
        {"the block of an alltoall",
         [=](const Requests& on, bool differs) {
             on.alltoall(span(differs ? 6 : 3), span(differs ? 6 : 3, 1));
         },
         {"alltoall(bytes=8)", "alltoall(bytes=16)"}},
        {"the block of a reduce_scatter",
         [=](const Requests& on, bool differs) {
             on.reduce_scatter(span(differs ? 2 : 1), span(differs ? 6 : 3, 1), ReduceOp::sum);
         },
         {"reduce_scatter(dst_bytes=8,", "reduce_scatter(dst_bytes=16,"}},
        {"the operation",
         [=](const Requests& on, bool differs) { differs ? on.sync() : on.fcollect(span(12), span(4, 1)); },
         {"fcollect(bytes=32)", "sync()"}},
    };
}

TEST(TeamRequests, EveryMemberReportsADifference) {
    for (const DifferentCalls& different : different_calls())
        for (const int late : {0, 2}) {
            SCOPED_TRACE(std::string(different.name) + ", PE " + std::to_string(late) + " is late");
            run_pes(3, [&](Job& job) {
                const Team team = job.world().split(0);
                Requests requests(team);
                const bool is_late = job.my_pe() == late;
                if (!is_late) different.call(requests, job.my_pe() == 2);
                job.world().barrier();
                if (is_late) different.call(requests, job.my_pe() == 2);
                const std::string text = mismatch_of([&] { requests.wait(); });
                expect_parts(text, {"PE 2", "team 1"});
                expect_parts(text, different.parts);
                mismatch_of([&] { requests.sync(); });
                job.world().barrier();
            });
        }
}

/// The root does not need the others' data, but its request ends only after they have compared their calls.
TEST(TeamRequests, ARootWaitsForTheCallsOfTheOthers) {
    run_pes(2, [](Job& job) {
        std::int64_t value = 7;
        Requests requests(job.world());
        const auto start = [&] { requests.broadcast(std::span(&value, 1), std::span(&value, 1), 0); };
        if (job.my_pe() == 0) {
            start();
            EXPECT_FALSE(requests.test());
        }
        job.world().barrier();
        if (job.my_pe() == 1) start();
        requests.wait();
        EXPECT_EQ(value, 7);
    });
}

/// Waits until the job board shows `pe` as `shows` demands, and returns that entry.
template <class Shows> common::PeDoing shown_of(Job& job, int pe, Shows&& shows) {
    for (;;) {
        const common::PeDoing doing = job.world().state().job().board().doing(pe);
        if (shows(doing)) return doing;
        std::this_thread::yield();
    }
}

TEST(TeamRequests, AWaitIsOnTheJobBoard) {
    run_pes(2, [](Job& job) {
        Requests requests(job.world());
        if (job.my_pe() == 1) {
            // Before, PE 0 may be shown in another wait: for PE 1 to end its init.
            shown_of(job, 0, [](const common::PeDoing& one) {
                return one.waits && !one.polls &&
                       one.text.starts_with("Requests::wait on sync, non-blocking call 1") &&
                       one.text.find("for PE 1") != std::string::npos;
            });
        }
        requests.sync();
        requests.wait();
        EXPECT_FALSE(job.world().state().job().board().doing(job.my_pe()).waits);
    });
}

/// A program that does little but test counts as waiting. Once it does other things, it does not.
TEST(TeamRequests, TestsInALoopAreOnTheJobBoard) {
    run_pes(2, [](Job& job) {
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sync();
            while (!requests.test()) std::this_thread::yield();
            job.world().barrier();
            return;
        }
        const common::PeDoing doing = shown_of(job, 0, [](const common::PeDoing& one) { return one.polls; });
        EXPECT_TRUE(doing.waits);
        expect_parts(doing.text, {"Requests::test on sync, non-blocking call 1", "for PE 1"});
        requests.sync();
        requests.wait();
        shown_of(job, 0, [](const common::PeDoing& one) { return !one.polls; });
        job.world().barrier();
    });
}

TEST(TeamRequests, AreRecordedFromStartToEnd) {
    run_pes(2, [](Job& job) {
        const auto recorded = [&] {
            std::vector<common::EventCopy> found;
            for (const auto& event : read_events(job.world().state().job().board().events(job.my_pe())))
                if (event.kind == common::EventKind::request) found.push_back(event);
            return found;
        };
        std::int64_t mine = 1, sum = 0;
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            const auto events = recorded();
            ASSERT_EQ(events.size(), 1U);
            EXPECT_EQ(static_cast<int>(events[0].state), static_cast<int>(common::EventState::met));
            EXPECT_EQ(common::event_text(events[0]), "request reduce, call 1 of the world team: not ended");
            EXPECT_EQ(events[0].words[0], 8U);
        }
        job.world().barrier();
        if (job.my_pe() == 1) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        requests.wait();
        EXPECT_EQ(common::event_text(recorded().at(0)), "request reduce, call 1 of the world team: ended");
        expect_parts(requests.latest(), {"reduce, non-blocking call 1 of the world team"});
    });
}

TEST(TeamRequests, RefuseWrongArguments) {
    run_pes(2, [](Job& job) {
        std::vector<double> mine(4), small(3);
        Requests requests(job.world());
        expect_parts(error_text_of([&] { requests.sum_reduce(small, mine); }), {"reduce", "3", "4"});
        expect_parts(error_text_of([&] { requests.fcollect(small, mine); }), {"fcollect", "24", "64"});
        expect_parts(error_text_of([&] { requests.broadcast(mine, mine, 2); }), {"2"});
        expect_parts(
            error_text_of([&] { requests.broadcast_bytes(nullptr, 8, mine.data(), 8, job.my_pe()); }),
            {"dst", "null"});
        // The failed calls have not taken part.
        std::vector<double> sum(4);
        requests.sum_reduce(sum, mine);
        requests.wait();
    });
}

TEST(TeamRequests, AreNamedWhenTheyAreDroppedBeforeTheEnd) {
    run_pes(2, [](Job& job) {
        const Team team = job.world().split(0);
        // More than the slots of PE 0 hold, so PE 1 needs it again.
        std::vector<double> mine(1'000'000), sum(mine.size());
        if (job.my_pe() == 0) {
            Requests requests(team);
            requests.sum_reduce(sum, mine);
        }
        job.world().barrier();
        if (job.my_pe() == 1) {
            Requests requests(team);
            expect_parts(error_text_of([&] {
                             requests.sum_reduce(sum, mine);
                             requests.wait();
                         }),
                         {"PE 0 destroyed its requests before", "of 8000000 bytes of float64 was done"});
        }
        expect_team_works(team);
    });
}

TEST(TeamRequests, AWaitHasALimit) {
    run_pes(2, [](Job& job) {
        std::int64_t mine = 1, sum = 0;
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            expect_parts(error_text_of([&] { requests.wait(1e-3); }),
                         {"Timed out after", "waiting for PE 1"});
        }
        job.world().barrier();
        if (job.my_pe() == 1) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        requests.wait();
        EXPECT_EQ(sum, 2);
    });
}

TEST(TeamRequests, ThatOutliveTheirJobFailAndUseNoMemoryOfIt) {
    ThreadJobOptions options;
    options.finalize = false;
    run_pes(
        2,
        [](Job& job) {
            const int me = job.my_pe();
            std::int64_t mine = 1, sum = 0;
            std::optional<Requests> polled(job.world()), unused(job.world());
            if (me == 0) {
                polled->sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
                // Until the board shows this PE as one that polls.
                while (!job.state().board().doing(0).polls) EXPECT_FALSE(polled->test());
            }
            job.finalize();
            if (me == 0)
                for (const auto call : {0, 1})
                    expect_parts(error_text_of([&] {
                                     if (call == 0) polled->test();
                                     unused->sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
                                 }),
                                 {call == 0 ? "PE 0 has finalized its job, and a collective was not done: "
                                              "sum_reduce, non-blocking call 1 of the world team"
                                            : "The job of this team has been finalized",
                                  call == 0 ? "Wait for requests before finalize." : "starts no reduce"});
            EXPECT_TRUE(polled->test()) << "the error was reported";
            polled->wait();
            polled.reset();
            unused.reset();
        },
        options);
}

}  // namespace
}  // namespace atl::testing
