// Registered memory: what this PE registered for others to reach, and the keys that it has to other PEs'. Not
// thread-safe.
#pragma once

#include "transport/ucx/library.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace atl::transport::ucx {

/// What of this PE's slot, or of a chunk of its device heap, is registered: only what somebody asked for,
/// since a network pins what is registered, and most of a slot is never touched. What is registered stays so
/// until the end. Offsets are from the beginning of it.
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

    /// The region in which `offset` lies, made now if there is none: it holds `bytes` from there on unless
    /// another region begins before. Null where UCX cannot register it (locked memory has a limit).
    const Entry* cover(std::uint64_t offset, std::uint64_t bytes);
    char* address(std::uint64_t offset) const { return base_ + offset; }
    bool is_of_gpu() const { return type_ == UCS_MEMORY_TYPE_CUDA; }

    /// Calls `visit(begin, end)` for each part of [begin, end) that is not registered.
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

    /// Before the context goes, and only when nobody reaches this PE any more.
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

/// Regions of one other PE, as far as this PE has asked for them.
class KnownKeys {
  public:
    struct Region {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t address = 0;  ///< of `begin`, in its owner
        ucp_rkey_h key = nullptr;
    };

    /// Null: not known.
    const Region* at(std::uint64_t offset) const {
        auto after = regions_.upper_bound(offset);
        if (after == regions_.begin()) return nullptr;
        const Region& region = (--after)->second;
        return offset < region.end ? &region : nullptr;
    }
    /// False where UCX cannot use `packed`. Nothing happens to a region that is known.
    bool add(const Library& ucp, ucp_ep_h endpoint, Region region, std::string_view packed);
    void destroy_all(const Library& ucp) noexcept;

  private:
    std::map<std::uint64_t, Region> regions_;  ///< by begin
};

}  // namespace atl::transport::ucx
