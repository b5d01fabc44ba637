#include "transport/ucx/keys.hpp"

#include <algorithm>
#include <iterator>

namespace atl::transport::ucx {
namespace {

/// A new region is at least 1/growth of the registered memory. There are then few regions for any heap size,
/// and little memory is pinned without being used.
constexpr std::uint64_t growth = 16;

constexpr std::uint64_t down(std::uint64_t offset) {
    return offset / OwnKeys::least_bytes * OwnKeys::least_bytes;
}
constexpr std::uint64_t up(std::uint64_t offset) { return down(offset + OwnKeys::least_bytes - 1); }

}  // namespace

const OwnKeys::Entry* OwnKeys::cover(std::uint64_t offset, std::uint64_t bytes) {
    const auto after = regions_.upper_bound(offset);
    const auto before = after == regions_.begin() ? regions_.end() : std::prev(after);
    if (before != regions_.end() && offset < before->second.end) return &*before;
    const std::uint64_t most = after == regions_.end() ? bytes_ : after->first;
    const std::uint64_t least = before == regions_.end() ? 0 : before->second.end;
    const std::uint64_t begin = std::max(down(offset), least);
    const std::uint64_t asked = std::min(up(offset + bytes), most);
    const std::uint64_t grown = std::min(std::max(asked, begin + down(total_ / growth)), most);
    if (enroll(begin, grown) || (grown != asked && enroll(begin, asked))) return &*regions_.find(begin);
    return nullptr;
}

bool OwnKeys::enroll(std::uint64_t begin, std::uint64_t end) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.address = base_ + begin;
    params.length = end - begin;
    params.memory_type = type_;
    Region region;
    region.end = end;
    if (ucp_.mem_map(context_, &params, &region.memory) != UCS_OK) return false;
    void* packed = nullptr;
    std::size_t bytes = 0;
    if (ucp_.rkey_pack(context_, region.memory, &packed, &bytes) != UCS_OK) {
        ucp_.mem_unmap(context_, region.memory);
        return false;
    }
    region.key.assign(static_cast<const char*>(packed), bytes);
    ucp_.rkey_buffer_release(packed);
    regions_.emplace(begin, std::move(region));
    total_ += end - begin;
    return true;
}

void OwnKeys::unregister_all() noexcept {
    for (const auto& [begin, region] : regions_) ucp_.mem_unmap(context_, region.memory);
    regions_.clear();
}

bool KnownKeys::add(const Library& ucp, ucp_ep_h endpoint, Region region, std::string_view packed) {
    if (regions_.contains(region.begin)) return true;
    if (ucp.ep_rkey_unpack(endpoint, packed.data(), &region.key) != UCS_OK) return false;
    regions_.emplace(region.begin, region);
    return true;
}

void KnownKeys::destroy_all(const Library& ucp) noexcept {
    for (const auto& [begin, region] : regions_) ucp.rkey_destroy(region.key);
    regions_.clear();
}

}  // namespace atl::transport::ucx
