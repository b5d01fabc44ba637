// KernelTrace: the log of the kernels on a PE's GPU, in pinned pages of the job board. Kernels count its
// records in their GPU's memory, since atomics there are fast.
#pragma once

#include "common/recorder/kernel_log.hpp"
#include "gpu/gpu.hpp"

namespace atl::gpu {

class KernelTrace {
  public:
    /// Pins the log. Throws Error: out_of_memory, system.
    KernelTrace(Gpu& gpu, const common::KernelLog& log);
    /// Address of the first record for kernels.
    device::TraceRecord* records() const noexcept { return records_; }
    std::uint64_t most() const noexcept { return log_.most(); }
    /// Records so far, of earlier jobs of this process.
    std::uint64_t counted() const noexcept { return log_.header().next; }
    /// Compares the clocks again, and takes over the number of records from `counter`, a word of the GPU.
    /// Kernels of this PE have ended.
    void end(const void* counter) noexcept;

  private:
    device::TraceClock compared_clocks();

    Gpu& gpu_;
    common::KernelLog log_;
    device::TraceRecord* records_ = nullptr;
};

}  // namespace atl::gpu
