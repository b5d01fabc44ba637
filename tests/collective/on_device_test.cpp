// The host's collectives on device memory, simulated by memory of the host: locations of arrays, reports of
// errors, and two teams at once.
#include "atoll/stream.hpp"
#include "gpu/heap/device_memory.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <numeric>
#include <thread>

namespace atl::testing {
namespace {

/// One PE with a fake GPU.
class Gpu {
  public:
    explicit Gpu(Job& job) : job_(job) {
        job.state().devices().open_by([this](const gpu::DeviceChoice&) {
            auto opened = std::make_unique<FakeHeap>(Faults{}, std::size_t{512} << 20);
            fake = opened.get();
            return opened;
        });
        job.free(job.malloc(1, atl::Memory::device));
    }
    int* ints(std::size_t n) const {
        return static_cast<int*>(job_.calloc(n, sizeof(int), atl::Memory::device));
    }
    FakeHeap* fake = nullptr;

  private:
    Job& job_;
};

/// Kernels and streams reach PEs by the window only.
class OnFakeGpus : public ::testing::TestWithParam<int> {
  protected:
    static void run(const std::function<void(Job&)>& body) {
        ThreadJobOptions options;
        options.heap_bytes = std::size_t{64} << 20;
        run_pes(GetParam(), body, options);
    }
};

/// The elements of a PE, or `n` of them from `first`.
std::vector<int> values_of(int pe, std::size_t n, std::size_t first = 0) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), static_cast<int>(first) + 1000 * pe);
    return v;
}

void fill(int* to, const std::vector<int>& from) { std::copy(from.begin(), from.end(), to); }

/// alltoalls with a stride of two in dst and three in src.
void strided(const Team& world, int* dst, const int* src, std::size_t count, int me) {
    const auto n = static_cast<std::size_t>(world.n_pes());
    world.alltoalls(dst, src, 2, 3, count);
    std::vector<int> wanted(n * count * 2, -1);
    for (std::size_t pe = 0; pe < n; ++pe) {
        const std::vector<int> theirs = values_of(static_cast<int>(pe), n * count * 3);
        for (std::size_t i = 0; i < count; ++i)
            wanted[(pe * count + i) * 2] = theirs[(static_cast<std::size_t>(me) * count + i) * 3];
    }
    EXPECT_TRUE(std::vector<int>(dst, dst + wanted.size()) == wanted) << count;
}

/// All collectives on arrays that `place(n)` makes, dst and src: small, and large enough for pieces.
template <class Place> void all_kinds(Job& job, std::size_t count, Place&& place) {
    const auto n = static_cast<std::size_t>(job.n_pes());
    const auto me = static_cast<std::size_t>(job.my_pe());
    const Team& world = job.world();
    int* dst = place(n * count);
    int* src = place(n * count);
    const auto fresh = [&] {
        job.world().barrier();
        fill(src, values_of(job.my_pe(), n * count));
        fill(dst, std::vector<int>(n * count, -1));
        job.world().barrier();
    };
    using In = std::span<const int>;
    const auto got = [&](std::size_t size) { return std::vector<int>(dst, dst + size); };
    const auto blocks = [&](auto&& block) {
        std::vector<int> whole;
        for (std::size_t pe = 0; pe < n; ++pe) {
            const std::vector<int> one = block(pe);
            whole.insert(whole.end(), one.begin(), one.end());
        }
        return whole;
    };
    const auto part = [&](std::size_t pe, std::size_t index) {
        return values_of(static_cast<int>(pe), count, index * count);
    };
    const auto sum_of = [&](std::size_t index, std::size_t members) {
        std::vector<int> total(count);
        for (std::size_t pe = 0; pe < members; ++pe) {
            const std::vector<int> one = part(pe, index);
            for (std::size_t i = 0; i < count; ++i) total[i] += one[i];
        }
        return total;
    };
    const auto sum = [&](std::size_t index) { return sum_of(index, n); };
    const int root = job.n_pes() - 1;
    fresh();
    world.broadcast(std::span(dst, count), In(src, count), root);
    EXPECT_EQ(got(count), part(n - 1, 0));
    fresh();
    world.fcollect(std::span(dst, n * count), In(src, count));
    EXPECT_EQ(got(n * count), blocks([&](std::size_t pe) { return part(pe, 0); }));
    fresh();
    world.alltoall(std::span(dst, n * count), In(src, n * count));
    EXPECT_EQ(got(n * count), blocks([&](std::size_t pe) { return part(pe, me); }));
    fresh();
    world.gather(std::span(dst, n * count), In(src, count), root);
    if (job.my_pe() == root) {
        EXPECT_EQ(got(n * count), blocks([&](std::size_t pe) { return part(pe, 0); }));
    }
    fresh();
    world.scatter(std::span(dst, count), In(src, n * count), root);
    EXPECT_EQ(got(count), part(n - 1, me));
    fresh();
    world.sum_reduce(std::span(dst, count), In(src, count));
    EXPECT_EQ(got(count), sum(0));
    fresh();
    world.reduce_scatter(std::span(dst, count), In(src, n * count), ReduceOp::sum);
    EXPECT_EQ(got(count), sum(me));
    fresh();
    world.reduce_to(std::span(dst, count), In(src, count), ReduceOp::sum, root);
    EXPECT_EQ(got(count), job.my_pe() == root ? sum(0) : std::vector<int>(count, -1));
    fresh();
    world.sum_inscan(std::span(dst, count), In(src, count));
    EXPECT_EQ(got(count), sum_of(0, me + 1));
    fresh();
    world.sum_exscan(std::span(dst, count), In(src, count));
    EXPECT_EQ(got(count), sum_of(0, me));
    fresh();
    std::size_t total = 0;
    for (std::size_t pe = 0; pe < n; ++pe) total += pe % 3 == 1 ? 0 : count - pe * count / 7;
    const auto some = [&](std::size_t pe) {
        return values_of(static_cast<int>(pe), pe % 3 == 1 ? 0 : count - pe * count / 7);
    };
    EXPECT_EQ(world.collect(std::span(dst, n * count), In(src, some(me).size())), total);
    EXPECT_EQ(got(total), blocks(some));
    EXPECT_TRUE(std::all_of(dst + total, dst + n * count, [](int left) { return left == -1; }));
    fresh();
    strided(world, dst, src, count / 3, job.my_pe());
    job.world().barrier();
}

