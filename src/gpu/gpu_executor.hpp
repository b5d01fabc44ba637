// GpuExecutor: copies and kernels of a GPU, complete on return or in stream order.
#pragma once

#include "gpu/device_calls.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

/// Calls in stream order do not wait, allocate or load. The effects of one call are visible to every PE
/// before the next of its stream begins. All calls throw Error(system), and Error(invalid_argument) for
/// memory that this GPU cannot access by itself.
class GpuExecutor {
  public:
    virtual ~GpuExecutor() = default;
    /// Sets the most blocks that collectives on streams launch, the same on all PEs.
    virtual void limit_blocks(unsigned blocks) = 0;

    // ---- complete on return
    /// Copies between any two of: the window, other memory of GPUs, memory of the host.
    virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
    virtual void fill(void* dst, unsigned char value, std::size_t bytes) = 0;
    /// Runs on a stream of this object. Returns the word's previous value.
    virtual std::uint64_t run_word(WordCall call) = 0;

    // ---- streams
    /// Returns a stream that waits for no other, nor any for it. It lives as long as this object.
    virtual StreamHandle make_stream() = 0;
    /// Throws Error(invalid_argument) unless `stream` is a stream of this GPU.
    virtual void check_stream(StreamHandle stream) const = 0;
    /// True while the stream is captured in a CUDA graph.
    virtual bool is_capturing(StreamHandle stream) const = 0;
    virtual void start(const DeviceCall& call, StreamHandle stream) = 0;
    /// Begins a copy by an engine; kernels that fill the GPU do not delay it.
    virtual void begin_copy(void* dst, const void* src, std::size_t bytes, StreamHandle stream) {
        static_cast<void>(stream);
        copy(dst, src, bytes);
    }
    /// Waits until all work of the stream is done.
    virtual void finish(StreamHandle stream) = 0;
};

}  // namespace atl::gpu
