// The allocator of offsets: alone, against a model that keeps a list, and against a second one that gets the
// same calls.
#include "memory/allocator.hpp"

#include "support/setups.hpp"

#include <iterator>
#include <map>

namespace atl::testing {
namespace {

using memory::Allocator;
constexpr std::size_t unit = Allocator::granule;

TEST(AllocatorOfOffsets, TakesTheSmallestHoleThatFits) {
    Allocator heap(100 * unit);
    const auto a = heap.allocate(10 * unit, 0), b = heap.allocate(unit, 0);
    const auto c = heap.allocate(4 * unit, 0), d = heap.allocate(unit, 0);
    ASSERT_TRUE(a && b && c && d);
    heap.free(a->offset);
    heap.free(c->offset);
    EXPECT_EQ(heap.allocate(3 * unit, 0)->offset, c->offset);
    EXPECT_EQ(heap.allocate(5 * unit, 0)->offset, a->offset);
}

TEST(AllocatorOfOffsets, KnowsWhereNoBlockIs) {
    memory::Allocator allocator(4096);
    EXPECT_TRUE(allocator.is_unused(0, 4096));
    const std::size_t first = allocator.allocate(100, 0)->offset, second = allocator.allocate(64, 0)->offset;
    ASSERT_EQ(first, 0u);
    ASSERT_EQ(second, 128u);
    EXPECT_FALSE(allocator.is_unused(127, 128)) << "reserved with the block";
    EXPECT_FALSE(allocator.is_unused(100, 4096));
    EXPECT_TRUE(allocator.is_unused(192, 4096));
    allocator.free(first);
    EXPECT_TRUE(allocator.is_unused(0, 128));
    EXPECT_FALSE(allocator.is_unused(0, 129));
}

TEST(AllocatorOfOffsets, BlocksShareNoCacheLine) {
    Allocator heap(100 * unit);
    std::size_t end = 0;
    for (const std::size_t bytes : {1u, 63u, 64u, 65u, 7u}) {
        const auto block = heap.allocate(bytes, 0);
        EXPECT_EQ(block->offset % unit, 0u);
        EXPECT_GE(block->offset, end);
        EXPECT_EQ(block->bytes, bytes);
        end = block->offset + bytes;
    }
    EXPECT_EQ(heap.blocks(), 5u);
}

TEST(AllocatorOfOffsets, AlignsAndUsesTheGap) {
    Allocator heap(1 << 20);
    ASSERT_TRUE(heap.allocate(1, 0));
    for (std::size_t align = 64; align <= 1 << 18; align *= 2) {
        const auto block = heap.allocate(100, align);
        ASSERT_TRUE(block) << align;
        EXPECT_EQ(block->offset % align, 0u) << align;
        heap.free(block->offset);
    }
    const auto high = heap.allocate(1, 1 << 18);
    EXPECT_LT(heap.allocate(1000, 0)->offset, high->offset);
}

TEST(AllocatorOfOffsets, NeighboursMerge) {
    Allocator heap(64 * unit);
    std::vector<std::size_t> offsets;
    while (const auto block = heap.allocate(1, 0)) offsets.push_back(block->offset);
    EXPECT_EQ(offsets.size(), 64u);
    EXPECT_EQ(heap.largest_free_bytes(), 0u);
    for (std::size_t i = 0; i < 64; i += 2) heap.free(offsets[i]);
    EXPECT_EQ(heap.largest_free_bytes(), unit);
    for (std::size_t i = 1; i < 64; i += 2) heap.free(offsets[i]);
    EXPECT_EQ(heap.largest_free_bytes(), heap.limit_bytes());
    EXPECT_EQ(heap.used_bytes(), 0u);
}

TEST(AllocatorOfOffsets, RefusesWhatDoesNotFit) {
    Allocator heap(1000);
    EXPECT_EQ(heap.limit_bytes(), 960u);
    EXPECT_FALSE(heap.allocate(961, 0));
    EXPECT_FALSE(heap.allocate(SIZE_MAX, 0));
    EXPECT_FALSE(heap.allocate(SIZE_MAX - 10, 64));
    EXPECT_FALSE(heap.allocate(1, std::size_t{1} << 62));
    EXPECT_TRUE(heap.allocate(960, 0));
    EXPECT_FALSE(Allocator(0).allocate(1, 0));
}

TEST(AllocatorOfOffsets, ResizesInPlaceWhereItCan) {
    Allocator heap(100 * unit);
    const auto a = heap.allocate(unit, 0);
    EXPECT_TRUE(heap.resize(a->offset, 50 * unit));
    EXPECT_EQ(heap.used_bytes(), 50 * unit);
    EXPECT_TRUE(heap.resize(a->offset, 2 * unit + 1));
    EXPECT_EQ(heap.used_bytes(), 3 * unit);
    const auto b = heap.allocate(unit, 0);
    EXPECT_EQ(b->offset, 3 * unit);
    EXPECT_FALSE(heap.resize(a->offset, 4 * unit));
    EXPECT_TRUE(heap.resize(a->offset, 1));
    EXPECT_FALSE(heap.resize(b->offset, SIZE_MAX));
    EXPECT_TRUE(heap.resize(b->offset, 97 * unit));
    EXPECT_FALSE(heap.resize(b->offset, 98 * unit));
    EXPECT_FALSE(heap.resize(17, 1));
    heap.free(a->offset);
    heap.free(b->offset);
    EXPECT_EQ(heap.largest_free_bytes(), 100 * unit);
}

TEST(AllocatorOfOffsets, FindsBlocksByWhatIsInside) {
    Allocator heap(100 * unit);
    const auto a = heap.allocate(100, 0), b = heap.allocate(64, 0);
    EXPECT_EQ(heap.find(a->offset + 99)->offset, a->offset);
    EXPECT_FALSE(heap.find(a->offset + 100));  // reserved, but not requested
    EXPECT_EQ(heap.find(b->offset)->bytes, 64u);
    EXPECT_FALSE(heap.find(b->offset + 64));
    EXPECT_TRUE(heap.is_block(b->offset));
    EXPECT_FALSE(heap.is_block(b->offset + 1));
    heap.free(b->offset);
    EXPECT_FALSE(heap.find(b->offset));
}

/// A model of an allocator: a list of the allocated blocks.
class Model {
  public:
    void add(std::size_t offset, std::size_t bytes, std::size_t limit) {
        const std::size_t end = offset + std::max<std::size_t>(bytes, 1);
        ASSERT_LE(end, limit);
        const auto next = blocks_.lower_bound(offset);
        if (next != blocks_.end()) {
            ASSERT_LE(end, next->first);
        }
        if (next != blocks_.begin()) {
            ASSERT_LE(std::prev(next)->first + std::prev(next)->second, offset);
        }
        blocks_[offset] = std::max<std::size_t>(bytes, 1);
        for (std::size_t i = offset; i < end; i += unit) touched_[i / unit] = true;
    }
    bool touched(std::size_t offset, std::size_t bytes) const {
        for (std::size_t i = offset / unit; i * unit < offset + bytes; ++i)
            if (touched_[i]) return true;
        return false;
    }
    void remove(std::size_t offset) { blocks_.erase(offset); }
    bool empty() const { return blocks_.empty(); }
    std::size_t size() const { return blocks_.size(); }
    std::size_t pick(std::mt19937& random) const {
        return std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(below(random, blocks_.size())))->first;
    }