constexpr std::size_t counts[] = {1, 5000, 100003};

TEST_P(OnFakeGpus, TheSameObjectsGoAtOnce) {
    run([](Job& job) {
        const Gpu gpu(job);
        for (const std::size_t count : counts)
            all_kinds(job, count, [&](std::size_t n) { return gpu.ints(n); });
        EXPECT_GE(gpu.fake->at_once(), 7);
    });
}

TEST_P(OnFakeGpus, OtherObjectsOnOtherPes) {
    run([](Job& job) {
        const Gpu gpu(job);
        for (const std::size_t count : counts)
            all_kinds(job, count, [&](std::size_t n) { return gpu.ints(n + 64) + 3 * job.my_pe(); });
        if (job.n_pes() > 1) {
            EXPECT_EQ(gpu.fake->at_once(), 1 + 3)
                << "scatter, of which only the root's array matters, and collect";
        }
    });
}

TEST_P(OnFakeGpus, MixturesOfMemory) {
    run([](Job& job) {
        const Gpu gpu(job);
        std::vector<std::vector<int>> ordinary;
        for (const std::size_t count : counts)
            for (int which = 0; which < 4; ++which) {
                int turn = 0;  // 0: dst, 1: src
                all_kinds(job, count, [&](std::size_t n) {
                    int* on_gpu = gpu.ints(n);
                    int* on_host = static_cast<int*>(job.malloc(n * sizeof(int)));
                    ordinary.emplace_back(n);
                    const bool device = (turn++ + which + job.my_pe()) % 2 == 0;
                    if (device) return on_gpu;
                    if (which == 2) gpu.fake->let_reach(ordinary.back().data());
                    return which == 0 ? on_host : ordinary.back().data();
                });
            }
    });
}

