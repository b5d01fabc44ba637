// Causes of hangs among neighbours: edges that are counted, another PE's element, calls of two teams.
#include "support/hang_cause.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::UpdateKind;

// One test program may not use a suite's name in two files.
class CauseAmongTeams : public HangCause {};
class CauseAmongNeighbours : public UnsetWord {};

/// Neighbours of a stencil count each other's edges.
TEST_F(CauseAmongNeighbours, OnePeHasAddedLessThanItGot) {
    const auto add = [&](int from, int to, std::uint64_t count) {
        pe(from).signals.push_back({64, 1, to, UpdateKind::add, count});
    };
    add(3, 0, 40), add(3, 2, 20);
    add(0, 3, 40), add(2, 3, 19);
    EXPECT_EQ(cause(),
              fault("PE 2 has added to the awaited word 19 times, and PE 3 to that of PE 2 20 times"));
    pe(2).signals.back().count = 20;  // PE 1 is no neighbour, so its silence is no fault
    EXPECT_EQ(cause(), sentence(" (PE 0,2 last added 1 to it)"));
    pe(0).signals.back().count = 39;
    pe(2).signals.back().count = 19;  // two PEs: no blame
    EXPECT_EQ(cause(), sentence(" (PE 0,2 last added 1 to it)"));
}

/// All PEs signal the next one, each at a place of its own. PE 3 waits at PE 0's place.
TEST_F(CauseAmongNeighbours, AnElementOfAnotherPe) {
    signal(0, 1, 1);
    signal(1, 2, 1, false, 72);
    signal(2, 3, 1, false, 80);
    signal(3, 0, 1, false, 88);
    EXPECT_EQ(
        cause(),
        fault("PE 3 waits for an element that PE 0 signalled on PE 1, where PE 2 signalled others on PE 3"));
    signal(2, 1, 1, false, 80);  // leaves the pattern
    EXPECT_EQ(cause().find("waits for an element"), std::string::npos) << cause();
}

/// A pipeline with one element per item. PE 2 waits for an item that PE 1 has left out.
TEST_F(CauseAmongNeighbours, AnItemLeftOutIsNotAnotherPesElement) {
    for (int from = 0; from < 3; ++from) signal(from, from + 1, 1, false, 72);
    signal(0, 1, 1);
    EXPECT_EQ(cause().find("waits for an element"), std::string::npos) << cause();
}

/// The one PE that fills the array on PE 3 has left an item out.
TEST_F(CauseAmongNeighbours, AnItemLeftOutByTheOnlyWriter) {
    for (const std::uint64_t offset : {32, 40, 48, 56, 72, 80, 88}) {
        signal(2, 3, 1, false, offset);
        for (int from = 0; from < 2; ++from) signal(from, from + 1, 1, false, offset);
    }
    signal(0, 1, 1);
    EXPECT_EQ(cause(),
              fault("PE 2 is not known to have signalled the awaited element, and signalled 7 others "
                    "of that array on PE 3"));
    signal(1, 3, 1, false, 72);  // a second writer: no blame
    EXPECT_EQ(cause().find("others of that array"), std::string::npos) << cause();
}

/// PE 0 has set the word twice, and PE 3 has not seen the first value.
TEST_F(CauseAmongNeighbours, AValueThatWasOverwritten) {
    const auto waits_for = [&](std::uint64_t value) {
        pe(3).wait.compare = static_cast<std::uint32_t>(Compare::eq);
        pe(3).wait.expected = value;
        pe(3).wait.found = 2;
    };
    signal(0, 3, 2);
    const std::string past = "PE 0 last set the awaited word to 2, past the ";
    waits_for(1);
    EXPECT_EQ(cause(), fault(past + "1 that PE 3 waits for"));
    for (const std::uint64_t value : {3, 0}) {  // 0: a reset
        waits_for(value);
        EXPECT_EQ(cause().find("past the"), std::string::npos) << cause();
    }
}

/// The waiting PE, of three, has reset its word: no answer that a silent PE owes as well.
TEST_F(CauseAmongNeighbours, AResetBlamesNoSilentPe) {
    doing = {pe(3), pe(1), pe(2)};
    for (const int number : {1, 2}) pe(number).wait.missing[0] = 0;
    signal(1, 0, 1);
    signal(0, 0, 0);
    EXPECT_EQ(cause(),
              "PE 0 waits in signal_wait_until (PE 1 last set it to 1, PE 0 itself last set it to 0), and "
              "every PE waits: none is left that could set it");
}

/// PE 0 and 1 signal each other, as PE 2 and 3 should. Or all signal the PE before them, except for PE 0.
TEST_F(CauseAmongNeighbours, APairOrARing) {
    signal(0, 1, 1);
    signal(1, 0, 1);
    signal(2, 1, 1);
    signal(3, 2, 1);
    EXPECT_EQ(cause(), fault("PE 0,2 signalled the awaited word of PE 1, and none is known on PE 3"));
}

/// Children of a tree add to the word of their parent. PE 1 has taken PE 2 for it.
TEST_F(CauseAmongNeighbours, AnotherParent) {
    signal(1, 2, 1, true);
    signal(2, 3, 1, true);
    signal(0, 1, 1, true);
    EXPECT_EQ(cause(), sentence(" (PE 2 last added 1 to it, PE 0 updated that of PE 1, PE 1 updated that of "
                                "PE 2)"));
}

/// PE 2 went on to a call of a second team. Two members of the first wait for it, and one PE waits in the
/// world's call.
TEST_F(CauseAmongTeams, MostWaitForOneOfTwoPes) {
    const auto calls = [&](int number, std::uint32_t team) {
        pe(number).wait.call = 4;
        pe(number).wait.team_id = team + 1;
        pe(number).wait.team = static_cast<int>(team);
    };
    wait(0, "finalize", {1, 2, 3}, "a.py:9");
    wait(2, "barrier", {0}, "a.py:5");
    for (const int number : {1, 3}) wait(number, "sync", {2}, "a.py:4");
    calls(0, 0), calls(1, 1), calls(2, 2), calls(3, 1);
    EXPECT_EQ(
        cause(),
        "PE 2 waits in barrier of team 2 at a.py:5, and PE 1,3 wait for it in sync of team 1 at a.py:4");
}

}  // namespace
}  // namespace atl::core
