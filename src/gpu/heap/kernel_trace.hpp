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
    /// The sink for kernels as it begins, behind the records of earlier jobs of this process.
    device::TraceSink first_sink() const noexcept { return {log_.header().sink.next, records_, log_.most()}; }
    /// Compares the clocks again, and takes over the number of records from `sink`, in memory of the GPU.
    /// Kernels of this PE have ended.
    void end(const device::TraceSink* sink) noexcept;

  private:
    device::TraceClock compared_clocks();

    Gpu& gpu_;
    common::KernelLog log_;
    device::TraceRecord* records_ = nullptr;  ///< address for kernels
};

}  // namespace atl::gpu
