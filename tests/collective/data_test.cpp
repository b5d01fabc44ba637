// Collectives that move data, compared with the known contents of each PE: sizes × teams × kinds of memory ×
// algorithms. Calls follow each other immediately, so that a PE that runs ahead would be noticed.
#include "collective/table.hpp"
#include "support.hpp"

#include <algorithm>
#include <memory>

namespace atl::testing {
namespace {

using Byte = std::uint8_t;

const std::vector<std::size_t> small_sizes = {0, 1, 7, 8, 48, 49, 4096, 20000};
const std::vector<std::size_t> large_sizes = {100001, (1 << 20) + 3};

/// The largest size is tried on the world only, to save time.
std::vector<std::size_t> sizes_for(const NamedTeam& team) {
    std::vector<std::size_t> sizes = small_sizes;
    if (slowly_checked) return sizes;
    sizes.push_back(large_sizes[0]);
    if (team.name == "world") sizes.push_back(large_sizes[1]);
    return sizes;
}

using Body = std::function<void(Job&, const Team&, Memory, std::size_t, int round)>;

/// Collective over the world: arguments are symmetric arrays, so all PEs make them, even without being
/// members of the team.
void sweep(Job& job, const Body& body) {
    for (const Memory memory : memories)
        for (const NamedTeam& team : some_teams(job)) {
            // Rounds have equal numbers on all members, independently of their other teams.
            int round = 1000 * static_cast<int>(memory) + 100 * static_cast<int>(team.name.size());
            for (const std::size_t bytes : sizes_for(team)) {
                SCOPED_TRACE(team.name + ", " + std::to_string(bytes) + " bytes, memory " +
                             std::to_string(static_cast<int>(memory)));
                body(job, team.team, memory, bytes, ++round);
                if (::testing::Test::HasFailure()) return;
            }
        }
}

/// A local buffer in the heap or outside, cut from one symmetric array. If `mixed`, its offsets differ
/// between PEs.
class Pool {
  public:
    Pool(Job& job, std::size_t bytes)
        : heap_(job, bytes), ordinary_(new Byte[bytes]), bytes_(bytes), pe_(job.my_pe()) {}
    std::span<Byte> take(Memory memory, std::size_t bytes) {
        const bool symmetric = memory == Memory::heap || (memory == Memory::mixed && pe_ % 2 == 0);
        Byte* base = symmetric ? heap_.data() : ordinary_.get();
        const std::size_t shift = used_ + (memory == Memory::mixed ? static_cast<std::size_t>(pe_) * 16 : 0);
        used_ += (bytes + 127) / 64 * 64;
        EXPECT_LE(shift + bytes, bytes_);
        return {base + shift, bytes};
    }
    void reset() { used_ = 0; }

  private:
    SymmetricArray<Byte> heap_;
    std::unique_ptr<Byte[]> ordinary_;  // not cleared, since a sanitizer would record each byte
    std::size_t bytes_, used_ = 0;
    int pe_;
};

/// Bytes that repeat after a prime number of them. Each PE and round begins at another place.
class Pattern {
  public:
    Pattern() : bytes_(period) {
        std::uint64_t state = 1;
        for (Byte& byte : bytes_) byte = static_cast<Byte>((state = state * 6364136223846793005u + 1) >> 56);
    }
    /// Calls `part` with one part of the pattern after another: `count` bytes together, from byte `first` of
    /// a PE and round. Ends when a call returns false.
    template <class Part>
    void parts(int pe, int round, std::size_t first, std::size_t count, Part part) const {
        std::size_t at = (static_cast<std::size_t>(pe * 7919 + round * 101) + first) % period;
        for (std::size_t done = 0; done < count; at = 0) {
            const std::size_t here = std::min(count - done, period - at);
            if (!part(bytes_.data() + at, done, here)) return;
            done += here;
        }
    }

