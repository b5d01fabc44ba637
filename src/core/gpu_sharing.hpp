// How many PEs of a job share this PE's GPU, and how many blocks of a kernel each of them may have there.
#pragma once

#include "atoll/export.hpp"
#include "heap/device_heap.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atl::core {

/// What each PE tells the others of its GPU when the device heap is opened.
struct GpuUse {
    heap::DeviceUuid uuid{};
    std::uint32_t process = 0;  ///< random: PEs that are threads of one process have the same
    bool takes_turns = false;   ///< heap::DeviceFacts
    /// This process's number in that field.
    static std::uint32_t this_process();
};

/// The PEs of the job that have one PE's GPU, that PE included.
struct GpuSharing {
    int n_pes = 1;
    /// Those whose kernels run side by side, so that they divide the GPU: all of them under MPS, else those
    /// of one process. Where it is unknown whether MPS runs, it is taken to.
    int at_once = 1;
    int first_pe = 0;  ///< the lowest of `n_pes`

    bool takes_turns() const noexcept { return at_once < n_pes; }
};

/// By PE, of what each of them told.
std::vector<GpuSharing> sharing_of(const std::vector<GpuUse>& uses);

/// Of `blocks` that a GPU can run at once, those of one of `at_once` PEs. A sixteenth is left to small
/// kernels beside them, such as puts on other streams. 0: not even one.
unsigned share_of(unsigned blocks, int at_once) noexcept;

/// The line that is printed when PEs take turns on a GPU.
std::string turns_text(const GpuSharing& sharing, const heap::DeviceFacts& facts);

/// Why a grid of `blocks` is refused; the GPU can run `whole` such blocks at once.
ATOLL_API std::string grid_refusal(int gpu, unsigned long long blocks, unsigned threads, int whole);

/// For the launch functions of all languages, which know a GPU by its number: while it lives, that many PEs
/// run on the GPU at once. Each PE that is a thread of this process has one; the last one to end counts.
class SharedGpu {
  public:
    SharedGpu(int gpu, int at_once) noexcept;
    ~SharedGpu();
    SharedGpu(const SharedGpu&) = delete;
    SharedGpu& operator=(const SharedGpu&) = delete;

  private:
    int gpu_;
};

}  // namespace atl::core
