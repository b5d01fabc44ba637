// UCX's own puts and gets of device heaps (ATOLL_UCX_RMA=device), simulated in memory of the host. Tests
// which side carries out an operation, and the order in which the owner is notified.
#include "atoll/error.hpp"
#include "transport/ucx_world.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

namespace atl::test {
namespace {

using transport::Blocks;
using transport::in_device_heap;
using transport::UcxRma;

/// Two chunks with a gap between them in memory, adjacent in the heap.
class Owner final : public transport::DeviceOwner {
  public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

    void put(std::uint64_t offset, const void* src, std::size_t bytes) override {
        note("put");
        std::memcpy(at(offset), src, bytes);
    }
    void get(void* dst, std::uint64_t offset, std::size_t bytes) override {
        note("get");
        std::memcpy(dst, at(offset), bytes);
    }
    void put_blocks(std::uint64_t, const void*, const Blocks&) override { note("put_blocks"); }
    void get_blocks(void*, std::uint64_t, const Blocks&) override { note("get_blocks"); }
    std::uint64_t atomic(std::uint64_t offset, AtomicOp, DType, std::uint64_t value, std::uint64_t) override {
        note("atomic");
        std::memcpy(at(offset), &value, sizeof value);
        return 0;
    }
    void settle() override {}
    char* pin_piece() override { return pieces_.emplace_back(piece_bytes).data(); }
    bool admits_networks() const override { return admits; }
    void show_network_puts() override { note("show"); }
    bool is_gpu_memory() const override { return is_gpu; }

    char* at(std::uint64_t offset) { return chunk(offset / chunk_bytes) + offset % chunk_bytes; }
    char* chunk(std::uint64_t i) { return memory_.data() + 2 * i * chunk_bytes; }
    /// Returns the log of its operations so far, as text, and clears it.
    std::string said() {
        const std::lock_guard lock(mutex_);
        return std::exchange(said_, {});
    }

    bool admits = true, is_gpu = false;

  private:
    void note(const char* what) {
        const std::lock_guard lock(mutex_);
        said_ += said_.empty() ? what : std::string(" ") + what;
    }
    std::vector<char> memory_ = std::vector<char>(4 * chunk_bytes);
    std::deque<std::vector<char>> pieces_;
    std::mutex mutex_;
    std::string said_;
};

/// PE 1 has a device heap that PE 0 can access.
template <const char* const& networks> struct DeviceWorld : UcxWorld {
    DeviceWorld() : UcxWorld(2, networks, UcxRma::device, true) { transport(1).serve_device_heap(&owner); }
    ~DeviceWorld() override { transport(1).serve_device_heap(nullptr); }
    void add_chunk(std::uint64_t i) {
        transport(1).add_device_chunk(i * Owner::chunk_bytes, owner.chunk(i), Owner::chunk_bytes);
    }
    void put(std::uint64_t offset, const std::vector<char>& data) {
        transport(0).put(0, 1, in_device_heap | offset, data.data(), data.size(), Completion::local);
    }
    std::vector<char> get(std::uint64_t offset, std::size_t bytes) {
        std::vector<char> into(bytes);
        transport(0).get(0, 1, in_device_heap | offset, into.data(), bytes, Completion::local);
        return into;
    }
    std::vector<char> found(std::uint64_t offset, std::size_t bytes) {
        std::vector<char> bytes_there(bytes);
        for (std::size_t i = 0; i < bytes; ++i) bytes_there[i] = *owner.at(offset + i);
        return bytes_there;
    }
    Owner owner;
};

constexpr std::size_t large = 300'000;

std::vector<char> pattern(std::size_t bytes, int seed) {
    std::vector<char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(seed));
    return data;
}

template <class World> struct UcxDeviceRma : ::testing::Test { World world; };
using DeviceWorlds = ::testing::Types<DeviceWorld<over_tcp>, DeviceWorld<over_shared_memory>>;
TYPED_TEST_SUITE(UcxDeviceRma, DeviceWorlds);

TYPED_TEST(UcxDeviceRma, LargeOnesPassTheOwnerBy) {
    this->world.add_chunk(0);
    this->world.add_chunk(1);
    const std::uint64_t across = Owner::chunk_bytes - large / 3;  // into the second chunk
    this->world.put(across, pattern(large, 1));
    this->world.transport(0).quiet(0, 1);
    EXPECT_EQ(this->world.found(across, large), pattern(large, 1));
    EXPECT_EQ(this->world.owner.said(), "show");
    EXPECT_EQ(this->world.get(across, large), pattern(large, 1));
    this->world.transport(0).quiet(0, -1);
    EXPECT_EQ(this->world.owner.said(), "") << "nothing was put since";
}

TYPED_TEST(UcxDeviceRma, SmallOnesAreTheOwners) {
    this->world.add_chunk(0);
    this->world.put(8, pattern(100, 2));
    this->world.transport(0).quiet(0, 1);
    EXPECT_EQ(this->world.get(8, 100), pattern(100, 2));
    EXPECT_EQ(this->world.owner.said(), "put get");
}

TYPED_TEST(UcxDeviceRma, MemoryOutsideChunksIsReachedThroughTheOwner) {
    for (int round = 0; round < 2; ++round) {  // a key is requested once
        this->world.put(0, pattern(40'000, round));
        this->world.transport(0).quiet(0, 1);
        EXPECT_EQ(this->world.found(0, 40'000), pattern(40'000, round));
        EXPECT_NE(this->world.owner.said().find("put"), std::string::npos);
    }
    std::vector<char> source(large, 3);
    this->world.transport(0).put(0, 1, 0, source.data(), large, Completion::local);
    this->world.transport(0).quiet(0, 1);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), this->world.heap(1)))
        << "host memory goes its own way";
}

TYPED_TEST(UcxDeviceRma, ASignalComesAfterTheDataIsVisible) {
    this->world.add_chunk(0);
    const std::vector<char> source = pattern(large, 4);
    this->world.transport(0).put_signal(0, 1, in_device_heap | 64, source.data(), large,
                                        {in_device_heap | 8, 5, SignalOp::set}, Completion::local);
    this->world.transport(0).quiet(0, 1);
    EXPECT_EQ(this->world.found(64, large), source);
    EXPECT_EQ(this->world.owner.said(), "show atomic");
}

TYPED_TEST(UcxDeviceRma, AFenceOrdersLargeAndSmall) {
    this->world.add_chunk(0);
    for (int round = 0; round < 20; ++round) {
        this->world.put(0, pattern(large, round));
        this->world.transport(0).fence(0, 1);
        this->world.put(100, {1, 2});
        this->world.transport(0).fence(0, 1);
        this->world.put(0, pattern(large, round + 1));
        this->world.transport(0).quiet(0, 1);
        ASSERT_EQ(this->world.found(0, large), pattern(large, round + 1));
        ASSERT_EQ(this->world.owner.said(), "show put show");
    }
}

std::string refusal(Owner& owner) {
    UcxWorld world(1, over_tcp, UcxRma::device, true);
    try {
        world.transport(0).serve_device_heap(&owner);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported);
        return error.what();
    }
    return {};
}

TEST(UcxDeviceRmaRefuses, ExplicitRequestsThatCannotBeMet) {
    Owner closed;
    closed.admits = false;
    EXPECT_NE(refusal(closed).find("ATOLL_UCX_RMA=device: no network may reach"), std::string::npos);
    Owner gpu;
    gpu.is_gpu = true;  // and UCX_TLS has no cuda_copy
    EXPECT_NE(refusal(gpu).find("knows no CUDA here"), std::string::npos);
}

}  // namespace
}  // namespace atl::test