  private:
    static constexpr std::size_t period = 100003;
    std::vector<Byte> bytes_;
};
const Pattern pattern;

void fill_bytes(std::span<Byte> bytes, int pe, int round) {
    pattern.parts(pe, round, 0, bytes.size(), [&](const Byte* from, std::size_t at, std::size_t count) {
        std::memcpy(bytes.data() + at, from, count);
        return true;
    });
}
::testing::AssertionResult holds(std::span<const Byte> bytes, int pe, int round, std::size_t first = 0) {
    auto result = ::testing::AssertionSuccess();
    pattern.parts(pe, round, first, bytes.size(), [&](const Byte* from, std::size_t at, std::size_t count) {
        if (std::memcmp(bytes.data() + at, from, count) == 0) return true;
        const std::size_t wrong =
            at + static_cast<std::size_t>(std::mismatch(from, from + count, bytes.data() + at).first - from);
        result = ::testing::AssertionFailure()
                 << "byte " << wrong << " of " << bytes.size() << " is not PE " << pe << "'s";
        return false;
    });
    return result;
}

constexpr std::size_t pool_bytes = std::size_t{slowly_checked ? 2 : 24} << 20;

void run_sweep(const std::string& algorithms,
               const std::function<void(const Team&, Pool&, Memory, std::size_t, int)>& body) {
    run_everywhere(algorithms, [&](Job& job) {
        Pool pool(job, pool_bytes);
        sweep(job, [&](Job&, const Team& team, Memory memory, std::size_t bytes, int round) {
            pool.reset();
            body(team, pool, memory, bytes, round);
        });
        job.world().barrier();
    });
}

class Data : public ::testing::TestWithParam<const char*> {
  protected:
    /// Sweeps with the algorithm of this suite, if the collective has it.
    template <class Body> void sweep_with(collective::Collective collective, Body body) const {
        const std::string algorithm = GetParam();
        if (algorithm.empty()) return run_sweep("", body);
        for (int i = 0; i < common::algorithm_count; ++i) {
            const auto known = static_cast<collective::Algorithm>(i);
            if (common::has_algorithm(collective, known) && algorithm == name_of(known))
                return run_sweep(std::string(name_of(collective)) + "=" + algorithm, body);
        }
        GTEST_SKIP() << name_of(collective) << " does not go by " << algorithm;
    }
};

TEST_P(Data, Broadcast) {
    sweep_with(collective::Collective::broadcast,
               [](const Team& team, Pool& pool, Memory memory, std::size_t bytes, int round) {
                   const auto src = pool.take(memory, bytes);
                   const auto dst = pool.take(memory, bytes);
                   for (const int root : {0, team.n_pes() - 1, team.n_pes() / 2}) {
                       fill_bytes(src, team.world_pe(team.my_pe()), round + root);
                       team.broadcast(dst, src, root);
                       ASSERT_TRUE(holds(dst, team.world_pe(root), round + root));
                       // The source may be reused at once.
                       std::fill(src.begin(), src.end(), Byte{0xee});
                   }
               });
}

TEST_P(Data, Fcollect) {
    sweep_with(collective::Collective::fcollect,
               [](const Team& team, Pool& pool, Memory memory, std::size_t bytes, int round) {
                   const auto src = pool.take(memory, bytes);
                   const auto dst = pool.take(memory, bytes * static_cast<std::size_t>(team.n_pes()));
                   fill_bytes(src, team.world_pe(team.my_pe()), round);
                   team.fcollect(dst, src);
                   std::fill(src.begin(), src.end(), Byte{0xee});
                   for (int i = 0; i < team.n_pes(); ++i)
                       ASSERT_TRUE(holds(dst.subspan(static_cast<std::size_t>(i) * bytes, bytes),
                                         team.world_pe(i), round));
               });
}

TEST_P(Data, Collect) {
    sweep_with(collective::Collective::collect, [](const Team& team, Pool& pool, Memory memory,
                                                   std::size_t bytes, int round) {
        // The sizes differ between PEs; every third is 0.
        const auto size = [&](int i) {
            const int pe = team.world_pe(i);
            return pe % 3 == 2 ? 0 : bytes - bytes * static_cast<std::size_t>(pe) / 16;
        };
        std::size_t total = 0;
        for (int i = 0; i < team.n_pes(); ++i) total += size(i);
        const auto src = pool.take(memory, size(team.my_pe()));
        const auto dst = pool.take(memory, total + 5);
        fill_bytes(src, team.world_pe(team.my_pe()), round);
        ASSERT_EQ(team.collect(dst, src), total);
        std::fill(src.begin(), src.end(), Byte{0xee});
        for (int i = 0, at = 0; i < team.n_pes(); at += static_cast<int>(size(i)), ++i)
            ASSERT_TRUE(holds(dst.subspan(static_cast<std::size_t>(at), size(i)), team.world_pe(i), round));
    });
}

TEST_P(Data, Alltoall) {
    sweep_with(collective::Collective::alltoall, [](const Team& team, Pool& pool, Memory memory,
                                                    std::size_t bytes, int round) {
        const auto n = static_cast<std::size_t>(team.n_pes());
        const auto src = pool.take(memory, bytes * n);
        const auto dst = pool.take(memory, bytes * n);
        fill_bytes(src, team.world_pe(team.my_pe()), round);
        team.alltoall(dst, src);
        std::fill(src.begin(), src.end(), Byte{0xee});
        for (int i = 0; i < team.n_pes(); ++i)
            ASSERT_TRUE(holds(dst.subspan(static_cast<std::size_t>(i) * bytes, bytes), team.world_pe(i),
                              round, static_cast<std::size_t>(team.my_pe()) * bytes));
    });
}

TEST_P(Data, GatherAndScatter) {
    sweep_with(collective::Collective::gather, [](const Team& team, Pool& pool, Memory memory,
                                                  std::size_t bytes, int round) {
        const int root = round % team.n_pes();
        const bool is_root = team.my_pe() == root;
        const auto all = pool.take(memory, is_root ? bytes * static_cast<std::size_t>(team.n_pes()) : 0);
        const auto mine = pool.take(memory, bytes);
        fill_bytes(mine, team.world_pe(team.my_pe()), round);
        team.gather(all, mine, root);
        std::fill(mine.begin(), mine.end(), Byte{0xee});
        for (int i = 0; i < team.n_pes() && is_root; ++i)
            ASSERT_TRUE(
                holds(all.subspan(static_cast<std::size_t>(i) * bytes, bytes), team.world_pe(i), round));
        team.scatter(mine, all, root);
        std::fill(all.begin(), all.end(), Byte{0xdd});
        ASSERT_TRUE(holds(mine, team.world_pe(team.my_pe()), round));
    });
}

TEST_P(Data, Scatter) {
    sweep_with(collective::Collective::scatter, [](const Team& team, Pool& pool, Memory memory,
                                                   std::size_t bytes, int round) {
        const int root = (round + 1) % team.n_pes();
        const bool is_root = team.my_pe() == root;
        const auto all = pool.take(memory, is_root ? bytes * static_cast<std::size_t>(team.n_pes()) : 0);
        const auto mine = pool.take(memory, bytes);
        fill_bytes(all, team.world_pe(root), round);
        team.scatter(mine, all, root);
        std::fill(all.begin(), all.end(), Byte{0xdd});
        ASSERT_TRUE(holds(mine, team.world_pe(root), round, static_cast<std::size_t>(team.my_pe()) * bytes));
    });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Data, ::testing::Values("", "line", "staged", "pull", "both"),
                         [](const auto& info) {
                             return *info.param ? std::string(info.param) : std::string("by_table");
                         });

TEST(Alltoalls, StridesAndOddElements) {
    struct Odd {
        Byte bytes[24];
    };
    run_everywhere("", [](Job& job) {
        const Team& team = job.world();
        const auto n = static_cast<std::size_t>(team.n_pes());
        for (const std::size_t count : {0ul, 1ul, 3ul, 1000ul, 20000ul})
            for (const auto& [dst_stride, src_stride] : {std::pair{1l, 1l}, {3l, 1l}, {2l, 5l}}) {
                std::vector<Odd> src(n * count * static_cast<std::size_t>(src_stride) + 1);
                std::vector<Odd> dst(n * count * static_cast<std::size_t>(dst_stride) + 1);
                for (std::size_t i = 0; i < n * count; ++i)
                    fill_bytes(src[i * static_cast<std::size_t>(src_stride)].bytes, team.my_pe(),
                               static_cast<int>(i));
                std::memset(dst.data(), 0x55, dst.size() * sizeof(Odd));
                team.alltoalls(dst.data(), src.data(), dst_stride, src_stride, count);
                for (std::size_t k = 0; k < dst.size(); ++k) {
                    const auto stride = static_cast<std::size_t>(dst_stride);
                    const std::size_t i = k / stride;
                    if (k % stride != 0 || i >= n * count) {
                        ASSERT_EQ(dst[k].bytes[23], 0x55) << "between elements";
                    } else {
                        const auto from = static_cast<int>(i / count);
                        const std::size_t element =
                            static_cast<std::size_t>(team.my_pe()) * count + i % count;
                        ASSERT_TRUE(holds(dst[k].bytes, from, static_cast<int>(element)));
                    }
                }
            }
    });
}

}  // namespace
}  // namespace atl::testing
