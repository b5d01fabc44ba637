// The symmetric heap: results and errors of its collective calls, and the reclaiming of dropped blocks.
#include "support/setups.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace atl::testing {
namespace {

class Heap : public WithPes {
  protected:
    /// All tests of a multi-process suite share one job, so they compare differences.
    static std::size_t used(const Job& job) { return job.heap_use().used_bytes; }
};

std::uint64_t offset_of(const Job& job, const void* block) {
    return static_cast<std::uint64_t>(static_cast<const char*>(block) - job.state().window().mine);
}

TEST_P(Heap, OffsetsAreTheSameEverywhere) {
    run([](Job& job) {
        SymmetricArray<std::uint64_t> mine(job, 1);
        auto random = random_numbers(1);
        std::vector<void*> blocks;
        for (int i = 0; i < 200; ++i) {
            if (blocks.empty() || below(random, 3) != 0) {
                blocks.push_back(job.align(std::size_t{1} << below(random, 13), 1 + below(random, 5000)));
            } else {
                const std::size_t k = below(random, blocks.size());
                job.free(blocks[k]);
                blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k));
            }
            mine[0] = blocks.empty() ? 0 : offset_of(job, blocks.back());
            job.world().barrier();
            ASSERT_EQ(job.context().g(mine.data(), right_of(job)), mine[0]);
            job.world().barrier();
        }
        for (void* block : blocks) job.free(block);
    });
}

TEST_P(Heap, SizesAndAlignments) {
    run([](Job& job) {
        const std::size_t before = used(job);
        EXPECT_EQ(job.malloc(0), nullptr);
        EXPECT_EQ(job.calloc(0, 8), nullptr);
        EXPECT_EQ(job.calloc(8, 0), nullptr);
        job.free(nullptr);
        for (std::size_t align = 1; align <= 1 << 20; align *= 4) {
            void* block = job.align(align, 100);
            EXPECT_EQ(offset_of(job, block) % std::max<std::size_t>(align, 64), 0u);
            EXPECT_TRUE(job.is_symmetric(block, 100));
            job.free(block);
            EXPECT_FALSE(job.is_symmetric(block, 1));
        }
        for (const std::size_t align : {3u, 65u, 96u})
            expect_error(ErrorCode::invalid_argument, {"power of two", std::to_string(align)},
                         [&] { job.align(align, 100); });
        EXPECT_EQ(used(job), before);
    });
}

/// Replaces the host's memory state by the test's values, for its lifetime.
class SimulatedMemory {
  public:
    SimulatedMemory(Job& job, std::uint64_t available) : job_(job) {
        constexpr std::uint64_t total = std::uint64_t{1} << 40;
        job.state().heap().watch_memory_by(common::MemoryWatch([available] {
            return common::MemoryState{available, total};
        }));
    }
    ~SimulatedMemory() { job_.state().heap().watch_memory_by(common::MemoryWatch()); }
    SimulatedMemory(const SimulatedMemory&) = delete;
    SimulatedMemory& operator=(const SimulatedMemory&) = delete;

  private:
    Job& job_;
};
constexpr std::uint64_t plenty = std::uint64_t{1} << 40, no_memory = 0;

/// Number of pages of the range for which the system holds memory.
std::size_t pages_in_memory(const void* from, std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(from) + page - 1) / page * page;
    std::vector<unsigned char> found(bytes / page - 1);
    EXPECT_EQ(::mincore(reinterpret_cast<void*>(begin), found.size() * page, found.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [](unsigned char in) { return (in & 1) != 0; }));
}

constexpr std::size_t mib = std::size_t{1} << 20;

/// Reports that the system takes back pages of a memory file: qemu-user accepts the call and does nothing.
bool system_takes_pages_back() {
    const int fd = ::memfd_create("probe", 0);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(page)), 0);
    void* memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_NE(memory, MAP_FAILED);
    auto* byte = static_cast<volatile char*>(memory);
    *byte = 1;
    const bool takes = ::madvise(memory, page, MADV_REMOVE) == 0 && *byte == 0;
    ::munmap(memory, page);
    ::close(fd);
    return takes;
}

