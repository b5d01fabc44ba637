// Members of a team call collectives differently: all get an error, nothing is written past an array, and
// legal calls succeed.
#include "support.hpp"

#include "common/machine.hpp"
#include "common/wait_hooks.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

namespace atl::testing {
namespace {

/// An array between two guard areas, which must not be written.
class Walled {
  public:
    explicit Walled(std::size_t most) : most_(most), all_(new char[most + 2 * wall]) {}
    /// From now on the block has `bytes`; all memory before and after it is wall.
    void resize(std::size_t bytes) {
        bytes_ = bytes;
        std::memset(all_.get(), mark, wall);
        std::memset(data() + bytes, mark, bytes_behind());
    }
    char* data() const { return all_.get() + wall; }
    std::size_t bytes() const { return bytes_; }
    bool intact() const { return is_wall(all_.get(), wall) && is_wall(data() + bytes_, bytes_behind()); }

  private:
    static constexpr std::size_t wall = 1 << 14;
    static constexpr char mark = 0x5a;
    static bool is_wall(const char* begin, std::size_t bytes) {
        return begin[0] == mark && std::memcmp(begin, begin + 1, bytes - 1) == 0;
    }
    std::size_t bytes_behind() const { return most_ + wall - bytes_; }
    std::size_t most_, bytes_ = 0;
    std::unique_ptr<char[]> all_;
};

/// A call of a collective with blocks of `bytes`; `dst` and `src` have room for n_pes blocks.
struct Kind {
    const char* name;
    void (*call)(const Team& team, char* dst, char* src, std::size_t bytes);
};

const std::vector<Kind> kinds = {
    {"broadcast", [](const Team& team, char* dst, char* src,
                     std::size_t bytes) { team.broadcast_bytes(dst, bytes, src, bytes, 0); }},
    {"fcollect",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.fcollect_bytes(dst, bytes * static_cast<std::size_t>(team.n_pes()), src, bytes);
     }},
    {"alltoall",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         const std::size_t all = bytes * static_cast<std::size_t>(team.n_pes());
         team.alltoall_bytes(dst, all, src, all);
     }},
    {"alltoalls", [](const Team& team, char* dst, char* src,
                     std::size_t bytes) { team.alltoalls_bytes(dst, src, 1, 1, bytes / 8, 8); }},
    {"gather",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.gather_bytes(dst, bytes * static_cast<std::size_t>(team.n_pes()), src, bytes, 0);
     }},
    {"scatter",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.scatter_bytes(dst, bytes, src, bytes * static_cast<std::size_t>(team.n_pes()), 0);
     }},
    {"reduce",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.reduce_erased(dst, src, bytes / 8, DType::int64, ReduceOp::sum);
     }},
    {"reduce_to",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.reduce_to_erased(dst, bytes / 8, src, bytes / 8, DType::int64, ReduceOp::sum, 0);
     }},
    {"reduce_scatter",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         const std::size_t count = bytes / 8;
         team.reduce_scatter_erased(dst, count, src, count * static_cast<std::size_t>(team.n_pes()),
                                    DType::int64, ReduceOp::sum);
     }},
    {"inscan",
     [](const Team& team, char* dst, char* src, std::size_t bytes) {
         team.scan_erased(dst, src, bytes / 8, DType::int64, ReduceOp::sum, true);
     }},
};

class Mismatch : public ::testing::TestWithParam<Setup> {
  protected:
    void run(const std::function<void(Job&)>& body,
             common::CheckLevel check = common::CheckLevel::args) const {
        if (GetParam().n_pes == 0) return body(current_job());
        run_pes(GetParam().n_pes, body, checked_options(check, GetParam().hosts));
    }
    static int n_pes() { return GetParam().n_pes == 0 ? current_job().n_pes() : GetParam().n_pes; }
};

