#include "core/calls/call_text.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

/// Sites of C and C++ end with a function, those of Python with the user's call of distributed arrays.
TEST(WithSite, NamesTheCallOfTheUserFirst) {
    EXPECT_EQ(with_site("barrier", ""), "barrier");
    EXPECT_EQ(with_site("barrier", "x.py:8"), "barrier at x.py:8");
    EXPECT_EQ(with_site("barrier()", "solve.c:8 (main+0x4f)"), "barrier() at solve.c:8 (main+0x4f)");
    EXPECT_EQ(with_site("barrier()", "main+0x4f (program)"), "barrier() at main+0x4f (program)");
    const std::string text = with_site("reduce(bytes=8, op=max)", "/home/x.py:8 (sum)");
    EXPECT_EQ(text, "sum at /home/x.py:8 (its reduce(bytes=8, op=max))");
    EXPECT_EQ(split_site(text),
              std::pair(std::string("reduce(bytes=8, op=max)"), std::string("/home/x.py:8 (sum)")));
    EXPECT_EQ(split_site("barrier() at x.c:8 (main+0x4f)"),
              std::pair(std::string("barrier()"), std::string("x.c:8 (main+0x4f)")));
}

}  // namespace
}  // namespace atl::core
