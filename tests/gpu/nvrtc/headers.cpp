// Compiles the device headers without host headers: under NVRTC, for kernels that use all of them. The header
// half.hpp needs those of CUDA (cuda_fp16.h), the others need none. Needs no GPU. Arguments: -I… of both.
#include <nvrtc.h>

#include <cstdio>
#include <vector>

namespace {

constexpr const char* source = R"(
#include <atoll/device/device.hpp>
#include <atoll/device/half.hpp>
namespace dev = atl::device;
template <class Scope> __device__ void all(dev::Team team, float* dst, const float* src, unsigned long long* flag) {
    dev::put(team, dst, src, 100, 1, Scope{});
    dev::get(team, dst, src, 100, 1, Scope{});
    dev::put_signal(team, dst, src, 100, flag, 1ull, 1, Scope{});
    dev::signal_wait_until(team, flag, dev::Compare::ge, 1ull, Scope{});
    dev::wait_until_any(team, flag, 2, nullptr, dev::Compare::ne, 1ull, Scope{});
}
template <class Scope>
__device__ void together(dev::Team team, dev::Mailbox box, float* dst, const float* src, Scope scope) {
    dev::post(team, box, src, 100, 1, scope);
    dev::receive(team, box, dst, 100, 1, scope);
    dev::barrier(team, scope);
    dev::collect(team, dst, src, 100, scope);
    dev::alltoall(team, dst, src, 100, scope);
    dev::reduce(team, dst, src, 100, dev::Sum{}, scope);
    dev::async_put(team, dst, src, 100, 1, scope);
    dev::flush(team, scope);
    const auto tile = dev::make_tile(dst, 4, 16, 20);
    dev::tile_put(team, tile, dev::make_tile(src, 4, 16, 16), 1, scope);
    dev::tile_get(team, tile, dev::make_tile(src, 4, 16, 16), 1, scope);
    dev::tile_reduce(team, tile, tile, dev::Max{}, scope);
    dev::tile_allgather(team, tile, dev::make_tile(src, 4, 16, 16), scope);
}
extern "C" __global__ void teams(dev::Team team, dev::Mailbox box, float* dst, const float* src) {
    together(team, box, dst, src, dev::Warp{});
    together(team, box, dst, src, dev::Block{});
    together(team, box, dst, src, dev::Grid{team});
    dev::atomic_add(team, dst, 1, 0);
}
template <class T, class Scope> __device__ void halves(dev::Team team, T* dst, const T* src, Scope scope) {
    dev::put(team, dst, src, 100, 1, scope);
    dev::reduce(team, dst, src, 100, dev::Sum{}, scope);
    dev::reduce_scatter(team, dst, src, 100, dev::Max{}, scope);
    const auto tile = dev::make_tile(dst, 4, 16, 20);
    dev::tile_reduce(team, tile, tile, dev::Sum{}, scope);
    dev::atomic_add(team, dst, T(1.0f), 0);
}
extern "C" __global__ void of_halves(dev::Team team, __half* x, __nv_bfloat16* y) {
    halves(team, x, x, dev::Thread{});
    halves(team, x, x, dev::Block{});
    halves(team, y, y, dev::Warp{});
    halves(team, y, y, dev::Grid{team});
}
extern "C" __global__ void kernel(dev::Team team, float* dst, const float* src, unsigned long long* flag) {
    all<dev::Thread>(team, dst, src, flag);
    all<dev::Warp>(team, dst, src, flag);
    all<dev::Block>(team, dst, src, flag);
    dev::p(team, dst, dev::g(team, src, 1), 0);
    dev::quiet(team);
}
)";

/// Few functions, since a trace changes all in the same way.
constexpr const char* traced = R"(
#define ATOLL_DEVICE_TRACE 1
#include <atoll/device/device.hpp>
namespace dev = atl::device;
extern "C" __global__ void kernel(dev::Team team, float* dst, const float* src, unsigned long long* flag) {
    const dev::TraceRange<dev::Block> range(team, "range", dev::Block{});
    const unsigned long long began = dev::trace_begin(team);
    dev::put_signal(team, dst, src, 100, flag, 1ull, 1, dev::Block{});
    dev::wait_until_any(team, flag, 2, nullptr, dev::Compare::ne, 1ull, dev::Grid{team});
    dev::barrier(team, dev::Warp{});
    dev::trace_end(team, began, "another");
}
)";

bool compiles(const char* source, const std::vector<const char*>& options) {
    nvrtcProgram program = nullptr;
    if (nvrtcCreateProgram(&program, source, "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) return false;
    const nvrtcResult result = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::size_t bytes = 0;
    nvrtcGetProgramLogSize(program, &bytes);
    std::vector<char> log(bytes + 1);
    nvrtcGetProgramLog(program, log.data());
    std::fputs(log.data(), stdout);
    nvrtcDestroyProgram(&program);
    return result == NVRTC_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<const char*> options{"--gpu-architecture=sm_90", "-std=c++17"};
    options.insert(options.end(), arguments + 1, arguments + count);
    return compiles(source, options) && compiles(traced, options) ? 0 : 1;
}
