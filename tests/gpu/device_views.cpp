// Registered buffers, and the reset of the whole device heap.
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

#include <cuda.h>
#include <dlfcn.h>

namespace atl::testing {
namespace {

template <class F> F* driver_function(const char* name) {
    static void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<F*>(::dlsym(library, name));
}

/// Memory allocated like in a program's own pool.
class OwnMemory {
  public:
    OwnMemory(int gpu, std::size_t bytes, bool shareable) : bytes_(bytes) {
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {gpu}};
        if (shareable) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CUmemGenericAllocationHandle handle = 0;
        succeed(driver_function<decltype(cuMemCreate)>("cuMemCreate")(&handle, bytes, &properties, 0));
        succeed(driver_function<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&at_, bytes, 0, 0, 0));
        succeed(driver_function<decltype(cuMemMap)>("cuMemMap")(at_, bytes, 0, handle, 0));
        CUmemAccessDesc access{};
        access.location = properties.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        succeed(driver_function<decltype(cuMemSetAccess)>("cuMemSetAccess")(at_, bytes, &access, 1));
        succeed(driver_function<decltype(cuMemRelease)>("cuMemRelease")(handle));
    }
    ~OwnMemory() {
        driver_function<decltype(cuMemUnmap)>("cuMemUnmap")(at_, bytes_);
        driver_function<decltype(cuMemAddressFree)>("cuMemAddressFree")(at_, bytes_);
    }
    OwnMemory(const OwnMemory&) = delete;
    OwnMemory& operator=(const OwnMemory&) = delete;
    char* get() const { return reinterpret_cast<char*>(at_); }

  private:
    static void succeed(CUresult result) {
        if (result != CUDA_SUCCESS) throw std::runtime_error("the driver: " + std::to_string(result));
    }
    CUdeviceptr at_ = 0;
    std::size_t bytes_;
};

constexpr std::size_t mib = std::size_t{1} << 20;

class DeviceViews : public OnStream {};

TEST_F(DeviceViews, ARegisteredBufferIsSymmetric) {
    const int gpu = job_.device_heap_use().number;
    const OwnMemory own(gpu, 4 * mib, true);
    write(own.get(), noise(4 * mib, job_.my_pe()));
    auto* view = static_cast<unsigned char*>(job_.register_buffer(own.get(), 4 * mib).address);
    EXPECT_TRUE(job_.is_symmetric(view, 4 * mib));
    EXPECT_FALSE(job_.is_symmetric(own.get(), 1));
    EXPECT_EQ(job_.device_heap_use().registered_bytes, 4 * mib);
    EXPECT_TRUE(read(view, 4 * mib) == noise(4 * mib, job_.my_pe()));
    job_.world().barrier();
    std::vector<unsigned char> theirs(4 * mib);
    context_.get(theirs.data(), view, 4 * mib, right_of(job_));
    EXPECT_TRUE(theirs == noise(4 * mib, right_of(job_)));
    job_.world().barrier();
    // A stream's collective on the view, visible through the old address.
    set(reinterpret_cast<float*>(view), std::vector<float>(mib, static_cast<float>(job_.my_pe() + 1)));
    job_.world().barrier();
    auto* floats = reinterpret_cast<float*>(view);
    team_on_stream().sum_reduce(std::span(floats, mib), std::span<const float>(floats, mib));
    finish();
    EXPECT_EQ(values(reinterpret_cast<float*>(own.get()), mib)[mib - 1],
              static_cast<float>(job_.n_pes() * (job_.n_pes() + 1) / 2));
    EXPECT_EQ(code_of([&] { job_.realloc(view, 8 * mib); }), ErrorCode::invalid_argument);
    job_.world().barrier();
    job_.free(view);
    EXPECT_FALSE(job_.is_symmetric(view, 1));
    EXPECT_EQ(code_of([&] { context_.p(view, static_cast<unsigned char>(1), 0); }),
              ErrorCode::use_after_free);
    check_cuda(cudaMemset(own.get(), 0, 4 * mib));  // the owner can still use the memory
    check_cuda(cudaDeviceSynchronize());
    job_.world().barrier();
}

