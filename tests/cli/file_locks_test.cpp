// The text of /proc/locks.
#include "cli/stacks/file_locks.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace atl::cli {
namespace {

TEST(FileLocks, HoldersOfAwaitedLocksAreFound) {
    std::istringstream text(
        "1: FLOCK  ADVISORY  WRITE 17641 fe:00:10952871 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 17643 fe:00:10952871 0 EOF\n"
        "1:  -> FLOCK  ADVISORY  WRITE 17640 fe:00:10952871 0 EOF\n"
        "2: POSIX  ADVISORY  READ 5 08:02:33 128 128\n"
        "3: LEASE  ACTIVE    READ 7 08:02:34 0 EOF\n"
        "3: broken\n");
    const auto awaited = awaited_file_locks(text);
    ASSERT_EQ(awaited.size(), 2u);
    EXPECT_EQ(awaited.at(17643).holder, 17641);
    EXPECT_EQ(awaited.at(17640).holder, 17641);
    EXPECT_EQ(awaited.at(17640).file_id, "fe:00:10952871");
}

}  // namespace
}  // namespace atl::cli
