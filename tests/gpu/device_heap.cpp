// The device heap: allocation, growth, returned memory, rejected calls, and its use after those.
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class DeviceHeap : public OnDevice {
  protected:
    std::size_t taken() const { return job_.device_heap_use().taken_bytes; }
    std::size_t used() const { return job_.device_heap_use().used_bytes; }
    char* block(std::size_t bytes) { return static_cast<char*>(job_.malloc(bytes, Memory::device)); }
};

constexpr std::size_t mib = std::size_t{1} << 20;

TEST_F(DeviceHeap, AddressesAreOfTheGpuAndOffsetsAlike) {
    SymmetricArray<std::uint64_t> offsets(job_, 1);
    char* first = block(100);
    std::vector<char*> kept;
    auto random = random_numbers(5);
    for (int i = 0; i < 40; ++i) {
        char* p = static_cast<char*>(
            job_.align(std::size_t{1} << below(random, 22), 1 + below(random, 3000000), Memory::device));
        cudaPointerAttributes attributes{};
        check_cuda(cudaPointerGetAttributes(&attributes, p));
        EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
        EXPECT_EQ(attributes.device, job_.device_heap_use().number);
        offsets[0] = static_cast<std::uint64_t>(p - first);
        job_.world().barrier();
        EXPECT_EQ(context_.g(offsets.data(), right_of(job_)), offsets[0]);
        job_.world().barrier();
        kept.push_back(p);
        if (i % 3 == 0) continue;
        job_.free(kept[kept.size() / 2]);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(kept.size() / 2));
    }
    for (char* p : kept) job_.free(p);
    job_.free(first);
}

TEST_F(DeviceHeap, AlignmentAndEmptyBlocks) {
    EXPECT_EQ(job_.malloc(0, Memory::device), nullptr);
    for (std::size_t align = 1; align <= 2 * mib; align *= 8) {
        void* p = job_.align(align, 100, Memory::device);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max<std::size_t>(align, 64), 0u);
        EXPECT_TRUE(job_.is_symmetric(p, 100));
        EXPECT_FALSE(job_.is_symmetric(p, 101));
        job_.free(p);
        EXPECT_FALSE(job_.is_symmetric(p, 1));
    }
    expect_error(ErrorCode::invalid_argument, {"power of two"}, [&] { job_.align(3, 8, Memory::device); });
    expect_error(ErrorCode::invalid_argument, {"2 MiB"}, [&] { job_.align(4 * mib, 8, Memory::device); });
}

TEST_F(DeviceHeap, GrowsByWhatIsNeededAndKeepsWhatItHas) {
    const std::size_t before = used();
    std::vector<char*> blocks;
    std::vector<std::size_t> sizes;
    for (const std::size_t bytes : {mib, 3 * mib, std::size_t{17}, 40 * mib, 130 * mib + 1, 64 * mib}) {
        blocks.push_back(block(bytes));
        sizes.push_back(bytes);
        EXPECT_GE(taken(), used());
        write(blocks.back(), noise(1000, static_cast<int>(sizes.size()) + job_.my_pe()));
    }
    // At most a quarter ahead, and a granule.
    EXPECT_LE(taken(), (used() + 2 * mib) / 4 * 5 + 2 * mib);
    job_.world().barrier();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::size_t bytes = std::min<std::size_t>(sizes[i], 1000);
        Bytes theirs(bytes);
        context_.get(theirs.data(), reinterpret_cast<unsigned char*>(blocks[i]), bytes, right_of(job_));
        Bytes expected = noise(1000, static_cast<int>(i) + 1 + right_of(job_));
        expected.resize(bytes);
        EXPECT_EQ(theirs, expected) << "block " << i;
    }
    job_.world().barrier();
    const std::size_t most = taken();
    for (char* p : blocks) job_.free(p);
    EXPECT_EQ(used(), before);
    char* again = block(200 * mib);
    EXPECT_EQ(taken(), most) << "freed memory is used again";
    job_.free(again);
}

TEST_F(DeviceHeap, FreedAndDroppedBlocksAreUsedAgain) {
    char* a = block(5000);
    char* b = block(5000);
    job_.free(a);
    EXPECT_EQ(block(5000), a);
    job_.free(a);
    const Allocation dropped = job_.allocate(7000, 0, {.memory = Memory::device});
    const std::size_t blocks = job_.device_heap_use().blocks;
    job_.drop(dropped.serial);
    char* c = block(64);
    EXPECT_EQ(job_.device_heap_use().blocks, blocks) << "one came, one went";
    job_.free(b);
    job_.free(c);
}