TEST_P(Heap, FreedPagesStayForTheNextBlock) {
    run([](Job& job) {
        const SimulatedMemory memory(job, plenty);
        const std::size_t limit = job.heap_use().limit_bytes / 8;
        auto* first = static_cast<unsigned char*>(job.malloc(mib));
        std::memset(first, 0xff, mib);
        const std::size_t before = job.heap_use().kept_bytes;
        job.free(first);
        EXPECT_GT(job.heap_use().kept_bytes, before);
        EXPECT_GT(pages_in_memory(first, mib), 0u);
        auto* second = static_cast<unsigned char*>(job.calloc(mib, 1));
        EXPECT_EQ(second, first);
        EXPECT_EQ(std::count(second, second + mib, 0), static_cast<std::ptrdiff_t>(mib));
        job.free(second);
        std::vector<void*> blocks;
        for (int i = 0; i < 8; ++i) blocks.push_back(job.malloc(mib));
        for (void* block : blocks) {
            job.free(block);
            EXPECT_LE(job.heap_use().kept_bytes, limit);
        }
    });
}

TEST_P(Heap, KeptPagesGoBackWhereTheHostRunsShort) {
    run([](Job& job) {
        void *other = nullptr, *wall = nullptr;
        unsigned char* block = nullptr;
        {
            const SimulatedMemory memory(job, plenty);
            other = job.malloc(10);
            wall = job.malloc(100);  // so that the block begins and ends within pages
            block = static_cast<unsigned char*>(job.malloc(mib + 100));
            std::memset(block, 0xff, mib + 100);
            job.free(block);
            EXPECT_GT(job.heap_use().kept_bytes, 0u);
        }
        const SimulatedMemory memory(job, no_memory);
        job.free(other);
        EXPECT_EQ(job.heap_use().kept_bytes, 0u) << "any free and allocation gives back";
        const bool takes_back = system_takes_pages_back();
        if (takes_back) {
            EXPECT_EQ(pages_in_memory(block, mib), 0u);
        }
        const Allocation again = job.allocate(mib + 100);
        if (!pes_are_processes) {
            ASSERT_EQ(again.address, block);
            EXPECT_EQ(again.zeroed, takes_back);
        }
        const auto* bytes = static_cast<const unsigned char*>(again.address);
        if (again.zeroed) {
            EXPECT_EQ(std::count(bytes, bytes + mib + 100, 0), static_cast<std::ptrdiff_t>(mib + 100));
        }
        job.free(again.address);
        job.free(wall);
        EXPECT_EQ(job.heap_use().kept_bytes, 0u) << "freed while there is none left";
    });
}

/// Random blocks, with and without free memory, are zero if they are reported as zero.
TEST_P(Heap, MemoryReportedAsZeroIsZero) {
    run([](Job& job) {
        auto random = random_numbers(11);
        std::vector<std::pair<unsigned char*, std::size_t>> blocks;
        std::size_t known = 0;
        for (int i = 0; i < 60; ++i) {
            const SimulatedMemory memory(job, below(random, 2) == 0 ? plenty : no_memory);
            if (blocks.size() > 3 || (!blocks.empty() && below(random, 2) == 0)) {
                const std::size_t k = below(random, blocks.size());
                job.free(blocks[k].first);
                blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k));
                continue;
            }
            const std::size_t bytes = 1 + below(random, 2 * mib);
            const Allocation block = job.allocate(bytes);
            auto* begin = static_cast<unsigned char*>(block.address);
            if (block.zeroed) {
                ++known;
                ASSERT_EQ(begin[0], 0);
                ASSERT_EQ(std::memcmp(begin, begin + 1, bytes - 1), 0);  // each byte equals the one before it
            }
            std::memset(begin, 0xff, bytes);
            if (below(random, 3) == 0) {  // the block may move
                const std::size_t other = 1 + below(random, 2 * mib);
                begin = static_cast<unsigned char*>(job.realloc(begin, other));
                std::memset(begin, 0xff, other);
                blocks.emplace_back(begin, other);
            } else {
                blocks.emplace_back(begin, bytes);
            }
        }
        EXPECT_GT(known, 0u);
        for (const auto& [block, bytes] : blocks) job.free(block);
    });
}

