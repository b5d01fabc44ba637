// GPU sharing: the number of PEs on this PE's GPU, and the blocks of a kernel that each may have there.
#pragma once

#include "atoll/export.hpp"
#include "gpu/gpu.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atl::gpu {

/// Each PE's GPU, exchanged when the device heap is opened.
struct GpuUse {
    DeviceUuid uuid{};
    std::uint32_t process = 0;  ///< random; equal for PEs that are threads of one process
    bool takes_turns = false;   ///< DeviceFacts
    /// The value of `process` for this process.
    static std::uint32_t this_process();
};

/// The PEs of the job that share one PE's GPU, including that PE.
struct GpuSharing {
    int n_pes = 1;
    /// Number of PEs whose kernels run concurrently, so that they divide the GPU: all of them under MPS, else
    /// those of one process. If MPS cannot be detected, it is assumed.
    int at_once = 1;
    int first_pe = 0;  ///< the lowest of `n_pes`

    bool takes_turns() const noexcept { return at_once < n_pes; }
};

/// Returns the sharing for each PE.
std::vector<GpuSharing> sharing_of(const std::vector<GpuUse>& uses);

/// The number of blocks for each of `at_once` PEs, on a GPU that fits `blocks` at once. A sixteenth is left
/// to small concurrent kernels, such as puts on other streams. 0: not even one block each.
unsigned share_of(unsigned blocks, int at_once) noexcept;

/// The line printed when PEs time-slice a GPU.
std::string turns_text(const GpuSharing& sharing, const DeviceFacts& facts);

/// Reason for which a grid of `blocks` is refused. The GPU fits `whole` such blocks at once.
ATOLL_API std::string grid_refusal(int gpu, unsigned long long blocks, unsigned threads, int whole);

/// Registers, for its lifetime, that `at_once` PEs run on the GPU: for the launch functions of all languages,
/// which know a GPU by number. Each PE that is a thread of this process has one; the last one to end counts.
class SharedGpu {
  public:
    SharedGpu(int gpu, int at_once) noexcept;
    ~SharedGpu();
    SharedGpu(const SharedGpu&) = delete;
    SharedGpu& operator=(const SharedGpu&) = delete;

  private:
    int gpu_;
};

}  // namespace atl::gpu
