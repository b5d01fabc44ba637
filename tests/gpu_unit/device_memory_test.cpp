// The core's use of PEs' GPUs, with host memory in their place. Chunks are on all PEs or on none, whatever
// fails where, and the heap stays usable.
#include "gpu/heap/device_memory.hpp"

#include "stream/kernels/world_view.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

namespace atl::testing {
namespace {

/// One PE's heap, with a way to make its GPU fail.
struct Device {
    explicit Device(Job& job, const Faults& faults = {})
        : view(job.state()), memory(view, [&](const gpu::DeviceChoice&) {
              auto opened = std::make_unique<FakeHeap>(faults);
              fake = opened.get();
              return opened;
          }) {}
    FakeHeap* fake = nullptr;
    stream::WorldView view;
    gpu::DeviceMemory memory;
    std::uint64_t serials = 0;
    char* allocate(std::size_t bytes, std::size_t align = 0) {
        return static_cast<char*>(memory.allocate(bytes, align, ++serials));
    }
};

class DeviceMemoryOfFakes : public WithPes {};

TEST_P(DeviceMemoryOfFakes, PutsAndGetsAcrossChunks) {
    run([](Job& job) {
        Device device(job);
        auto random = random_numbers(3);
        for (int i = 0; i < 20; ++i) {
            const std::size_t bytes = 1 + below(random, 300000);
            char* block = device.allocate(bytes);
            const std::vector<char> mine(bytes, static_cast<char>(10 * i + job.my_pe()));
            device.memory.copies().put(block, mine.data(), bytes, right_of(job));
            job.world().barrier();
            std::vector<char> got(bytes);
            device.memory.copies().get(got.data(), block, bytes, right_of(job));
            ASSERT_EQ(got, mine);
            ASSERT_EQ(
                std::memcmp(block, std::vector<char>(bytes, static_cast<char>(10 * i + left_of(job))).data(),
                            bytes),
                0);
            job.world().barrier();
        }
        EXPECT_GE(device.memory.use().taken_bytes, device.memory.use().used_bytes);
        job.world().barrier();
    });
}

/// For any number of blocks: one call for memory that the GPU can access. Other host memory is moved in
/// pieces of the pinned size.
/// Byte i is i * 7 + pe. The pattern repeats after 256 bytes and is copied, since a sanitizer notes each byte
/// written.
std::vector<char> pattern_of(int pe, std::size_t bytes) {
    constexpr std::size_t period = 256;
    std::vector<char> all(bytes);
    for (std::size_t i = 0; i < std::min(bytes, period); ++i)
        all[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(pe));
    for (std::size_t done = period; done < bytes; done *= 2)
        std::memcpy(all.data() + done, all.data(), std::min(done, bytes - done));
    return all;
}

TEST_P(DeviceMemoryOfFakes, StridedCopiesAreOneCall) {
    run([](Job& job) {
        Device device(job);
        constexpr std::int64_t blocks = 30000;
        for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{100}}) {
            const std::int64_t far = 104, near = static_cast<std::int64_t>(bytes) + 3;
            char* block = device.allocate(far * blocks);
            std::memset(block, 0x55, far * blocks);
            const std::vector<char> mine = pattern_of(job.my_pe(), static_cast<std::size_t>(near * blocks));
            const std::vector<char> theirs = pattern_of(left_of(job), mine.size());
            std::vector<char> back(mine.size()), wanted(static_cast<std::size_t>(far * blocks), 0x55);
            for (std::int64_t i = 0; i < blocks; ++i)
                std::memcpy(wanted.data() + i * far, theirs.data() + i * near, bytes);
            job.world().barrier();
            const int right = right_of(job), before = device.fake->strided();
            device.memory.copies().strided({block, mine.data(), far, near, bytes, blocks}, right, true);
            EXPECT_EQ(device.fake->strided() - before, bytes == 8 ? 1 : 3);
            job.world().barrier();
            ASSERT_EQ(std::memcmp(block, wanted.data(), wanted.size()), 0);
            device.memory.copies().strided({back.data(), block, near, far, bytes, blocks}, right, false);
            for (std::int64_t i = 0; i < blocks; ++i)
                ASSERT_EQ(std::memcmp(&back[static_cast<std::size_t>(i * near)],
                                      &mine[static_cast<std::size_t>(i * near)], bytes),
                          0);
            job.world().barrier();
            device.fake->let_reach(back.data());
            const int calls = device.fake->strided();
            device.memory.copies().strided({back.data(), block, near, far, bytes, blocks}, right, false);
            EXPECT_EQ(device.fake->strided() - calls, 1);
            device.fake->let_not_reach(back.data());
            job.world().barrier();
        }
    });
}