TEST_P(Heap, CallocIsZeroAlsoInReusedMemory) {
    run([](Job& job) {
        for (int round = 0; round < 3; ++round) {
            auto* a = static_cast<unsigned char*>(job.calloc(1000, 3));
            for (int i = 0; i < 3000; ++i) ASSERT_EQ(a[i], 0);
            std::memset(a, 0xff, 3000);
            // A PE that returns may put at once; calloc has zeroed everywhere by then.
            job.free(a);
            auto* b = static_cast<long*>(job.calloc(2, sizeof(long)));
            job.context().p(b, 7L, right_of(job));
            job.world().barrier();
            EXPECT_EQ(b[0], 7);
            EXPECT_EQ(b[1], 0);
            job.free(b);
            SymmetricArray<int> array(job, 700);
            for (const int x : array) ASSERT_EQ(x, 0);
            std::fill(array.begin(), array.end(), -1);
        }
        expect_error(ErrorCode::out_of_memory, {}, [&] { job.calloc(SIZE_MAX / 2, 3); });
    });
}

TEST_P(Heap, ReallocKeepsContents) {
    run([](Job& job) {
        const auto fill = [&](unsigned char* block, std::size_t bytes) {
            for (std::size_t i = 0; i < bytes; ++i)
                block[i] = static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(job.my_pe()));
        };
        const auto holds = [&](const unsigned char* block, std::size_t bytes) {
            for (std::size_t i = 0; i < bytes; ++i)
                if (block[i] != static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(job.my_pe())))
                    return false;
            return true;
        };
        auto* block = static_cast<unsigned char*>(job.realloc(nullptr, 1000));
        fill(block, 1000);
        auto* grown = static_cast<unsigned char*>(job.realloc(block, 5000));
        EXPECT_TRUE(holds(grown, 1000));
        void* wall = job.malloc(64);  // so that the next growth has to move
        fill(grown, 5000);
        auto* moved = static_cast<unsigned char*>(job.realloc(grown, 200'000));
        EXPECT_NE(moved, grown);
        EXPECT_TRUE(holds(moved, 5000));
        EXPECT_FALSE(job.is_symmetric(grown, 1));
        auto* shrunk = static_cast<unsigned char*>(job.realloc(moved, 100));
        EXPECT_EQ(shrunk, moved);
        EXPECT_TRUE(holds(shrunk, 100));
        EXPECT_FALSE(job.is_symmetric(shrunk, 101));
        expect_error(ErrorCode::out_of_memory, {"1 TiB"}, [&] { job.realloc(shrunk, std::size_t{1} << 40); });
        EXPECT_TRUE(holds(shrunk, 100));  // the block stays
        job.free(wall);
        EXPECT_EQ(job.realloc(shrunk, 0), nullptr);
        EXPECT_FALSE(job.is_symmetric(shrunk, 1));
    });
}

/// Blocks that are freed at the end of the test, even if it fails: the suites of a job share its heap.
class Blocks {
  public:
    explicit Blocks(Job& job) : job_(job) {}
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;
    ~Blocks() { free(); }
    void add(std::size_t bytes) { blocks_.push_back(job_.malloc(bytes)); }
    std::size_t size() const { return blocks_.size(); }
    void free() {
        for (void* block : std::exchange(blocks_, {})) job_.free(block);
    }

  private:
    Job& job_;
    std::vector<void*> blocks_;
};

