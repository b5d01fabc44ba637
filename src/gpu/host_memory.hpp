// HostMemory: recognises host addresses without asking a GPU driver.
#pragma once

#include <cstdint>

namespace atl::gpu {

/// Recognises the program's stack and its brk heap, which hold most small objects. Construct once: the start
/// of the heap is read from /proc.
class HostMemory {
  public:
    HostMemory();
    /// True only for host memory; false means unknown.
    bool surely_has(const void* address) const noexcept;

  private:
    std::uintptr_t brk_begin_ = 0;  ///< 0: unknown
};

}  // namespace atl::gpu
