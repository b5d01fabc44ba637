// Registered memory: the regions that this PE registered, and its keys to regions of other PEs. Not
// thread-safe.
#pragma once

#include "transport/ucx/library.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace atl::transport::ucx {

/// The registered regions of this PE's slot, or of a chunk of its device heap. Regions are registered on
/// request only: networks pin registered memory, and most of a slot is never used. They stay registered until
/// the end. Offsets count from the beginning of the slot or chunk.
class OwnKeys {
  public:
    struct Region {
        std::uint64_t end = 0;
        ucp_mem_h memory = nullptr;
        std::string key;  ///< packed, for others
    };
    using Entry = std::pair<const std::uint64_t, Region>;  ///< with its begin

    static constexpr std::uint64_t least_bytes = std::uint64_t{2} << 20;

    OwnKeys(const Library& ucp, ucp_context_h context, char* base, std::uint64_t bytes,
            ucs_memory_type_t type = UCS_MEMORY_TYPE_HOST)
        : ucp_(ucp), context_(context), base_(base), bytes_(bytes), type_(type) {}
    ~OwnKeys() = default;
    OwnKeys(const OwnKeys&) = delete;
    OwnKeys& operator=(const OwnKeys&) = delete;

    /// Returns the region with `offset`, and registers one where it is missing. A new region holds `bytes`
    /// from `offset` on, unless another region begins before that end. Null if UCX cannot register it (locked
    /// memory has a limit).
    const Entry* cover(std::uint64_t offset, std::uint64_t bytes);
    char* address(std::uint64_t offset) const { return base_ + offset; }
    bool is_of_gpu() const { return type_ == UCS_MEMORY_TYPE_CUDA; }

    /// Calls `visit(begin, end)` for each unregistered part of [begin, end).
    template <class Visit> void for_each_gap(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
        for (const auto& [from, region] : regions_) {
            if (region.end <= begin) continue;
            if (from >= end) break;
            if (from > begin) visit(begin, from);
            begin = region.end;
        }
        if (begin < end) visit(begin, end);
    }
    std::size_t n_regions() const { return regions_.size(); }

    /// Call before the context is destroyed, once no PE accesses this one.
    void unregister_all() noexcept;

  private:
    bool enroll(std::uint64_t begin, std::uint64_t end);

    const Library& ucp_;
    const ucp_context_h context_;
    char* const base_;
    const std::uint64_t bytes_;
    const ucs_memory_type_t type_;
    std::uint64_t total_ = 0;  ///< bytes registered
    std::map<std::uint64_t, Region> regions_;
};

/// The regions of one other PE for which this PE has keys.
class KnownKeys {
  public:
    struct Region {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t address = 0;  ///< address of `begin` in its owner
        ucp_rkey_h key = nullptr;
    };

    /// Null if unknown.
    const Region* at(std::uint64_t offset) const {
        auto after = regions_.upper_bound(offset);
        if (after == regions_.begin()) return nullptr;
        const Region& region = (--after)->second;
        return offset < region.end ? &region : nullptr;
    }
    /// Adds a region. False if UCX cannot use `packed`. A known region stays unchanged.
    bool add(const Library& ucp, ucp_ep_h endpoint, Region region, std::string_view packed);
    void destroy_all(const Library& ucp) noexcept;

  private:
    std::map<std::uint64_t, Region> regions_;  ///< by begin
};

}  // namespace atl::transport::ucx