/// Takes blocks of `step` bytes until one is refused, then the rest.
void exhaust(Job& job, std::size_t step) {
    const std::size_t before = job.heap_use().used_bytes;
    const std::size_t limit = job.heap_use().limit_bytes;
    Blocks blocks(job);
    expect_error(ErrorCode::out_of_memory, {"ATOLL_HEAP_SIZE", "largest free block", "used"}, [&] {
        for (;;) blocks.add(step);
    });
    EXPECT_GE(blocks.size(), 8u);
    EXPECT_LT(job.heap_use().largest_free_bytes, step);
    // The rest is empty if the limit is a multiple of the step; malloc(0) is null by its contract.
    while (const std::size_t left = job.heap_use().largest_free_bytes) blocks.add(left);
    EXPECT_EQ(job.heap_use().used_bytes, limit);
    EXPECT_EQ(job.malloc(0), nullptr);
    expect_error(ErrorCode::out_of_memory, {"largest free block"}, [&] { job.malloc(1); });
    blocks.free();
    EXPECT_EQ(job.heap_use().used_bytes, before);
    for (const std::size_t bytes : {limit + 1, std::size_t{1} << 62, SIZE_MAX - 100, SIZE_MAX})
        expect_error(ErrorCode::out_of_memory, {}, [&] { job.malloc(bytes); });
    job.free(job.malloc(100));
}

TEST_P(Heap, ExhaustionLeavesEverythingUsable) {
    run([](Job& job) { exhaust(job, job.heap_use().limit_bytes / 10); });
}

// One limit that ten steps fill to the last byte, and one that they do not. A job's own limit depends on the
// machine's memory, so only PEs that are threads get these.
TEST_P(Heap, ExhaustionAtAMultipleOfTheStepAndBeside) {
    constexpr std::size_t step = std::size_t{1} << 20;
    for (const std::size_t rest : {std::size_t{0}, std::size_t{4096}}) {
        ThreadJobOptions options;
        options.heap_bytes = 10 * step + rest;
        run(
            [&](Job& job) {
                if (GetParam().n_pes != 0) {
                    ASSERT_EQ(job.heap_use().limit_bytes % step, rest);
                }
                exhaust(job, job.heap_use().limit_bytes / 10);
            },
            options);
    }
}

TEST_P(Heap, WrongFreesAreNamed) {
    run([](Job& job) {
        auto* block = static_cast<char*>(job.malloc(1000));
        int local = 0;
        expect_error(ErrorCode::not_symmetric, {"free", "inside a block of 1000 bytes", "100 bytes before"},
                     [&] { job.free(block + 100); });
        expect_error(ErrorCode::not_symmetric, {"free", "not in this PE's heap"}, [&] { job.free(&local); });
        expect_error(ErrorCode::not_symmetric, {"realloc", "inside"}, [&] { job.realloc(block + 64, 10); });
        const detail::Slot right = job.state().topology().host_slot(right_of(job));
        if (job.n_pes() > 1 && job.shared().n_pes() == job.n_pes())
            expect_error(ErrorCode::not_symmetric, {"not in this PE's heap"},
                         [&] { job.free(job.context().window().at(block, right)); });
        job.free(block);
        expect_error(ErrorCode::use_after_free, {"freed already"}, [&] { job.free(block); });
        expect_error(ErrorCode::use_after_free, {"realloc"}, [&] { job.realloc(block, 10); });
        job.free(job.malloc(10));
    });
}

TEST_P(Heap, IsSymmetricKnowsBlocks) {
    run([](Job& job) {
        auto* block = static_cast<char*>(job.malloc(1000));
        int local = 0;
        EXPECT_TRUE(job.is_symmetric(block, 1000));
        EXPECT_TRUE(job.is_symmetric(block + 999, 1));
        EXPECT_FALSE(job.is_symmetric(block, 1001));
        EXPECT_FALSE(job.is_symmetric(block + 1000, 1));
        EXPECT_FALSE(job.is_symmetric(block, SIZE_MAX));
        EXPECT_FALSE(job.is_symmetric(&local));
        EXPECT_FALSE(job.is_symmetric(nullptr));
        job.free(block);
    });
}

