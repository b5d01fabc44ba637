// Addresses that are the host's for certain, found without asking a GPU's driver.
#pragma once

#include <cstdint>

namespace atl::core {

/// Of the program's stack or its heap as brk makes it, where most small objects stand. Made once: where the
/// heap begins is read from /proc.
class HostMemory {
  public:
    HostMemory();
    /// False says nothing.
    bool surely_has(const void* address) const noexcept;

  private:
    std::uintptr_t brk_begin_ = 0;  ///< 0: there is none
};

}  // namespace atl::core
