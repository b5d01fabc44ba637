// AllocationSites: the calls that allocated the blocks of symmetric memory, for waits and errors in C and
// C++.
#pragma once

#include "common/elf/call_site.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace atl::core {

/// Written by allocations only, which are collective. Any thread may read.
class AllocationSites {
  public:
    /// Records the program's call of the library. Records nothing if a language front names memory itself.
    void note(const void* block, std::size_t bytes);
    /// Marks the block as freed. It is remembered until another block takes its memory.
    void note_freed(const void* block) noexcept;

    /// Returns a text such as "byte 8 of the 64 bytes allocated at solver.c:12 (main+0x4f)". Empty if no
    /// block with a known call has this address.
    std::string name(const void* address) const { return found(address, false); }
    /// The same for a block that was freed.
    std::string freed_name(const void* address) const { return found(address, true); }

  private:
    struct Site {
        std::size_t bytes;
        common::CallFrames frames;
        bool is_freed = false;
        mutable std::optional<std::string> text{};  ///< cache, since debug information is read slowly
    };
    std::string found(const void* address, bool freed) const;
    void forget_between(const char* begin, const char* end);

    mutable std::mutex mutex_;
    std::map<const char*, Site> sites_;
    std::size_t freed_ = 0;  ///< number of sites of freed blocks
};

}  // namespace atl::core
