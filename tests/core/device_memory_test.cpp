// What the core makes of PEs' GPUs, with memory of the host in their place: chunks are on all PEs or on none,
// whatever fails where, and the heap goes on.
#include "core/device_memory.hpp"
#include "support/setups.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace atl::testing {
namespace {

constexpr std::size_t granule = std::size_t{64} << 10;
constexpr std::size_t slot_bytes = std::size_t{8} << 20;

/// What shall go wrong on this PE.
struct Faults {
    bool cannot_open = false, cannot_reserve = false, cannot_map = false;
    std::size_t memory_bytes = SIZE_MAX;
};

/// A GPU made of memory files.
class FakeHeap final : public heap::DeviceHeap {
  public:
    explicit FakeHeap(const Faults& faults) : faults_(faults) {
        if (faults.cannot_open) throw Error(ErrorCode::unsupported, "no GPU in this test");
        facts_.number = 0;
        facts_.name = "fake";
        facts_.granularity_bytes = granule;
    }
    ~FakeHeap() override { ::munmap(window_, slot_bytes * static_cast<std::size_t>(n_slots_)); }
    FakeHeap(const FakeHeap&) = delete;
    FakeHeap& operator=(const FakeHeap&) = delete;

    const heap::DeviceFacts& facts() const noexcept override { return facts_; }
    void check_peer(const heap::DeviceUuid&) const override {}
    void reserve(int n_slots, int my_slot) override {
        if (faults_.cannot_reserve) throw Error(ErrorCode::out_of_memory, "no addresses in this test");
        n_slots_ = n_slots;
        my_slot_ = my_slot;
        window_ = static_cast<char*>(place(nullptr, slot_bytes * static_cast<std::size_t>(n_slots)));
    }
    std::size_t stride() const noexcept override { return slot_bytes; }
    char* slot(int i) const noexcept override { return window_ + slot_bytes * static_cast<std::size_t>(i); }
    common::Fd extend(std::size_t bytes) override {
        if (end_ + bytes > faults_.memory_bytes)
            throw Error(ErrorCode::out_of_memory, "no memory in this test");
        common::Fd fd(::memfd_create("fake", MFD_CLOEXEC));
        if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) throw std::runtime_error("ftruncate");
        last_ = end_;
        end_ += bytes;
        map(my_slot_, fd);
        return fd;
    }
    void map_peer(int slot, const common::Fd& chunk) override {
        if (faults_.cannot_map) throw Error(ErrorCode::unsupported, "no peer access in this test");
        map(slot, chunk);
    }
    void withdraw() noexcept override {
        for (int i = 0; i < n_slots_; ++i) place(slot(i) + last_, end_ - last_);
        end_ = last_;
    }
    void* show(void* pages, std::size_t) override { return pages; }
    void copy(void* dst, const void* src, std::size_t bytes) override { std::memmove(dst, src, bytes); }
    void fill(void* dst, unsigned char value, std::size_t bytes) override { std::memset(dst, value, bytes); }
    void check_stream(heap::StreamHandle) const override {}
    void start(const heap::DeviceCall&, heap::StreamHandle) override { ++started_; }
    void finish(heap::StreamHandle) override {}
    void run(const heap::DeviceCall&) override { ++started_; }
    std::uint64_t run_word(heap::WordCall call) override {
        ++started_;
        return call.value;
    }

    Faults& faults() { return faults_; }

  private:
    static void* place(void* at, std::size_t bytes) {
        return ::mmap(at, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
    }
    void map(int slot, const common::Fd& fd) const {
        ::mmap(this->slot(slot) + last_, end_ - last_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               fd.get(), 0);
    }
    int started_ = 0;
    Faults faults_;
    heap::DeviceFacts facts_;
    char* window_ = nullptr;
    int n_slots_ = 0, my_slot_ = 0;
    std::size_t last_ = 0, end_ = 0;
};

/// One PE's heap, and a way to make its GPU fail.
struct Device {
    explicit Device(Job& job, const Faults& faults = {})
        : memory(job.state(), [&](const heap::DeviceChoice&) {
              auto opened = std::make_unique<FakeHeap>(faults);
              fake = opened.get();
              return opened;
          }) {}
    FakeHeap* fake = nullptr;
    core::DeviceMemory memory;
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
            device.memory.put(block, mine.data(), bytes, right_of(job));
            job.world().barrier();
            std::vector<char> got(bytes);
            device.memory.get(got.data(), block, bytes, right_of(job));
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
        device.memory.fill(first, 1, 16 * granule);
        const auto before = device.memory.use();
        expect_error(ErrorCode::out_of_memory, {job.my_pe() == 0 ? "in this test" : "PE 0's GPU"},
                     [&] { device.allocate(5 * granule); });
        EXPECT_EQ(device.memory.use().taken_bytes, before.taken_bytes);
        EXPECT_EQ(device.memory.use().used_bytes, before.used_bytes);
        expect_error(ErrorCode::out_of_memory, {"8 MiB", "9 MiB"},
                     [&] { device.allocate(std::size_t{9} << 20); });
        // A quarter ahead would be too much for PE 0; what is needed is not.
        char* second = device.allocate(1);
        EXPECT_EQ(device.memory.use().taken_bytes, 17 * granule);
        device.memory.fill(second, 2, 1);
        job.world().barrier();
        char got = 0;
        device.memory.get(&got, second, 1, right_of(job));
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
        device.memory.fill(block, 3, granule);
        job.world().barrier();
        char got = 0;
        device.memory.get(&got, block + granule - 1, 1, left_of(job));
        EXPECT_EQ(got, 3);
        job.world().barrier();
    });
}

TEST_P(DeviceMemoryOfFakes, ReallocReclaimAndWrongAddresses) {
    run([](Job& job) {
        Device device(job);
        char* a = device.allocate(100);
        device.memory.fill(a, 7, 100);
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

INSTANTIATE_TEST_SUITE_P(Setups, DeviceMemoryOfFakes, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