TEST_P(DeviceMemoryOfFakes, OnePeWithoutAGpuIsNamedByAll) {
    run([](Job& job) {
        for (const bool opens : {false, true}) {
            Faults faults;
            if (job.my_pe() == job.n_pes() - 1) (opens ? faults.cannot_reserve : faults.cannot_open) = true;
            const bool mine = faults.cannot_open || faults.cannot_reserve;
            const std::string named = "PE " + std::to_string(job.n_pes() - 1);
            expect_error(opens ? ErrorCode::out_of_memory : ErrorCode::unsupported,
                         {mine ? "in this test" : named}, [&] { Device device(job, faults); });
        }
        Device device(job);
        EXPECT_NE(device.allocate(1), nullptr);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, OnePeOutOfMemoryStopsAllAndNothingIsLost) {
    run([](Job& job) {
        Faults faults;
        if (job.my_pe() == 0) faults.memory_bytes = 18 * granule;
        Device device(job, faults);
        char* first = device.allocate(16 * granule);
        device.memory.copies().fill(first, 1, 16 * granule);
        const auto before = device.memory.use();
        expect_error(ErrorCode::out_of_memory, {job.my_pe() == 0 ? "in this test" : "PE 0's GPU"},
                     [&] { device.allocate(5 * granule); });
        EXPECT_EQ(device.memory.use().taken_bytes, before.taken_bytes);
        EXPECT_EQ(device.memory.use().used_bytes, before.used_bytes);
        expect_error(ErrorCode::out_of_memory, {"6 MiB", "9 MiB"},
                     [&] { device.allocate(std::size_t{9} << 20); });
        // A quarter ahead would be too much for PE 0; the needed size is not.
        char* second = device.allocate(1);
        EXPECT_EQ(device.memory.use().taken_bytes, 17 * granule);
        device.memory.copies().fill(second, 2, 1);
        job.world().barrier();
        char got = 0;
        device.memory.copies().get(&got, second, 1, right_of(job));
        EXPECT_EQ(got, 2);
        EXPECT_EQ(first[0], 1);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, OnePeThatCannotMapStopsAll) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        Device device(job);
        device.allocate(granule);
        if (job.my_pe() == 1) device.fake->faults().cannot_map = true;
        expect_error(ErrorCode::unsupported, {job.my_pe() == 1 ? "in this test" : "PE 1"},
                     [&] { device.allocate(granule); });
        device.fake->faults().cannot_map = false;
        char* block = device.allocate(granule);
        device.memory.copies().fill(block, 3, granule);
        job.world().barrier();
        char got = 0;
        device.memory.copies().get(&got, block + granule - 1, 1, left_of(job));
        EXPECT_EQ(got, 3);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, ReallocReclaimAndWrongAddresses) {
    run([](Job& job) {
        Device device(job);
        char* a = device.allocate(100);
        device.memory.copies().fill(a, 7, 100);
        a = static_cast<char*>(device.memory.reallocate(a, 3 * granule));  // in place, and more memory
        char* fence = device.allocate(1);
        char* moved = static_cast<char*>(device.memory.reallocate(a, 5 * granule));
        EXPECT_NE(moved, a);
        EXPECT_TRUE(std::all_of(moved, moved + 100, [](char c) { return c == 7; }));
        EXPECT_FALSE(device.memory.is_allocated(a, 1));
        expect_error(ErrorCode::use_after_free, {"freed"}, [&] { device.memory.check(a, 1); });
        expect_error(ErrorCode::not_symmetric, {"past the end"},
                     [&] { device.memory.check(moved + 5 * granule - 1, 2); });
        expect_error(ErrorCode::not_symmetric, {"inside a block"},
                     [&] { device.memory.checked_block(moved + 1, "free"); });
        EXPECT_FALSE(device.memory.holds(&job));
        if (job.n_pes() > 1) {
            char* theirs = static_cast<char*>(device.memory.at(moved, right_of(job)));
            EXPECT_FALSE(device.memory.holds(theirs));
            EXPECT_TRUE(device.memory.in_window(theirs));
            expect_error(ErrorCode::not_symmetric, {"another PE"},
                         [&] { device.memory.checked_block(theirs, "free"); });
        }
        EXPECT_TRUE(device.memory.reclaim(1)) << "the serial moved with the block";
        EXPECT_FALSE(device.memory.reclaim(1));
        device.memory.free(fence);
        EXPECT_EQ(device.memory.use().blocks, 0u);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, RegisteredBuffersAreSeenByAll) {
    run([](Job& job) {
        Device device(job);
        device.allocate(granule);
        common::Fd fd(::memfd_create("buffer", MFD_CLOEXEC));
        ASSERT_EQ(::ftruncate(fd.get(), 2 * granule), 0);
        auto* mine =
            static_cast<char*>(::mmap(nullptr, 2 * granule, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
        device.fake->let_share(mine, fd.get());
        const bool wrong = job.my_pe() == job.n_pes() - 1;
        expect_error(ErrorCode::invalid_argument,
                     {wrong ? "not shareable" : "PE " + std::to_string(job.n_pes() - 1)},
                     [&] { device.memory.register_buffer(wrong ? mine + 1 : mine, 2 * granule, 9); });
        EXPECT_EQ(device.fake->views(), 0u) << "who could takes it back";
        auto* view = static_cast<char*>(device.memory.register_buffer(mine, 2 * granule, 10));
        EXPECT_TRUE(device.memory.is_allocated(view, 2 * granule));
        EXPECT_FALSE(device.memory.is_allocated(view, 2 * granule + 1));
        EXPECT_EQ(device.memory.use().registered_bytes, 2 * granule);
        const char told = static_cast<char>(job.my_pe() + 1);
        device.memory.copies().put(view + granule, &told, 1, right_of(job));
        job.world().barrier();
        EXPECT_EQ(mine[granule], left_of(job) + 1) << "by the old address";
        expect_error(ErrorCode::invalid_argument, {"registered"},
                     [&] { device.memory.checked_block(view, "realloc"); });
        job.world().barrier();
        EXPECT_TRUE(device.memory.reclaim(10));
        expect_error(ErrorCode::use_after_free, {"freed"}, [&] { device.memory.check(view, 1); });
        EXPECT_EQ(device.fake->views(), 0u);
        EXPECT_EQ(mine[granule], left_of(job) + 1) << "the memory is its owner's";
        job.world().barrier();
        ::munmap(mine, 2 * granule);
    });
}

TEST_P(DeviceMemoryOfFakes, ResetGivesMemoryBack) {
    run([](Job& job) {
        Device device(job);
        char* first = device.allocate(3 * granule);
        device.allocate(5 * granule);
        EXPECT_GE(device.fake->chunks(), 2u);
        job.world().barrier();
        device.memory.reset();
        EXPECT_EQ(device.fake->chunks(), 0u);
        EXPECT_EQ(device.memory.use().taken_bytes, 0u);
        EXPECT_EQ(device.memory.use().blocks, 0u);
        EXPECT_FALSE(device.memory.reclaim(1)) << "what is dropped later was freed already";
        job.world().barrier();
        EXPECT_EQ(device.allocate(3 * granule), first);
        device.memory.copies().fill(first, 4, 3 * granule);
        job.world().barrier();
        char got = 0;
        device.memory.copies().get(&got, first, 1, right_of(job));
        EXPECT_EQ(got, 4);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, OnePeThatCannotFillOrCopyStopsAll) {
    run([](Job& job) {
        Device device(job);
        char* block = device.allocate(granule);
        device.memory.fill_on_all(block, 5, granule);
        char* fence = device.allocate(granule);
        const bool mine = job.my_pe() == job.n_pes() - 1;
        const std::string named = mine ? "in this test" : "PE " + std::to_string(job.n_pes() - 1);
        device.fake->faults().cannot_fill = device.fake->faults().cannot_copy = mine;
        expect_error(ErrorCode::system, {named}, [&] { device.memory.fill_on_all(fence, 1, 1); });
        expect_error(ErrorCode::system, {named}, [&] { device.memory.reallocate(block, 4 * granule); });
        device.fake->faults() = {};
        EXPECT_EQ(device.memory.use().blocks, 2u) << "the block is where it was";
        EXPECT_EQ(block[granule - 1], 5);
        EXPECT_NE(device.memory.reallocate(block, 4 * granule), block);
        EXPECT_TRUE(device.memory.reclaim(1)) << "its serial is the moved block's";
        job.world().barrier();
    });
}

/// In chunks of GPU granularity. The user's first bytes fit into the rest of the last one.
TEST_P(DeviceMemoryOfFakes, TheLibraryItselfTakesAtMostEightMebibytes) {
    run([](Job& job) {
        constexpr std::size_t mebibyte = std::size_t{1} << 20;
        FakeHeap* fake = nullptr;
        job.state().devices().open_by([&](const gpu::DeviceChoice&) {
            auto opened = std::make_unique<FakeHeap>(Faults{}, 64 * mebibyte, 2 * mebibyte);
            fake = opened.get();
            return opened;
        });
        void* first = job.malloc(1, Memory::device);
        EXPECT_LE(fake->bytes_taken(), 8 * mebibyte);
        void* second = job.malloc(mebibyte, Memory::device);
        EXPECT_LE(fake->bytes_taken(), 8 * mebibyte);
        job.free(second);
        job.free(first);
    });
}

INSTANTIATE_TEST_SUITE_P(Setups, DeviceMemoryOfFakes, ::testing::ValuesIn(setups_on_one_host()), setup_name);

}  // namespace
}  // namespace atl::testing