TEST_P(OnFakeGpus, OnlyTheRootsArraysAreLookedAt) {
    run([](Job& job) {
        const Gpu gpu(job);
        const auto n = static_cast<std::size_t>(job.n_pes());
        for (const std::size_t count : {std::size_t{7}, std::size_t{100000}}) {
            int* all = gpu.ints(n * count);
            int* one = gpu.ints(count);
            fill(one, values_of(job.my_pe(), count));
            job.world().barrier();
            const bool root = job.my_pe() == 0;
            job.world().gather(root ? std::span(all, n * count) : std::span<int>(),
                               std::span<const int>(one, count), 0);
            if (root) {
                EXPECT_EQ(all[n * count - 1], 1000 * (job.n_pes() - 1) + static_cast<int>(count) - 1);
            }
            fill(one, std::vector<int>(count, 0));
            job.world().scatter(std::span(one, count),
                                root ? std::span<const int>(all, n * count) : std::span<const int>(), 0);
            EXPECT_EQ(one[count - 1], 1000 * job.my_pe() + static_cast<int>(count) - 1);
            job.world().broadcast(std::span(one, count),
                                  root ? std::span<const int>(all, count) : std::span<const int>(), 0);
            EXPECT_EQ(one[count - 1], static_cast<int>(count) - 1);
            job.world().barrier();
        }
    });
}

TEST_P(OnFakeGpus, WhatOnePassesWrongAllHear) {
    run([](Job& job) {
        const Gpu gpu(job);
        int* x = gpu.ints(64);
        int* gone = gpu.ints(64);
        job.free(gone);
        const bool mine = job.my_pe() == job.n_pes() - 1;
        const std::string last = "PE " + std::to_string(job.n_pes() - 1);
        const auto reduce = [&](int* dst, const int* src) {
            job.world().sum_reduce(std::span(dst, 32), std::span<const int>(src, 32));
        };
        expect_error(ErrorCode::use_after_free, {mine ? "freed" : last}, [&] { reduce(x, mine ? gone : x); });
        expect_error(ErrorCode::invalid_argument, {mine ? "overlap" : last},
                     [&] { reduce(x, mine ? x + 1 : x); });
        expect_error(ErrorCode::invalid_argument, {mine ? "src is null" : last},
                     [&] { reduce(x, mine ? nullptr : x); });
        if (job.n_pes() > 1) {
            auto* theirs = static_cast<int*>(const_cast<void*>(
                static_cast<const void*>(job.state().device()->at(x, (job.my_pe() + 1) % job.n_pes()))));
            expect_error(ErrorCode::not_symmetric, {mine ? "another PE's slot" : last},
                         [&] { reduce(x, mine ? theirs : x); });
            std::vector<int> host(64);
            expect_error(ErrorCode::collective_mismatch, {"passed device memory"},
                         [&] { mine ? reduce(host.data(), host.data() + 32) : reduce(x, x); });
        }
        fill(x, std::vector<int>(64, 1));
        reduce(x, x);
        EXPECT_EQ(x[31], job.n_pes());
        job.world().barrier();
    });
}

/// On a stream too, the arrays of other PEs need not even be symmetric.
TEST_P(OnFakeGpus, OnAStreamOnlyTheRootsArraysAreLookedAt) {
    run([](Job& job) {
        const Gpu gpu(job);
        const auto n = static_cast<std::size_t>(job.n_pes());
        const StreamTeam team(job.world(), {gpu.fake->make_stream()});
        for (const std::size_t count : {std::size_t{3}, std::size_t{300000}})
            for (int root = 0; root < job.n_pes(); ++root) {
                const bool mine = job.my_pe() == root;
                int* dst = gpu.ints(count);
                int* src = gpu.ints(n * count);
                fill(src, values_of(job.my_pe(), n * count));
                job.world().barrier();
                const std::span<const int> none, all(src, n * count);
                team.broadcast(std::span(dst, count), mine ? all.first(count) : none, root);
                job.world().barrier();
                EXPECT_EQ(std::vector<int>(dst, dst + count), values_of(root, count));
                team.scatter(std::span(dst, count), mine ? all : none, root);
                job.world().barrier();
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_EQ(dst[i], src[i] - 1000 * (job.my_pe() - root) +
                                          static_cast<int>(static_cast<std::size_t>(job.my_pe()) * count));
                if (mine) fill(src, std::vector<int>(n * count));
                job.world().barrier();
                team.gather(mine ? std::span(src, n * count) : std::span<int>(),
                            std::span<const int>(dst, count), root);
                job.world().barrier();
                if (mine) {
                    EXPECT_TRUE(std::vector<int>(src, src + n * count) == values_of(root, n * count));
                    expect_error(ErrorCode::shape_mismatch, {"broadcast", "src"},
                                 [&] { team.broadcast(std::span(dst, count), none, root); });
                }
                job.world().barrier();
                job.free(src);
                job.free(dst);
            }
    });
}

