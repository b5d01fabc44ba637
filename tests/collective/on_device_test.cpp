// The host's collectives on device memory, simulated by memory of the host: locations of arrays, reports of
// errors, and two teams at once.
#include "atoll/stream.hpp"
#include "gpu/heap/device_memory.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <cstring>
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

/// Element i of a PE is 1000 * pe + i. Elements are copied and compared as parts of this list of all numbers.
/// That spares a sanitizer the work for computed numbers and allocated pages.
const int* numbers() {
    static const std::vector<int> all = [] {
        std::vector<int> made(std::size_t{3} << 20);
        std::iota(made.begin(), made.end(), 0);
        return made;
    }();
    return all.data();
}
/// The elements of a PE, or those from `first`.
const int* values_at(int pe, std::size_t first = 0) {
    return numbers() + first + 1000 * static_cast<std::size_t>(pe);
}
std::vector<int> values_of(int pe, std::size_t n, std::size_t first = 0) {
    return {values_at(pe, first), values_at(pe, first) + n};
}
/// True if `n` elements are those of a PE from `first`.
bool holds(const int* found, std::size_t n, int pe, std::size_t first = 0) {
    return n == 0 || std::memcmp(found, values_at(pe, first), n * sizeof(int)) == 0;
}

void fill(int* to, const std::vector<int>& from) { std::copy(from.begin(), from.end(), to); }

/// alltoalls with a stride of two in dst and three in src.
void strided(const Team& world, int* dst, const int* src, std::size_t count, int me) {
    const auto n = static_cast<std::size_t>(world.n_pes());
    world.alltoalls(dst, src, 2, 3, count);
    bool right = true;
    for (std::size_t pe = 0; pe < n; ++pe)
        for (std::size_t i = 0; i < count; ++i) {
            const int* found = dst + (pe * count + i) * 2;
            right =
                right && found[1] == -1 &&
                found[0] == *values_at(static_cast<int>(pe), (static_cast<std::size_t>(me) * count + i) * 3);
        }
    EXPECT_TRUE(right) << count;
}

/// All collectives on arrays that `place(n)` makes, dst and src: small, and large enough for pieces.
template <class Place> void all_kinds(Job& job, std::size_t count, Place&& place) {
    const int pes = job.n_pes(), my_pe = job.my_pe(), root = pes - 1;
    const auto n = static_cast<std::size_t>(pes);
    const auto me = static_cast<std::size_t>(my_pe);
    const Team& world = job.world();
    int* dst = place(n * count);
    int* src = place(n * count);
    const auto fresh = [&] {
        job.world().barrier();
        std::memcpy(src, values_at(my_pe), n * count * sizeof(int));
        std::memset(dst, -1, n * count * sizeof(int));
        job.world().barrier();
    };
    const auto untouched = [&](std::size_t from, std::size_t to) {
        return from == to || (dst[from] == -1 &&
                              std::memcmp(dst + from, dst + from + 1, (to - from - 1) * sizeof(int)) == 0);
    };
    using In = std::span<const int>;
    /// dst holds a block of each PE, from element `first` of that PE.
    const auto holds_blocks = [&](std::size_t first) {
        for (std::size_t pe = 0; pe < n; ++pe)
            if (!holds(dst + pe * count, count, static_cast<int>(pe), first)) return false;
        return true;
    };
    /// dst holds the sums over the first `members` PEs of the block of this index.
    const auto holds_sums = [&](std::size_t index, std::size_t members) {
        const auto all = static_cast<int>(members);
        for (std::size_t i = 0; i < count; ++i)
            if (dst[i] != all * static_cast<int>(index * count + i) + 500 * all * (all - 1)) return false;
        return true;
    };
    fresh();
    world.broadcast(std::span(dst, count), In(src, count), root);
    EXPECT_TRUE(holds(dst, count, root));
    fresh();
    world.fcollect(std::span(dst, n * count), In(src, count));
    EXPECT_TRUE(holds_blocks(0));
    fresh();
    world.alltoall(std::span(dst, n * count), In(src, n * count));
    EXPECT_TRUE(holds_blocks(me * count));
    fresh();
    world.gather(std::span(dst, n * count), In(src, count), root);
    EXPECT_TRUE(my_pe == root ? holds_blocks(0) : untouched(0, n * count));
    fresh();
    world.scatter(std::span(dst, count), In(src, n * count), root);
    EXPECT_TRUE(holds(dst, count, root, me * count));
    fresh();
    world.sum_reduce(std::span(dst, count), In(src, count));
    EXPECT_TRUE(holds_sums(0, n));
    fresh();
    world.reduce_scatter(std::span(dst, count), In(src, n * count), ReduceOp::sum);
    EXPECT_TRUE(holds_sums(me, n));
    fresh();
    world.reduce_to(std::span(dst, count), In(src, count), ReduceOp::sum, root);
    EXPECT_TRUE(my_pe == root ? holds_sums(0, n) : untouched(0, count));
    fresh();
    world.sum_inscan(std::span(dst, count), In(src, count));
    EXPECT_TRUE(holds_sums(0, me + 1));
    fresh();
    world.sum_exscan(std::span(dst, count), In(src, count));
    EXPECT_TRUE(holds_sums(0, me));
    fresh();
    const auto size_of = [&](std::size_t pe) { return pe % 3 == 1 ? 0 : count - pe * count / 7; };
    std::size_t total = 0;
    for (std::size_t pe = 0; pe < n; ++pe) total += size_of(pe);
    EXPECT_EQ(world.collect(std::span(dst, n * count), In(src, size_of(me))), total);
    for (std::size_t pe = 0, at = 0; pe < n; at += size_of(pe), ++pe)
        EXPECT_TRUE(holds(dst + at, size_of(pe), static_cast<int>(pe)));
    EXPECT_TRUE(untouched(total, n * count));
    fresh();
    strided(world, dst, src, count / 3, my_pe);
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
        for (const std::size_t count : counts) {
            const std::size_t size = static_cast<std::size_t>(job.n_pes()) * count;
            int *on_gpu[2], *on_host[2];  // 0: dst, 1: src
            std::vector<int> ordinary[2];
            for (int i = 0; i < 2; ++i) {
                on_gpu[i] = gpu.ints(size);
                on_host[i] = static_cast<int*>(job.malloc(size * sizeof(int)));
                ordinary[i].resize(size);
            }
            for (int which = 0; which < 4; ++which) {
                for (const std::vector<int>& one : ordinary)
                    which == 2 ? gpu.fake->let_reach(one.data()) : gpu.fake->let_not_reach(one.data());
                int turn = 0;
                all_kinds(job, count, [&](std::size_t) {
                    const int i = turn++;
                    const bool device = (i + which + job.my_pe()) % 2 == 0;
                    return device ? on_gpu[i] : which == 0 ? on_host[i] : ordinary[i].data();
                });
            }
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

TEST_P(OnFakeGpus, AWrongArgumentOfOnePeFailsOnAll) {
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
            auto* theirs = static_cast<int*>(const_cast<void*>(static_cast<const void*>(
                job.state().devices().memory()->at(x, (job.my_pe() + 1) % job.n_pes()))));
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
                EXPECT_TRUE(std::vector<int>(dst, dst + count) ==
                            values_of(root, count, static_cast<std::size_t>(job.my_pe()) * count));
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

TEST_P(OnFakeGpus, OnAStreamEveryPeHasADifferentSize) {
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
