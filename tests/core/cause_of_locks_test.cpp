// Causes of hangs with locks, exceptions that Python ignored, and rings in which one PE is behind.
#include "core/hang/cause.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::PeDoing;
using common::PeState;

/// The activities of three PEs that run.
std::vector<PeDoing> running() {
    std::vector<PeDoing> doing(3, common::of_state(PeState::running, "running"));
    for (PeDoing& one : doing) one.process = 'R';
    return doing;
}

void wait(PeDoing& one, const char* operation, int missing, const char* site) {
    one.waits = true;
    one.process = 'S';
    one.wait.missing[0] = missing;
    std::snprintf(one.wait.operation, sizeof one.wait.operation, "%s", operation);
    std::snprintf(one.wait.site, sizeof one.wait.site, "%s", site);
}

TEST(CauseOfLocks, ThePlaceOfTheHolderIsNamed) {
    std::vector<PeDoing> doing = running();
    doing[1].site = "x.py:8";
    doing[1].held = {{0x40, 0, "x.py:7"}, {0x80, 0, "x.py:5"}};
    for (const int pe : {0, 2}) {
        wait(doing[static_cast<std::size_t>(pe)], "Lock.acquire", 1, "x.py:10");
        doing[static_cast<std::size_t>(pe)].wait.offset = 0x40;
    }
    EXPECT_EQ(find_cause(doing).sentence,
              "PE 1 is in its own code at x.py:8, and PE 0,2 wait for it in Lock.acquire at x.py:10; PE 1 "
              "holds the lock that PE 0 waits for, acquired at x.py:7");
}

TEST(CauseOfLocks, APlaceThatIsNotKnownIsLeftOut) {
    std::vector<PeDoing> doing = running();
    doing[1].held = {{0x40, 0x1234, ""}};
    wait(doing[0], "Lock::lock", 1, "x.cpp:10");
    doing[0].wait.offset = 0x40;
    EXPECT_EQ(find_cause(doing).sentence,
              "PE 1 is in its own code, and PE 0 waits for it in Lock::lock at x.cpp:10");
}

TEST(CauseOfLocks, AnIgnoredExceptionComesFirst) {
    std::vector<PeDoing> doing = running();
    doing[2].ignored = "ValueError at x.py:3";
    wait(doing[0], "barrier", 1, "x.py:9");
    const Cause cause = find_cause(doing);
    EXPECT_EQ(cause.sentence,
              "PE 2 went on after an exception in a callback or thread (ValueError at x.py:3), which Python "
              "ignored; PE 1 is in its own code, and PE 0 waits for it in barrier at x.py:9");
    EXPECT_EQ(cause.pes, (std::vector<int>{2, 1}));
}

TEST(CauseOfWords, TheOnlyPeThatHasNotSignalledIsNamed) {
    std::vector<PeDoing> doing = running();
    wait(doing[0], "signal_wait_until", -1, "x.py:14");
    doing[0].text = "signal_wait_until on s";
    doing[0].wait.word_bytes = 8;
    doing[0].wait.offset = 0x40;
    for (const int pe : {1, 2}) wait(doing[static_cast<std::size_t>(pe)], "barrier", 0, "x.py:15");
    for (const std::size_t pe : {0, 2}) doing[pe].signals.push_back({0x40, 1, 0, common::UpdateKind::add, 1});
    const std::string cause = find_cause(doing).sentence;
    EXPECT_TRUE(
        cause.starts_with("PE 1 has not signalled the awaited word (PE 0,2 last added 1 to it); "
                          "PE 0 waits in signal_wait_until on s"))
        << cause;
}

TEST(CauseOfRings, ThePeWithTheLeastValueIsBehind) {
    std::vector<PeDoing> doing = running();
    for (int pe = 0; pe < 3; ++pe) {
        PeDoing& one = doing[static_cast<std::size_t>(pe)];
        wait(one, "wait_until", (pe + 2) % 3, "x.c:9");
        one.wait.word_bytes = 8;
        one.wait.offset = 0x40;
        one.wait.expected = pe == 1 ? 7 : 8;
        one.wait.compare = static_cast<std::uint32_t>(Compare::ge);
    }
    const Cause cause = find_cause(doing);
    EXPECT_EQ(cause.sentence,
              "PE 0 is behind; PE 1 waits for it in wait_until at x.c:9, and PE 0,2 wait for later values");
    EXPECT_EQ(cause.pes, std::vector<int>{0});
}

/// A lock of a file, for which PEs wait outside Atoll.
TEST_F(HangCause, TheLockOfAFile) {
    wait(1, "sum_reduce", {2}, "x.c:46");
    wait(0, "sum_reduce", {2}, "x.c:46");
    for (const int number : {2, 3}) {
        pe(number).file_lock_pe = 1;
        pe(number).site = "main at x.c:23";
    }
    EXPECT_EQ(cause(),
              "PE 1 holds the lock of a file, and waits in sum_reduce at x.c:46; PE 2,3 wait for that lock, "
              "in main at "
              "x.c:23");
    pe(2).file_lock = "results.txt";
    EXPECT_TRUE(cause().starts_with("PE 1 holds the lock of the file results.txt, and")) << cause();
    EXPECT_EQ(find_cause(doing).pes.front(), 1);
    pe(3).file_lock_pe = 0;  // another lock
    EXPECT_TRUE(cause().ends_with("; PE 2 waits for that lock, in main at x.c:23")) << cause();
}

}  // namespace
}  // namespace atl::core
