// DeviceStreams: work on streams of this PE's GPU, and the state of its kernels.
#pragma once

#include "gpu/gpu.hpp"
#include "gpu/gpu_sharing.hpp"
#include "gpu/heap/kernel_trace.hpp"
#include "gpu/kernel_watch.hpp"

#include <string_view>

namespace atl::gpu {

/// The calls of GpuExecutor: in stream order, or complete on return.
class DeviceStreams {
  public:
    /// `watch` is null, and `seen` as well, if there is no room for control blocks. `seen` is the address of
    /// the watch's words for kernels. `trace` is null without one.
    DeviceStreams(Gpu& gpu, KernelWatch* watch, const device::Watch* seen, const GpuSharing& sharing,
                  KernelTrace* trace)
        : gpu_(gpu), watch_(watch), seen_(seen), sharing_(sharing), trace_(trace) {}

    void check(StreamHandle stream) const { gpu_.executor().check_stream(stream); }
    void start(const DeviceCall& call, StreamHandle stream) const { gpu_.executor().start(call, stream); }
    void finish(StreamHandle stream) const {
        const KernelWatch::Finish finish(watch_);
        gpu_.executor().finish(stream);
    }
    bool is_capturing(StreamHandle stream) const { return gpu_.executor().is_capturing(stream); }
    /// The PEs that share this PE's GPU.
    const GpuSharing& sharing() const noexcept { return sharing_; }
    /// The words that waiting kernels poll, at their address for kernels. Null without control blocks.
    const device::Watch* watch() const noexcept { return seen_; }
    /// The log of kernels' events; null without a trace.
    KernelTrace* trace() const noexcept { return trace_; }
    /// Implements Job::check_kernels.
    void check_kernels() const {
        if (watch_) watch_->check();
    }
    /// Implements Job::note_kernel.
    void note_kernel(std::string_view name, unsigned blocks, unsigned threads) const {
        if (watch_) watch_->started(name, blocks, threads);
    }

  private:
    Gpu& gpu_;
    KernelWatch* watch_;
    const device::Watch* seen_;
    const GpuSharing& sharing_;
    KernelTrace* trace_;
};

}  // namespace atl::gpu
