// Shared by the tests of GPU memory. CUDA's runtime represents the user's own use of the GPU.
#pragma once

#include "support/setups.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace atl::testing {

inline void check_cuda(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

using Bytes = std::vector<unsigned char>;

inline Bytes noise(std::size_t bytes, int seed) {
    Bytes data(bytes);
    std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 1;
    for (auto& byte : data) byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
    return data;
}

/// Reads the actual contents by CUDA's runtime, without Atoll.
inline Bytes read(const void* from, std::size_t bytes) {
    Bytes data(bytes);
    check_cuda(cudaMemcpy(data.data(), from, bytes, cudaMemcpyDefault));
    return data;
}
inline void write(void* to, const Bytes& data) {
    check_cuda(cudaMemcpy(to, data.data(), data.size(), cudaMemcpyDefault));
    check_cuda(cudaDeviceSynchronize());  // from pageable memory it may return before the end
}

/// True if kernels of some PEs time-slice one GPU, as without MPS. A kernel that waits for another's then
/// waits for its time slice at every message. Collective.
inline bool takes_turns(Job& job) {
    const int mine = job.device_heap_use().takes_turns ? 1 : 0;
    std::vector<int> all(static_cast<std::size_t>(job.n_pes()));
    job.world().fcollect(std::span(all), std::span<const int>(&mine, 1));
    return std::find(all.begin(), all.end(), 1) != all.end();
}

/// Each test uses the launched job, and is skipped, with the reason, if that has no GPU.
class OnDevice : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            job_.free(job_.malloc(1, Memory::device));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unsupported) throw;
            GTEST_SKIP() << error.what();
        }
        check_cuda(cudaSetDevice(job_.device_heap_use().number));
    }
    template <class T> T* zeros(std::size_t n) {
        return static_cast<T*>(job_.calloc(n, sizeof(T), Memory::device));
    }
    Job& job_ = current_job();
    const Context& context_ = current_job().context();
};

/// The same with arguments for kernels: the world, and a counter of the errors they find.
class OnDeviceWithKernels : public OnDevice {
  protected:
    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        team_ = job_.world().device(Memory::device);
        errors_ = zeros<int>(1);
        job_.world().barrier();
    }
    void TearDown() override {
        if (!errors_) return;
        EXPECT_EQ(context_.g(errors_, job_.my_pe()), 0);
        job_.world().barrier();
        job_.free(errors_);
    }
    device::Team team_{};
    int* errors_ = nullptr;
};

}  // namespace atl::testing