  private:
    std::map<std::size_t, std::size_t> blocks_;
    std::vector<bool> touched_ = std::vector<bool>(1 << 14);
};

class AllocatorHistory : public ::testing::TestWithParam<int> {};

TEST_P(AllocatorHistory, MatchesTheModelAndItsTwin) {
    auto random = random_numbers(GetParam());
    const std::size_t limit = unit * (20 + below(random, 2000)) * (GetParam() % 2 == 0 ? 1 : 8);
    Allocator heap(limit, Allocator::Lookup::by_table), twin(limit);
    ASSERT_NE(heap.table(), nullptr);
    Model model;
    for (int step = 0; step < 1500; ++step) {
        const auto what = below(random, 10);
        const std::size_t bytes = below(random, 3) == 0 ? below(random, limit / 4) : below(random, 500);
        if (what < 5 || model.empty()) {
            const std::size_t align = below(random, 4) == 0 ? std::size_t{1} << below(random, 12) : 0;
            const auto block = heap.allocate(bytes, align), same = twin.allocate(bytes, align);
            ASSERT_EQ(block.has_value(), same.has_value());
            if (!block) {
                // With no alignment to meet, a refusal means that no hole is large enough.
                if (align <= unit) {
                    ASSERT_LT(heap.largest_free_bytes(), bytes);
                }
                continue;
            }
            ASSERT_EQ(block->offset, same->offset);
            ASSERT_EQ(block->untouched, same->untouched);
            if (align) {
                ASSERT_EQ(block->offset % align, 0u);
            }
            if (block->untouched) {
                ASSERT_FALSE(model.touched(block->offset, bytes));
            }
            model.add(block->offset, bytes, limit);
        } else if (what < 9) {
            const std::size_t offset = model.pick(random);
            heap.free(offset);
            twin.free(offset);
            model.remove(offset);
        } else {
            const std::size_t offset = model.pick(random);
            const bool resized = heap.resize(offset, bytes);
            ASSERT_EQ(twin.resize(offset, bytes), resized);
            if (!resized) continue;
            model.remove(offset);
            model.add(offset, bytes, limit);
        }
        if (HasFatalFailure()) return;
        for (int look = 0; look < 10; ++look) {
            const std::size_t near = model.empty() ? 0 : model.pick(random);
            const std::size_t offset = look % 2 == 0 ? below(random, limit) : near;
            const std::size_t size = 1 + below(random, look % 3 == 0 ? limit / 2 : 600);
            ASSERT_EQ(heap.table()->holds(offset, size), heap.holds(offset, size)) << offset << ' ' << size;
        }
        ASSERT_EQ(heap.blocks(), model.size());
        ASSERT_LE(heap.largest_free_bytes(), limit - heap.used_bytes());
    }
    while (!model.empty()) {
        const std::size_t offset = model.pick(random);
        heap.free(offset);
        model.remove(offset);
    }
    EXPECT_EQ(heap.used_bytes(), 0u);
    EXPECT_EQ(heap.largest_free_bytes(), heap.limit_bytes());  // all holes have merged
}

INSTANTIATE_TEST_SUITE_P(Seeds, AllocatorHistory, ::testing::Range(1, 13));

}  // namespace
}  // namespace atl::testing
