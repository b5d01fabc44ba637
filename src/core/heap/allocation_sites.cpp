#include "core/heap/allocation_sites.hpp"

#include "common/text.hpp"
#include "common/wait_hooks.hpp"

#include <iterator>

namespace atl::core {

namespace {

/// Sites of freed blocks that are kept.
constexpr std::size_t most_freed = 4096;

}  // namespace

void AllocationSites::note(const void* block, std::size_t bytes) {
    if (common::wait_hooks().name != nullptr) return;
    const common::CallFrames frames = common::CallFrames::here();
    const auto* begin = static_cast<const char*>(block);
    const std::lock_guard lock(mutex_);
    forget_between(begin, begin + bytes);
    sites_.insert_or_assign(begin, Site{bytes, frames});
}

void AllocationSites::note_freed(const void* block) noexcept {
    const std::lock_guard lock(mutex_);
    const auto it = sites_.find(static_cast<const char*>(block));
    if (it == sites_.end() || it->second.is_freed) return;
    it->second.is_freed = true;
    if (++freed_ <= most_freed) return;
    std::erase_if(sites_, [](const auto& site) { return site.second.is_freed; });
    freed_ = 0;
}

void AllocationSites::forget_between(const char* begin, const char* end) {
    auto it = sites_.lower_bound(begin);
    if (it != sites_.begin() && std::prev(it)->first + std::prev(it)->second.bytes > begin) --it;
    while (it != sites_.end() && it->first < end) {
        if (it->second.is_freed) --freed_;
        it = sites_.erase(it);
    }
}

std::string AllocationSites::found(const void* address, bool freed) const {
    const auto* at = static_cast<const char*>(address);
    const std::lock_guard lock(mutex_);
    auto it = sites_.upper_bound(at);
    if (it == sites_.begin()) return {};
    const auto& [begin, site] = *--it;
    const auto offset = static_cast<std::size_t>(at - begin);
    if (offset >= site.bytes || site.is_freed != freed) return {};
    if (!site.text) site.text = common::call_site_of(site.frames);
    if (site.text->empty()) return {};
    return (offset == 0 ? "" : "byte " + std::to_string(offset) + " of ") + "the " +
           common::bytes_text(site.bytes) + " allocated at " + *site.text;
}

}  // namespace atl::core
