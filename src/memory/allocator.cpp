#include "memory/allocator.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"
#include "memory/round_up.hpp"

#include <algorithm>
#include <iterator>

namespace atl::memory {

Allocator::Allocator(std::size_t limit_bytes, Lookup lookup)
    : limit_(limit_bytes / granule * granule),
      table_(lookup == Lookup::by_table ? BlockTable::create(limit_) : nullptr) {
    if (limit_ != 0) add_free(0, limit_);
}

std::optional<Allocator::Block> Allocator::allocate(std::size_t bytes, std::size_t align) {
    if (bytes > limit_ || align > limit_) return std::nullopt;
    const std::size_t need = std::max(round_up(bytes, granule), granule);
    align = std::max(align, granule);
    for (auto it = by_size_.lower_bound({need, 0}); it != by_size_.end(); ++it) {
        const auto [size, offset] = *it;
        const std::size_t start = round_up(offset, align);
        if (start - offset > size - need) continue;
        remove_free(offset, size);
        if (start > offset) add_free(offset, start - offset);
        if (const std::size_t rest = size - (start - offset) - need; rest != 0) add_free(start + need, rest);
        used_.emplace(start, Used{bytes, need, table_ ? table_->insert(start, bytes, need) : 0});
        used_bytes_ += need;
        const bool untouched = start >= high_water_;
        high_water_ = std::max(high_water_, start + need);
        return Block{start, bytes, untouched};
    }
    return std::nullopt;
}

void Allocator::free(std::size_t offset) {
    const auto it = used_.find(offset);
    if (it == used_.end()) return;
    const std::size_t size = it->second.reserved;
    if (table_) table_->erase(it->second.entry, offset, size);
    used_.erase(it);
    used_bytes_ -= size;
    release(offset, size);
}

/// Merges the range with its free neighbours.
void Allocator::release(std::size_t offset, std::size_t size) {
    std::size_t begin = offset;
    std::size_t end = offset + size;
    const auto next = free_.find(end);
    if (next != free_.end()) {
        end += next->second;
        remove_free(next->first, next->second);
    }
    const auto after = free_.lower_bound(begin);
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == begin) {
            begin = before->first;
            remove_free(before->first, before->second);
        }
    }
    add_free(begin, end - begin);
}

bool Allocator::resize(std::size_t offset, std::size_t bytes) {
    const auto it = used_.find(offset);
    if (it == used_.end() || bytes > limit_) return false;
    const std::size_t need = std::max(round_up(bytes, granule), granule);
    const std::size_t have = it->second.reserved;
    if (need > have) {
        const auto next = free_.find(offset + have);
        if (next == free_.end() || next->second < need - have) return false;
        const std::size_t size = next->second;
        remove_free(offset + have, size);
        if (size > need - have) add_free(offset + need, size - (need - have));
        high_water_ = std::max(high_water_, offset + need);
    } else if (need < have) {
        release(offset + need, have - need);
    }
    if (table_) table_->resize(it->second.entry, offset, have, bytes, need);
    used_bytes_ += need;
    used_bytes_ -= have;
    it->second.bytes = bytes;
    it->second.reserved = need;
    return true;
}

std::optional<Allocator::Block> Allocator::find(std::size_t offset) const {
    auto it = used_.upper_bound(offset);
    if (it == used_.begin()) return std::nullopt;
    --it;
    if (offset - it->first >= std::max(it->second.bytes, std::size_t{1})) return std::nullopt;
    return Block{it->first, it->second.bytes, false};
}

bool Allocator::is_unused(std::size_t begin, std::size_t end) const {
    const auto next = used_.lower_bound(end);
    if (next == used_.begin()) return true;
    const auto& [offset, last] = *std::prev(next);
    return offset + last.reserved <= begin;
}

bool Allocator::holds(std::size_t offset, std::size_t bytes) const {
    const auto block = find(offset);
    return block && bytes <= block->bytes - (offset - block->offset);
}

void Allocator::check(std::size_t offset, std::size_t bytes, const std::string& what,
                      const std::string& heap) const {
    auto it = used_.upper_bound(offset);
    if (it == used_.begin() || offset - (--it)->first >= it->second.reserved)
        throw Error(ErrorCode::use_after_free,
                    what + " are in no block of the " + heap +
                        " that is allocated now: it was freed already, or never allocated.");
    const std::size_t size = it->second.bytes;
    const std::size_t before = offset - it->first;
    if (before <= size && bytes <= size - before) return;
    throw Error(ErrorCode::not_symmetric,
                what + (before < size ? " reach past the end of" : " begin behind the end of") +
                    " their block, which has " + common::bytes_text(size) + " and begins " +
                    common::bytes_text(before) + " before them. Pass a smaller size, or allocate more.");
}

void Allocator::add_free(std::size_t offset, std::size_t bytes) {
    free_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
}

void Allocator::remove_free(std::size_t offset, std::size_t bytes) {
    free_.erase(offset);
    by_size_.erase({bytes, offset});
}

}  // namespace atl::memory