TEST_P(Heap, SaysWhereARangeLeavesItsBlock) {
    run([](Job& job) {
        auto* block = static_cast<char*>(job.malloc(1000));
        int local = 0;
        EXPECT_NO_THROW(job.check_symmetric(block, 1000));
        EXPECT_NO_THROW(job.check_symmetric(block + 999));
        expect_error(ErrorCode::not_symmetric, {"101 bytes", "reach past", "1000 bytes", "900 bytes before"},
                     [&] { job.check_symmetric(block + 900, 101); });
        expect_error(ErrorCode::not_symmetric, {"begin behind the end", "1000 bytes"},
                     [&] { job.check_symmetric(block + 1000); });
        expect_error(ErrorCode::use_after_free, {"in no block"},
                     [&] { job.check_symmetric(block + 100000); });
        expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                     [&] { job.check_symmetric(&local); });
        job.free(block);
        expect_error(ErrorCode::use_after_free, {"in no block"}, [&] { job.check_symmetric(block, 8); });
    });
}

TEST_P(Heap, DroppedInAnyOrderAndNumber) {
    run([](Job& job) {
        const std::size_t before = used(job);
        for (int round = 0; round < 4; ++round) {
            constexpr std::size_t count = 23;  // more than the PEs tell each other in one meeting
            std::vector<std::uint64_t> serials;
            for (std::size_t i = 0; i < count; ++i) serials.push_back(job.allocate(1000).serial);
            auto random = random_numbers(100 * round + job.my_pe());
            std::shuffle(serials.begin(), serials.end(), random);
            // The last PE keeps some for now: these must not be reclaimed.
            std::size_t kept = job.my_pe() == job.n_pes() - 1 ? 5 : 0;
            for (std::size_t i = kept; i < count; ++i) job.drop(serials[i]);
            void* probe = job.malloc(10);
            EXPECT_EQ(used(job), before + 64 + (5 * 1024));
            for (std::size_t i = 0; i < kept; ++i) job.drop(serials[i]);
            job.free(probe);
            probe = job.malloc(10);
            EXPECT_EQ(used(job), before + 64);
            job.free(probe);
        }
        job.drop(~std::uint64_t{0});  // never allocated; harmless
        job.free(job.malloc(10));
    });
}

TEST_P(Heap, ReclaimedPagesDoNotTakeNewDataAlong) {
    run([](Job& job) {
        // Blocks of a MiB return their pages when they are reclaimed and no memory is left. A fast PE must
        // not put into the next block there before a slow one has done so. Otherwise its data would be lost
        // with the pages.
        const SimulatedMemory memory(job, no_memory);
        for (int i = 0; i < 100; ++i) {
            SymmetricArray<int>* dropped = new SymmetricArray<int>(job, 1 << 18);
            delete dropped;
            const auto block = job.allocate(std::size_t{1} << 20);
            auto* words = static_cast<int*>(block.address);
            job.context().p(words + 5000, i, right_of(job));
            job.world().barrier();
            ASSERT_EQ(words[5000], i);
            job.drop(block.serial);
        }
    });
}

TEST_P(Heap, DifferingCallsAreNamedAndHarmless) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const bool odd = job.my_pe() == 1;
        const std::size_t before = used(job);
        expect_error(ErrorCode::collective_mismatch, {"PE 0", "PE 1", "100", "200"},
                     [&] { job.malloc(odd ? 200 : 100); });
        expect_error(ErrorCode::collective_mismatch, {"align=4096", "they differ in align;"},
                     [&] { job.align(odd ? 4096 : 128, 100); });
        expect_error(
            ErrorCode::collective_mismatch,
            {"PE 0 called allocate(bytes=100, in host memory)",
             "PE 1 called allocate(bytes=100, in host memory, hinted for remote atomics and signals)",
             "they differ in hints;"},
            [&] { job.allocate(100, 0, {.atomics_remote = odd, .signal_remote = odd}); });
        void* a = job.malloc(100);
        void* b = job.malloc(100);
        expect_error(ErrorCode::collective_mismatch, {"free(offset=", "they differ in offset;"},
                     [&] { job.free(odd ? a : b); });
        expect_error(ErrorCode::collective_mismatch, {"free", "allocate"}, [&] {
            if (odd)
                job.free(a);
            else
                job.malloc(100);
        });
        expect_error(ErrorCode::collective_mismatch, {"realloc"}, [&] { job.realloc(odd ? a : b, 300); });
        job.free(a);
        job.free(b);
        EXPECT_EQ(used(job), before);
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Heap, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
