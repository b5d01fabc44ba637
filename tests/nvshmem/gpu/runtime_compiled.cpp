// Kernels of NVSHMEM that NVRTC compiles while the program runs, and nvshmemx_culibrary_init. Without a GPU
// it tests that they compile. ATOLL_TEST_FOLDERS: -I… of nvshmem.h, of atoll/device and of CUDA.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <nvrtc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr const char* source = R"(
#include <nvshmem.h>
#include <nvshmemx.h>
template <class T> __device__ int sum_tile(T* dst, T* src) {
    using namespace nvshmemx;
    const auto layout = make_layout(make_shape(ConstInt<4>{}, 8), make_stride(ConstInt<8>{}, ConstInt<1>{}));
    using Matrix = Tensor<T, decltype(layout)>;
    constexpr auto algo = NVLS_ONE_SHOT_PULL_NBI;
    return tile_sum_reduce_block<Matrix, Matrix, shape<>, algo>(
               NVSHMEM_TEAM_WORLD, Matrix(src, layout), Matrix(dst, layout), {}, {}, 0) |
           tile_collective_wait_block<algo>(NVSHMEM_TEAM_WORLD, 0);
}
extern "C" __global__ void ring(int* data, uint64_t* signal, float* tile, int* wrong) {
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n;
    tile[32 + threadIdx.x] = me + 1;
    if (threadIdx.x == 0) {
        nvshmem_int_p(data, me, right);
        nvshmem_fence();
        nvshmemx_signal_op(signal, 1, NVSHMEM_SIGNAL_SET, right);
        nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
        if (data[0] != (me + n - 1) % n) *wrong = 1;
    }
    nvshmemx_barrier_all_block();
    if (sum_tile(tile, tile + 32) != 0 || tile[threadIdx.x] != n * (n + 1) / 2) *wrong = 2;
    nvshmemx_barrier_all_block();
}
)";

/// The compiled program as a cubin; ends the test without one.
std::vector<char> compiled(const char* architecture) {
    nvrtcProgram program = nullptr;
    if (nvrtcCreateProgram(&program, source, "ring.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) std::exit(2);
    std::vector<std::string> folders;
    std::istringstream given(ATOLL_TEST_FOLDERS);
    for (std::string folder; given >> folder;) folders.push_back(folder);
    std::vector<const char*> options{architecture, "-std=c++17"};
    for (const std::string& folder : folders) options.push_back(folder.c_str());
    const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::size_t bytes = 0;
    nvrtcGetProgramLogSize(program, &bytes);
    std::vector<char> text(bytes + 1);
    nvrtcGetProgramLog(program, text.data());
    std::fputs(text.data(), stderr);
    if (result != NVRTC_SUCCESS || nvrtcGetCUBINSize(program, &bytes) != NVRTC_SUCCESS) std::exit(1);
    text.resize(bytes);
    nvrtcGetCUBIN(program, text.data());
    nvrtcDestroyProgram(&program);
    return text;
}

int failed(const char* what) {
    std::fprintf(stderr, "PE %d: %s\n", nvshmem_my_pe(), what);
    return 1;
}

int run(const std::vector<char>& cubin) {
    auto* data = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
    auto* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
    auto* tile = static_cast<float*>(nvshmem_calloc(64, sizeof(float)));
    int* wrong = nullptr;
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&wrong), sizeof *wrong) != cudaSuccess ||
        cudaMemset(wrong, 0, sizeof *wrong) != cudaSuccess)
        return failed("no memory of the GPU");
    if (cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
            cudaSuccess ||
        cudaLibraryGetKernel(&kernel, library, "ring") != cudaSuccess)
        return failed("the compiled program does not load");
    if (nvshmemx_culibrary_init(reinterpret_cast<CUlibrary>(library)) != 0) return failed("culibrary_init");
    void* arguments[] = {&data, &signal, &tile, &wrong};
    if (cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(32), arguments, 0, nullptr) !=
        cudaSuccess)
        return failed("no launch");
    int found = -1;
    if (cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess || found != 0)
        return failed(found == 1 ? "the ring is wrong" : "the tile is wrong, or the kernel failed");
    nvshmemx_culibrary_finalize(reinterpret_cast<CUlibrary>(library));
    nvshmem_barrier_all();
    return 0;
}

}  // namespace

int main() {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        compiled("--gpu-architecture=sm_90");
        std::puts("SKIPPED (no GPU): compiled only");
        return 0;
    }
    nvshmem_init();
    cudaDeviceProp properties{};
    const int gpu = nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus;
    if (cudaSetDevice(gpu) != cudaSuccess || cudaGetDeviceProperties(&properties, gpu) != cudaSuccess)
        return failed("no GPU");
    char architecture[64];
    std::snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", properties.major,
                  properties.minor);
    const int status = run(compiled(architecture));
    nvshmem_finalize();
    return status;
}