/// At every level of checks: the arguments of one PE must not lead another past its arrays.
TEST_P(Mismatch, SizesThatDifferReachPastNoArray) {
    if (n_pes() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    const auto body = [](Job& job, bool compared) {
        const auto n = static_cast<std::size_t>(job.n_pes());
        constexpr std::size_t largest = 300000;
        SymmetricArray<char> heap_dst(job, largest * n), heap_src(job, largest * n);
        Walled dst(largest * n), src(largest * n);
        for (const Kind& kind : kinds)
            for (const bool symmetric : {false, true})
                for (const auto& [small, large] :
                     {std::pair<std::size_t, std::size_t>{4096, 8192}, {8192, largest}}) {
                    SCOPED_TRACE(std::string(kind.name) + " of " + std::to_string(small) + " and " +
                                 std::to_string(large));
                    const std::size_t bytes = job.my_pe() == 0 ? small : large;
                    dst.resize(bytes * n);
                    src.resize(bytes * n);
                    const std::string said = mismatch_of([&] {
                        if (symmetric)
                            kind.call(job.world(), heap_dst.data(), heap_src.data(), bytes);
                        else
                            kind.call(job.world(), dst.data(), src.data(), bytes);
                    });
                    expect_parts(said, {kind.name});
                    if (compared) expect_parts(said, {"PE 0", "PE 1"});
                    EXPECT_TRUE(dst.intact());
                    EXPECT_TRUE(src.intact());
                }
        expect_team_works(job.world());
    };
    run([&](Job& job) { body(job, true); });
    if (GetParam().n_pes != 0) run([&](Job& job) { body(job, false); }, common::CheckLevel::none);
}

TEST_P(Mismatch, SizesOfAllKindsAreToldOnEveryPe) {
    if (n_pes() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    run([](Job& job) {
        const auto n = static_cast<std::size_t>(job.n_pes());
        std::vector<std::int64_t> to(2000 * n), from(2000 * n);
        // The last PE passes a larger size, which may need more cache lines or another algorithm.
        for (const auto& [usual, odd] :
             {std::pair<std::size_t, std::size_t>{8, 16}, {8, 64}, {200, 208}, {1600, 9600}})
            for (const Kind& kind : kinds) {
                SCOPED_TRACE(std::string(kind.name) + " of " + std::to_string(usual));
                const bool is_odd = job.my_pe() == job.n_pes() - 1;
                Team team = job.world().split(0);
                const std::string said = mismatch_of([&] {
                    kind.call(team, reinterpret_cast<char*>(to.data()), reinterpret_cast<char*>(from.data()),
                              is_odd ? odd : usual);
                });
                expect_parts(said, {"PE 0 called ", std::string(kind.name) + "(",
                                    "PE " + std::to_string(job.n_pes() - 1) + " called ", "they differ in"});
                EXPECT_FALSE(team.state().meetings().broken());
                expect_team_works(team);
                team.destroy();
            }
    });
}

/// Two members exchange up to 8 bytes in another line than larger data. Old contents of either line must not
/// be taken for this call's.
TEST(MismatchUnchecked, OfASmallAndALargeCallFindsNothingOld) {
    if (common::usable_cpus() < 2) GTEST_SKIP() << "two PEs of one core meet by other lines";
    ThreadJobOptions options;
    options.check = common::CheckLevel::none;
    const auto body = [](Job& job) {
        constexpr std::size_t large = 2048;
        SymmetricArray<std::int64_t> dst(job, large), src(job, large);
        const auto sum = [&](std::size_t count) {
            job.world().sum_reduce(dst.span().first(count), src.span().first(count));
        };
        for (const int small_first : {0, 1}) {
            for (int k = 0; k < 4; ++k) sum(large);
            for (int k = 0; k < small_first; ++k) sum(1);
            if (job.my_pe() == 0)
                sum(1);
            else
                expect_parts(mismatch_of([&] { sum(large); }), {"reduce(bytes="});
            expect_team_works(job.world());
        }
    };
    run_pes(2, body, options);
}

TEST_P(Mismatch, OtherArgumentsMustBeEqual) {
    if (n_pes() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    run([](Job& job) {
        const Team& team = job.world();
        const bool odd = job.my_pe() == 1;
        const auto n = static_cast<std::size_t>(job.n_pes());
        std::vector<double> a(64 * n), b(64 * n);
        const auto differ = [&](const std::vector<std::string>& parts, const std::function<void()>& call) {
            std::vector<std::string> all = {"PE 0 called ", "PE 1 called "};
            all.insert(all.end(), parts.begin(), parts.end());
            expect_parts(mismatch_of(call), all);
            expect_team_works(team);
        };
        const auto dst = std::span(a).first(64), src = std::span(b).first(64);
        differ({"they differ in root;"}, [&] { team.broadcast(dst, src, odd ? 1 : 0); });
        differ({"they differ in root;"}, [&] { team.reduce_to(dst, src, ReduceOp::sum, odd ? 1 : 0); });
        differ({"sum_reduce(", "max_reduce(", "they differ in op;"},
               [&] { team.reduce(dst, src, odd ? ReduceOp::max : ReduceOp::sum); });
        differ({"dtype=float64", "dtype=int64", "they differ in dtype;"}, [&] {
            team.reduce_erased(a.data(), b.data(), 64, odd ? DType::int64 : DType::float64, ReduceOp::sum);
        });
        const auto part = src.first(odd ? 2 : 1);
        differ({"differ in src_bytes", "same arguments. collect takes parts of different sizes."},
               [&] { team.gather(std::span(a).first(n * part.size()), part, 0); });
        differ(
            {"differ in dst_bytes", "same arguments. For parts of different sizes, put each at its offset."},
            [&] { team.scatter(dst.first(odd ? 2 : 1), std::span(b).first(n), 0); });
        differ({"they differ in src_stride;"},
               [&] { team.alltoalls(a.data(), b.data(), 1, odd ? 2 : 1, 2); });
        differ({"inscan", "exscan"}, [&] { odd ? team.sum_inscan(dst, src) : team.sum_exscan(dst, src); });
        differ({"reduce(", "broadcast("},
               [&] { odd ? team.sum_reduce(dst, src) : team.broadcast(dst, src, 0); });
        differ({"called sync()", "called barrier()"}, [&] { odd ? team.sync() : team.barrier(); });
    });
}

/// These calls meet by different words and would wait forever. The team is unusable afterwards; others work.
TEST_P(Mismatch, KindsThatMeetByOtherWords) {
    if (n_pes() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    run([](Job& job) {
        const bool odd = job.my_pe() == 1;
        std::vector<std::int64_t> a(8), b(8);
        const auto dst = std::span(a).first(1), src = std::span(b).first(1);
        const auto differ = [&](const std::vector<std::string>& parts,
                                const std::function<void(const Team&)>& call) {
            const Team team = job.world().split(0);
            expect_parts(mismatch_of([&] { call(team); }), parts);
            try {
                expect_team_works(team);
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::collective_mismatch) << error.what();
            }
            expect_team_works(job.world());
        };
        differ({"barrier()", "reduce("}, [&](const Team& team) {
            if (odd)
                team.barrier();
            else
                team.sum_reduce(dst, src);
        });
        differ({"sync()", "split("}, [&](const Team& team) {
            if (odd)
                team.sync();
            else
                static_cast<void>(team.split(0));
        });
    });
}

TEST_P(Mismatch, SomeArgumentsMayDiffer) {
    run([](Job& job) {
        const Team& team = job.world();
        const auto n = static_cast<std::size_t>(job.n_pes());
        const bool is_root = job.my_pe() == 0;
        std::vector<std::int64_t> all(64 * n), one(64);
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
            const std::size_t bytes = 8 * count;
            // Null is legal if only the root's array is used.
            team.broadcast_bytes(one.data(), bytes, is_root ? one.data() : nullptr, is_root ? bytes : 0, 0);
            team.gather_bytes(is_root ? all.data() : nullptr, is_root ? bytes * n : 0, one.data(), bytes, 0);
            team.scatter_bytes(one.data(), bytes, is_root ? all.data() : nullptr, is_root ? bytes * n : 0, 0);
            team.reduce_to_erased(is_root ? all.data() : nullptr, is_root ? count : 0, one.data(), count,
                                  DType::int64, ReduceOp::sum, 0);
            // Elements of one size may be moved by different types.
            if (is_root)
                team.fcollect_bytes(all.data(), bytes * n, one.data(), bytes);
            else
                team.fcollect(std::span(reinterpret_cast<double*>(all.data()), count * n),
                              std::span(reinterpret_cast<const double*>(one.data()), count));
            // Sizes of collect, including 0.
            const std::size_t mine = static_cast<std::size_t>(job.my_pe()) % 3 * count;
            team.collect_bytes(all.data(), 8 * all.size(), one.data(), std::min<std::size_t>(mine, 64) * 8);
        }
        team.fcollect_bytes(nullptr, 0, nullptr, 0);
        team.reduce_erased(nullptr, nullptr, 0, DType::float32, ReduceOp::max);
        expect_team_works(team);
        // A call that fails on this PE alone leaves no trace. At `all`, members compare calls before they
        // check arguments, so there it is a call that the others do not make.
        if (is_root && !job.world().state().meetings().checks_all()) {
            EXPECT_THROW(team.broadcast_bytes(one.data(), 8, one.data(), 8, 1 << 20), Error);
            EXPECT_THROW(team.fcollect_bytes(all.data(), 1, one.data(), 8), Error);
        }
        team.barrier();
        expect_team_works(team);
    });
}

/// Only members of a sub-team take part in its calls.
TEST_P(Mismatch, TeamsDoNotMixWithOneAnother) {
    run([](Job& job) {
        const Team half = job.world().split(job.my_pe() % 2);
        const std::vector<std::int64_t> one(8, 1);
        std::vector<std::int64_t> sum(8);
        for (int round = 0; round < 50; ++round) {
            if (job.my_pe() % 2 == 0)
                half.sum_reduce(std::span(sum), one);
            else
                half.barrier();
            job.world().sync();
        }
    });
}

TEST_P(Mismatch, NoneComparesNothing) {
    if (n_pes() == 1 || GetParam().n_pes == 0) GTEST_SKIP() << "needs several PEs and a job of its own";
    run(
        [](Job& job) {
            const std::int64_t one = 1;
            std::int64_t result = 0;
            job.world().reduce_erased(&result, &one, 1, DType::int64,
                                      job.my_pe() == 0 ? ReduceOp::sum : ReduceOp::max);
            EXPECT_EQ(result, job.my_pe() == 0 ? job.n_pes() : 1);
        },
        common::CheckLevel::none);
}

/// True in a thread whose waits are to end as by Ctrl-C.
thread_local bool gives_up = false;

TEST(MembersOfATeam, HearThatAMemberFailed) {
    common::set_wait_hooks({.enter = [] { return static_cast<void*>(nullptr); },
                            .leave = [](void*) {},
                            .interrupted = [](void*) { return gives_up; }});
    for (const int n : {2, 3, 4, 7})
        for (const auto level :
             {common::CheckLevel::none, common::CheckLevel::basic, common::CheckLevel::all})
            run_pes(
                n,
                [](Job& job) {
                    const Team team = job.world().split(0);
                    const auto error_of_sync = [&] {
                        try {
                            for (;;) team.sync();
                        } catch (const Error& error) {
                            return std::pair(error.code(), std::string(error.what()));
                        }
                    };
                    if (job.my_pe() == 0) {
                        gives_up = true;
                        EXPECT_EQ(error_of_sync().first, ErrorCode::interrupted);
                        gives_up = false;
                        job.world().barrier();
                    } else {
                        job.world().barrier();
                        const auto [code, text] = error_of_sync();
                        EXPECT_EQ(code, ErrorCode::collective_mismatch) << text;
                        expect_parts(
                            text, {"cannot end: an earlier collective of this team ended by an error on PE"});
                    }
                    expect_team_works(job.world());
                },
                checked_options(level));
    common::set_wait_hooks({});
}

TEST_P(Mismatch, TwoThreadsInOneTeamAtOnce) {
    if (n_pes() == 1) GTEST_SKIP() << "one PE waits for nobody";
    run([](Job& job) {
        const Team team = job.world().split(0);
        if (job.my_pe() == 0) {
            // The others arrive after one thread has been refused, so the other one is in its call then.
            std::promise<std::string> refused;
            const auto meet = [&] {
                try {
                    team.barrier();
                } catch (const Error& error) {
                    refused.set_value(error.what());
                }
            };
            std::thread first(meet), second(meet);
            expect_parts(refused.get_future().get(), {"Two threads of PE 0", "barrier", "separate team"});
            job.world().barrier();
            first.join();
            second.join();
        } else {
            job.world().barrier();
            team.barrier();
        }
        expect_team_works(team);
    });
}

/// A plain load and store find a thread that is in a call already, also at `basic`.
TEST_P(Mismatch, AThreadThatWaitsInACallKeepsOthersOut) {
    if (n_pes() == 1 || GetParam().n_pes == 0 || *GetParam().hosts != 0)
        GTEST_SKIP() << "needs several PEs of one host and a separate job";
    for (const auto level : {common::CheckLevel::basic, common::CheckLevel::args})
        run(
            [](Job& job) {
                const Team team = job.world().split(0);
                std::vector<double> sum(3), ones(3, 1);
                const auto reduce = [&] { team.sum_reduce(std::span(sum), std::span<const double>(ones)); };
                reduce();  // makes the team's memory for collectives
                if (job.my_pe() == 0) {
                    core::TeamState& state = team.state();
                    const auto before = state.member(0).called.meeting.load();
                    std::thread first(reduce);
                    // Its call is published once it waits. The others come after the barrier below.
                    while (state.member(0).called.meeting.load() == before) std::this_thread::yield();
                    for (const auto& call :
                         std::initializer_list<std::function<void()>>{reduce, [&] { team.barrier(); }})
                        expect_parts(mismatch_of(call), {"Two threads of PE 0", "reduce and "});
                    job.world().barrier();
                    first.join();
                } else {
                    job.world().barrier();
                    reduce();
                }
                EXPECT_EQ(sum[2], job.n_pes());
                expect_team_works(team);
            },
            level);
}

std::vector<Setup> setups() {
    if (pes_are_processes) return {{0, "auto"}};
    std::vector<Setup> all;
    for (const int n : pe_counts) all.push_back({n, "auto"});
#if !defined(__SANITIZE_THREAD__)
    all.push_back({2, "loopback", "a,b"});
    all.push_back({4, "loopback", "a,b,b,b"});
    all.push_back({7, "loopback", "a,b,c,b,b"});
#endif
    return all;
}

INSTANTIATE_TEST_SUITE_P(Jobs, Mismatch, ::testing::ValuesIn(setups()), setup_name);

}  // namespace
}  // namespace atl::testing
