// Streams for programs that run both on a real GPU and on one made of host memory, and so do not link CUDA.
#pragma once

#include "atoll/job.hpp"
#include "atoll/stream.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

namespace atl::testing {

inline bool has_real_gpu() { return std::getenv("ATOLL_TEST_GPU") != nullptr; }

/// A function of CUDA's driver; all return 0 for success.
template <class... Args> void driver(const char* name, Args... args) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    auto* const call = reinterpret_cast<int (*)(Args...)>(library ? ::dlsym(library, name) : nullptr);
    if (!call) throw std::runtime_error(std::string("no ") + name);
    if (const int result = call(args...); result != 0)
        throw std::runtime_error(std::string(name) + " returned " + std::to_string(result));
}

/// A stream of the device heap's GPU; null for the simulated one, whose calls are complete on return.
class GpuStream {
  public:
    explicit GpuStream(const Job& job) {
        if (!has_real_gpu()) return;
        int device = 0;
        driver("cuDeviceGet", &device, job.device_heap_use().number);
        driver("cuDevicePrimaryCtxRetain", &context_, device);
        enter();
        constexpr unsigned non_blocking = 1;
        driver("cuStreamCreate", &stream_, non_blocking);
    }
    GpuStream(const GpuStream&) = delete;
    GpuStream& operator=(const GpuStream&) = delete;

    operator Stream() const { return {stream_}; }  // NOLINT(google-explicit-constructor): it is one
    /// A graph of the work that `record` enqueues, replayed at each call.
    std::function<void()> graph(const std::function<void()>& record) const {
        enter();
        constexpr int of_this_thread = 1;
        driver("cuStreamBeginCapture_v2", stream_, of_this_thread);
        record();
        void *graph = nullptr, *ready = nullptr;
        driver("cuStreamEndCapture", stream_, &graph);
        driver("cuGraphInstantiateWithFlags", &ready, graph, 0ULL);
        return [ready, stream = stream_] { driver("cuGraphLaunch", ready, stream); };
    }

  private:
    void enter() const { driver("cuCtxSetCurrent", context_); }
    void *context_ = nullptr, *stream_ = nullptr;
};

}  // namespace atl::testing
