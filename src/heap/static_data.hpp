// The executable's own static objects (.data and .bss) as symmetric memory: their pages are replaced by pages
// of the memory file that all PEs of a host map, at the same addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl::heap {

/// Where the executable's parts stand in this process.
struct StaticData {
    struct Segment {
        std::uintptr_t begin, file_end, end;  ///< of whole pages; behind `file_end` it was zero at the start
        int protection;
    };
    std::uintptr_t image = 0, image_end = 0;  ///< all of the executable
    std::vector<Segment> segments;  ///< what can be written; relocated constants (RELRO) are left out
    std::uint64_t identity = 0;     ///< the same for the same executable

    std::uintptr_t begin() const { return segments.empty() ? 0 : segments.front().begin; }
    std::size_t bytes() const { return segments.empty() ? 0 : segments.back().end - begin(); }
};

StaticData find_static_data();

/// Moves the segments into `fd` at `offset`, distances kept, and maps them from there at the addresses that
/// they have. No other thread may lose a store meanwhile: those that store wait. Forked children get a copy
/// of their own. Throws Error(system, out_of_memory), with everything as it was.
void share_static_data(const StaticData& data, int fd, std::size_t offset);

}  // namespace atl::heap