TEST_F(DeviceViews, FailedRegistrationsReportTheReason) {
    const int gpu = job_.device_heap_use().number;
    const OwnMemory own(gpu, 4 * mib, true), hidden(gpu, 2 * mib, false);
    void* plain = nullptr;
    check_cuda(cudaMalloc(&plain, 8 * mib));
    void* aligned =
        reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(plain) + 2 * mib - 1) & ~(2 * mib - 1));
    std::vector<char> host(1);
    const auto refused = [&](void* memory, std::size_t bytes, const char* words) {
        expect_error(ErrorCode::invalid_argument, {words}, [&] { job_.register_buffer(memory, bytes); });
    };
    refused(aligned, 2 * mib, "cudaMalloc");
    refused(hidden.get(), 2 * mib, "descriptor");
    refused(own.get() + 64, 2 * mib, "aligned");
    refused(own.get(), 100, "aligned");
    refused(own.get(), 2 * mib, "part");
    refused(own.get() + 2 * mib, 2 * mib, "part");
    refused(host.data(), 2 * mib, "");
    refused(nullptr, 2 * mib, "");
    if (job_.n_pes() > 1) {  // one PE's mistake is an error on all
        const bool wrong = job_.my_pe() == 1;
        expect_error(ErrorCode::invalid_argument, {wrong ? "cudaMalloc" : "PE 1"},
                     [&] { job_.register_buffer(wrong ? aligned : own.get(), 4 * mib); });
    }
    job_.free(job_.register_buffer(own.get(), 4 * mib).address);
    check_cuda(cudaFree(plain));
    job_.world().barrier();
}

TEST_F(DeviceViews, ResetGivesEverythingBack) {
    job_.world().barrier();
    job_.reset_device_heap();
    const std::size_t before = job_.device_heap_use().taken_bytes;
    const OwnMemory own(job_.device_heap_use().number, 2 * mib, true);
    auto* x = zeros<char>(100 * mib);
    auto* view = static_cast<char*>(job_.register_buffer(own.get(), 2 * mib).address);
    zeros<char>(50 * mib);
    EXPECT_GT(job_.device_heap_use().taken_bytes, before + 140 * mib);
    job_.world().barrier();
    job_.reset_device_heap();
    EXPECT_EQ(job_.device_heap_use().taken_bytes, before);
    EXPECT_EQ(job_.device_heap_use().used_bytes, 0u);
    EXPECT_EQ(job_.device_heap_use().blocks, 0u);
    EXPECT_EQ(job_.device_heap_use().registered_bytes, 0u);
    for (const char* gone : {x, view})
        EXPECT_EQ(code_of([&] { job_.check_symmetric(gone, 1); }), ErrorCode::use_after_free);
    auto* again = zeros<int>(1000);
    set(again, std::vector<int>(1000, 1));
    job_.world().barrier();
    team_on_stream().sum_reduce(std::span(again, 1000), std::span<const int>(again, 1000));
    finish();
    EXPECT_EQ(values(again, 1000), std::vector<int>(1000, job_.n_pes()));
    job_.world().barrier();
    job_.free(again);
}

TEST_F(DeviceViews, ExhaustedMemoryIsReportedAndTheJobContinues) {
    std::size_t free_bytes = 0, all_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes));
    try {
        job_.malloc(2 * all_bytes, Memory::device);
        ADD_FAILURE() << "there was room for twice the GPU's memory";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        EXPECT_NE(std::string(error.what()).find("GiB"), std::string::npos) << error.what();
    }
    auto* x = zeros<int>(1);
    job_.world().barrier();
    context_.p(x, 5, right_of(job_));
    job_.world().barrier();
    EXPECT_EQ(context_.g(x, job_.my_pe()), 5);
    job_.world().barrier();
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
