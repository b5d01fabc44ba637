// The records of a heap's free parts against a model of each page, and the limit of kept pages.
#include "memory/freed_pages.hpp"

#include "support/setups.hpp"

#include <algorithm>

namespace atl::testing {
namespace {

using memory::FreedPages;
using Range = FreedPages::Range;

constexpr std::size_t page = 4096;

/// One entry a page, since all ranges here are whole pages.
struct PageModel {
    std::vector<bool> zero, kept;

    explicit PageModel(std::size_t pages) : zero(pages, true), kept(pages, false) {}
    bool all_zero(Range range) const {
        return std::find(zero.begin() + at(range.begin), zero.begin() + at(range.end), false) ==
               zero.begin() + at(range.end);
    }
    static void set(std::vector<bool>& which, Range range, bool value) {
        std::fill(which.begin() + at(range.begin), which.begin() + at(range.end), value);
    }
    std::size_t kept_bytes() const {
        return page * static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
    }

  private:
    static std::ptrdiff_t at(std::size_t offset) { return static_cast<std::ptrdiff_t>(offset / page); }
};

TEST(FreedPages, AgreesWithAModelOfEachPage) {
    constexpr std::size_t pages = 64;
    auto random = random_numbers(7);
    FreedPages freed(pages * page);
    PageModel model(pages);
    for (int i = 0; i < 20000; ++i) {
        const std::size_t begin = below(random, pages), end = begin + 1 + below(random, pages - begin);
        const Range range{begin * page, end * page};
        switch (below(random, 3)) {
            case 0:
                ASSERT_EQ(freed.hand_out(range), model.all_zero(range));
                model.set(model.zero, range, false);
                model.set(model.kept, range, false);
                break;
            case 1:
                freed.keep(range);
                model.set(model.kept, range, true);
                break;
            default: {
                const std::size_t most = below(random, pages) * page;
                for (const Range& gone : freed.take_beyond(most)) {
                    ASSERT_LT(gone.begin, gone.end);
                    model.set(model.kept, gone, false);
                    model.set(model.zero, gone, true);
                    freed.note_zero(gone);
                }
                ASSERT_LE(freed.kept_bytes(), most);
            }
        }
        ASSERT_EQ(freed.kept_bytes(), model.kept_bytes());
    }
}

TEST(FreedPages, TheOldestPagesGoFirstAndNoMoreThanNeeded) {
    FreedPages freed(100 * page);
    freed.keep({10 * page, 20 * page});
    freed.keep({0, 5 * page});
    EXPECT_TRUE(freed.take_beyond(15 * page).empty());
    const auto gone = freed.take_beyond(12 * page);
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].begin, 17 * page);
    EXPECT_EQ(gone[0].end, 20 * page);
    const auto rest = freed.take_beyond(0);
    ASSERT_EQ(rest.size(), 2u);
    EXPECT_EQ(rest[0].begin, 10 * page);
    EXPECT_EQ(rest[1].begin, 0u);
    EXPECT_EQ(freed.kept_bytes(), 0u);
}

TEST(FreedPages, ASixteenthOfTheMemoryIsLeftToOthers) {
    constexpr std::size_t limit = 100, kept = 80;
    EXPECT_EQ(memory::may_keep(limit, kept, 0, {1000, 1600}), limit);
    EXPECT_EQ(memory::may_keep(limit, kept, 0, {100, 1600}), limit);
    EXPECT_EQ(memory::may_keep(limit, kept, 0, {90, 1600}), kept - 10);
    EXPECT_EQ(memory::may_keep(limit, kept, 30, {100, 1600}), kept - 30) << "new pages count";
    EXPECT_EQ(memory::may_keep(limit, kept, 0, {0, 1600}), 0u);
    EXPECT_EQ(memory::may_keep(limit, kept, 500, {0, 1600}), 0u);
    EXPECT_EQ(memory::may_keep(0, kept, 0, {1000, 1600}), 0u);
    EXPECT_EQ(memory::may_keep(limit, 300, 0, {90, 1600}), limit) << "short, and far above the limit";
}

}  // namespace
}  // namespace atl::testing