TEST_F(DeviceHeap, ReallocKeepsContents) {
    char* p = block(1000);
    write(p, noise(1000, job_.my_pe()));
    char* fence = block(64);  // so that it must move
    p = static_cast<char*>(job_.realloc(p, 10 * mib));
    EXPECT_EQ(read(p, 1000), noise(1000, job_.my_pe()));
    p = static_cast<char*>(job_.realloc(p, 500));
    EXPECT_EQ(read(p, 500), [&] {
        Bytes half = noise(1000, job_.my_pe());
        half.resize(500);
        return half;
    }());
    EXPECT_EQ(job_.realloc(p, 0), nullptr);
    job_.free(fence);
}

TEST_F(DeviceHeap, CallocIsZeroOnEveryPe) {
    char* dirty = block(3 * mib);
    check_cuda(cudaMemset(dirty, 0x5a, 3 * mib));
    check_cuda(cudaDeviceSynchronize());
    job_.free(dirty);
    auto* zeros = static_cast<unsigned char*>(job_.calloc(3, mib, Memory::device));
    Bytes theirs(3 * mib, 1);
    context_.get(theirs.data(), zeros, theirs.size(), right_of(job_));
    EXPECT_EQ(theirs, Bytes(3 * mib));
    job_.free(zeros);
}

TEST_F(DeviceHeap, OutOfMemorySaysHowMuchThereIsAndTheJobGoesOn) {
    const std::size_t before = taken(), used_before = used();
    std::size_t free_bytes = 0, all_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes));
    expect_error(ErrorCode::out_of_memory, {"A device heap has room for", "4 TiB"},
                 [&] { block(mib << 22); });
    try {
        block(all_bytes);
        ADD_FAILURE() << "all memory of the GPU, of which the library has some";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_NE(std::string(error.what()).find("GiB more"), std::string::npos) << error.what();
    }
    EXPECT_EQ(taken(), before);
    EXPECT_EQ(used(), used_before);
    char* p = block(mib);
    const std::uint64_t value = 42;
    context_.put(reinterpret_cast<std::uint64_t*>(p), &value, 1, right_of(job_));
    job_.world().barrier();
    EXPECT_EQ(context_.g(reinterpret_cast<std::uint64_t*>(p), job_.my_pe()), 42u);
    job_.free(p);
}

TEST_F(DeviceHeap, WrongAddressesAreNamed) {
    auto* p = reinterpret_cast<std::uint64_t*>(block(4096));
    std::uint64_t value = 7;
    std::vector<std::uint64_t> local(4);
    const int right = right_of(job_);
    expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                 [&] { context_.put(local.data(), &value, 1, right); });
    void* ordinary = nullptr;
    check_cuda(cudaMalloc(&ordinary, 64));
    expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                 [&] { context_.put(static_cast<std::uint64_t*>(ordinary), &value, 1, right); });
    check_cuda(cudaFree(ordinary));
    expect_error(ErrorCode::not_symmetric, {"past the end", "4 KiB"},
                 [&] { context_.get(local.data(), p + 510, 4, right); });
    expect_error(ErrorCode::pe, {"99"}, [&] { context_.put(p, &value, 1, 99); });
    expect_error(ErrorCode::pe, {"-1"}, [&] { context_.put(p, &value, 1, -1); });
    if (job_.n_pes() > 1)
        expect_error(ErrorCode::not_symmetric, {"another PE's", "window"},
                     [&] { context_.put(context_.ptr(p, right), &value, 1, right); });
    expect_error(ErrorCode::not_symmetric, {"inside a block"}, [&] { job_.free(p + 1); });
    job_.free(p);
    expect_error(ErrorCode::use_after_free, {"freed"}, [&] { context_.put(p, &value, 1, right); });
    expect_error(ErrorCode::use_after_free, {"freed"}, [&] { job_.free(p); });
}

TEST_F(DeviceHeap, CallsThatDifferAreNamed) {
    if (job_.n_pes() == 1) return;
    const std::size_t before = used();
    expect_error(ErrorCode::collective_mismatch, {"allocate"},
                 [&] { job_.malloc(job_.my_pe() == 0 ? 100 : 200, Memory::device); });
    expect_error(ErrorCode::collective_mismatch,
                 {"PE 0 called allocate(bytes=100, on the GPU",
                  "PE 1 called allocate(bytes=100, in host memory", "they differ in where the memory is;"},
                 [&] { job_.malloc(100, job_.my_pe() == 0 ? Memory::device : Memory::host); });
    EXPECT_EQ(used(), before);
}

}  // namespace
}  // namespace atl::testing