TEST_P(OnFakeGpus, InPlaceAndForOneRoot) {
    run([](Job& job) {
        const Gpu gpu(job);
        const int me = job.my_pe(), n = job.n_pes();
        for (const std::size_t count : counts)
            for (int which = 0; which < 2; ++which) {
                // The second time, offsets differ between PEs, so the data are sent in pieces.
                int* x = gpu.ints(count + 64) + (which == 0 ? 0 : 3 * me);
                fill(x, std::vector<int>(count, me + 1));
                job.world().barrier();
                const std::span<int> all(x, count);
                job.world().sum_inscan(all, std::span<const int>(all));
                EXPECT_EQ(x[count - 1], (me + 1) * (me + 2) / 2);
                fill(x, std::vector<int>(count, me + 1));
                job.world().barrier();
                job.world().sum_exscan(all, std::span<const int>(all));
                EXPECT_EQ(x[count - 1], me * (me + 1) / 2);
                fill(x, std::vector<int>(count, me + 1));
                job.world().barrier();
                job.world().reduce_to(me == 0 ? all : std::span<int>(), std::span<const int>(all),
                                      ReduceOp::sum, 0);
                EXPECT_EQ(x[count - 1], me == 0 ? n * (n + 1) / 2 : me + 1);
                job.world().barrier();
            }
    });
}

TEST_P(OnFakeGpus, OnAStreamEverybodyHasAnotherSize) {
    run([](Job& job) {
        const Gpu gpu(job);
        const int me = job.my_pe(), n = job.n_pes();
        const StreamTeam team(job.world(), {gpu.fake->make_stream()});
        for (const std::size_t most : {std::size_t{5}, std::size_t{100000}}) {
            const auto size = [&](int pe) { return most - static_cast<std::size_t>(pe); };
            std::size_t total = 0;
            for (int pe = 0; pe < n; ++pe) total += size(pe);
            int* dst = gpu.ints(total);
            int* src = gpu.ints(most + 8) + me;
            fill(src, values_of(me, size(me)));
            job.world().barrier();
            team.collect(std::span(dst, total), std::span<const int>(src, size(me)));
            job.world().barrier();
            std::vector<int> wanted;
            for (int pe = 0; pe < n; ++pe) {
                const std::vector<int> theirs = values_of(pe, size(pe));
                wanted.insert(wanted.end(), theirs.begin(), theirs.end());
            }
            EXPECT_TRUE(std::vector<int>(dst, dst + total) == wanted) << most;
            job.world().barrier();
            expect_error(ErrorCode::shape_mismatch, {"dst of PE 0", "sent"}, [&] {
                job.world().collect(std::span(dst, me == 0 ? total - 1 : total),
                                    std::span<const int>(src, size(me)));
            });
            EXPECT_EQ(job.world().collect(std::span(dst, total), std::span<const int>(src, std::size_t{0})),
                      0u);
        }
        int* x = gpu.ints(8);
        expect_error(ErrorCode::invalid_argument, {"exclusive"},
                     [&] { team.scan_erased(x, x, 1, DType::int32, ReduceOp::max, false); });
        expect_error(ErrorCode::invalid_argument, {"avg"},
                     [&] { team.scan_erased(x, x, 1, DType::float32, ReduceOp::avg, true); });
        expect_error(ErrorCode::pe, {}, [&] {
            team.reduce_to(std::span(x, 1), std::span<const int>(x + 1, 1), ReduceOp::sum, n);
        });
        expect_error(ErrorCode::not_symmetric, {}, [&] { team.alltoalls(x, x + 8, 1000, 1, 4000); });
        job.world().barrier();
    });
}

/// With one stream for both, each of two PEs would wait in a collective that the other has not begun.
TEST_P(OnFakeGpus, TwoThreadsInTwoTeams) {
    run([](Job& job) {
        const Gpu gpu(job);
        Team teams[2] = {job.world().split(0), job.world().split(0)};
        int* x[2] = {gpu.ints(64), gpu.ints(64)};
        job.world().barrier();
        const auto rounds = [&](int which) {
            for (int i = 0; i < 200; ++i)
                teams[which].broadcast(std::span(x[which], 16), std::span<const int>(x[which], 16),
                                       i % job.n_pes());
        };
        std::thread other([&] { rounds(1); });
        rounds(0);
        other.join();
        for (Team& team : teams) team.destroy();
        Team again = job.world().split(0);
        again.broadcast(std::span(x[0], 16), std::span<const int>(x[0], 16), 0);
        again.destroy();
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, OnFakeGpus, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace atl::testing
