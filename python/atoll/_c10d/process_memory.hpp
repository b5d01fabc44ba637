// Memory of another process that shares none with this one: the system copies it (process_vm_readv).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace atoll_c10d {

class ProcessMemory {
  public:
    /// Does not throw: `refusal` tells if the process cannot be reached.
    ProcessMemory(pid_t process, std::string name);
    ~ProcessMemory();
    ProcessMemory(const ProcessMemory&) = delete;
    ProcessMemory& operator=(const ProcessMemory&) = delete;

    /// Compares memory there with what its process said of it. Returns the reason, with cures, why this
    /// process may not read it; empty if it may. Then it may write too.
    std::string refusal(std::uintptr_t address, const std::string& expected) const;
    /// Copies to memory there. Throws if the process has ended, or has no memory there.
    void write(std::uintptr_t address, const void* data, std::size_t bytes) const;

  private:
    const pid_t process_;
    const std::string name_;
    const int folder_;  ///< folder in /proc; remains that of this process if another one gets its number
};

}  // namespace atoll_c10d
