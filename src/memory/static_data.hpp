// The executable's own static objects (.data and .bss) as symmetric memory. Their pages are replaced, at the
// same addresses, by pages of the memory file that all PEs of a host map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl::memory {

/// Addresses of the executable's parts in this process.
struct StaticData {
    struct Segment {
        std::uintptr_t begin, file_end, end;  ///< whole pages; zero after `file_end` at the start
        int protection;
    };
    std::uintptr_t image = 0, image_end = 0;  ///< all of the executable
    std::vector<Segment> segments;            ///< writable segments, without relocated constants (RELRO)
    std::uint64_t identity = 0;               ///< equal for equal executables

    std::uintptr_t begin() const { return segments.empty() ? 0 : segments.front().begin; }
    std::size_t bytes() const { return segments.empty() ? 0 : segments.back().end - begin(); }
};

StaticData find_static_data();

/// Moves the segments into `fd` at `offset`, keeping distances, and maps them from there at their old
/// addresses. Stores by other threads wait meanwhile, so that none is lost. Forked children get a private
/// copy. Throws Error(system, out_of_memory), with everything restored.
void share_static_data(const StaticData& data, int fd, std::size_t offset);

}  // namespace atl::memory
