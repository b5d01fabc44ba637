// Shared by tests of device heaps that a transport may have to reach. The GPU is host memory
// (tests/simulated), or with ATOLL_TEST_GPU a real one.
#pragma once

#include "atoll/atoll.hpp"
#include "core/job/job_state.hpp"
#include "gpu/gpu.hpp"
#include "support/setups.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace atl::testing {

class DeviceFar : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (std::getenv("ATOLL_TEST_GPU") || is_without_gpu) return;
        void* library = ::dlopen(ATOLL_SIMULATED_GPU, RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(::dlerror());
        const auto* plugin =
            static_cast<const gpu::DevicePlugin*>(::dlsym(library, gpu::device_plugin_symbol));
        current_job().state().devices().open_by(plugin->open);
    }
    void SetUp() override {
        if (is_without_gpu) GTEST_SKIP() << "builds with a sanitizer have no simulated GPU";
    }
    static constexpr bool is_without_gpu = sizeof ATOLL_SIMULATED_GPU == 1;
    template <class T> T* zeros(std::size_t n) {
        return static_cast<T*>(job_.calloc(n, sizeof(T), Memory::device));
    }
    /// Values in this PE's own GPU.
    template <class T> std::vector<T> values(const T* from, std::size_t n) const {
        std::vector<T> found(n);
        context_.get(found.data(), from, n, job_.my_pe());
        return found;
    }
    template <class T> void set(T* to, const std::vector<T>& from) const {
        context_.put(to, from.data(), from.size(), job_.my_pe());
    }
    void free(std::initializer_list<void*> blocks) {
        job_.world().barrier();
        for (void* block : blocks) job_.free(block);
    }
    /// True if a transport reaches some member of the world team.
    bool is_far() const {
        for (int pe = 0; pe < job_.n_pes(); ++pe)
            if (!job_.state().topology().has_window_to(pe)) return true;
        return false;
    }
    std::vector<int> numbers(std::size_t n, int pe) const {
        std::vector<int> result(n);
        std::iota(result.begin(), result.end(), pe * 1'000'003);
        return result;
    }
    Job& job_ = current_job();
    const Context& context_ = current_job().context();
};

}  // namespace atl::testing
