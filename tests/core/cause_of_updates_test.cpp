// Causes of hangs by updates that went elsewhere, were left out, or were meant for an earlier wait.
#include "support/hang_cause.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::UpdateKind;

// One test program may not use a suite's name in two files.
class CauseOfUpdates : public UnsetWord {
  public:
    /// A wait for a word of the PE itself, in the array of the fixture's word.
    common::WaitCopy& wait_for_word(int number, std::uint64_t offset, std::uint64_t found,
                                    std::uint64_t expected) {
        wait(number, "wait_until", {});
        pe(number).text = "wait_until on " + std::to_string(offset);
        common::WaitCopy& word = pe(number).wait;
        word.missing[0] = -1;
        word.word_bytes = 8;
        word.offset = offset;
        word.block_begin = 32;
        word.block_bytes = 64;
        word.found = found;
        word.expected = expected;
        word.compare = static_cast<std::uint32_t>(Compare::ge);
        return word;
    }
    void grow_to(std::size_t n) {
        while (doing.size() < n) {
            doing.push_back(doing[0]);
            doing.back().wait = {};
        }
    }
};

/// A tree of six PEs. PE 4 waits for a PE 6 that does not exist. The updates of the first level have
/// ended earlier waits. PE 0 waits behind PE 4.
TEST_F(CauseOfUpdates, AnUpdateThatWasTakenIsNoWrongIndex) {
    grow_to(6);
    for (const int number : {1, 2, 3, 5}) wait(number, "broadcast", {0});
    for (const int number : {1, 3, 5}) signal(number, number - 1, 1, false, 32);
    signal(2, 0, 1, false, 40);
    wait_for_word(0, 48, 0, 1);
    wait_for_word(4, 40, 0, 1);
    EXPECT_EQ(cause(),
              "PE 4 waits for an update of a child that it does not have: PE 1-3,5 signalled words of their "
              "parents "
              "in a binomial tree, and PE 5 is its only child; PE 4 waits in wait_until on 40; PE 0 waits in "
              "wait_until on 48, and every PE waits: none is left that could change this");
    EXPECT_EQ(find_cause(doing).pes.front(), 4);
}

/// No PE updates the index: then the element beside it may be the mistake of all.
TEST_F(CauseOfUpdates, AnIndexThatNoPeUsesMayBeMeant) {
    for (const int number : {0, 1, 2, 3}) signal(number, (number + 1) % 4, 1, false, 72);
    EXPECT_EQ(cause(), fault("PE 2 last set the element after the awaited one to 1"));
    signal(0, 1, 1);
    EXPECT_EQ(cause().find("the element after"), std::string::npos) << cause();
}

/// A ring by `(me + 1) % (n - 1)`.
TEST_F(CauseOfUpdates, ARingThatLeavesOutAPe) {
    signal(0, 1, 1);
    signal(1, 2, 1);
    signal(2, 0, 1);
    signal(3, 1, 1);
    EXPECT_EQ(cause(), no_signal("PE 0,3 signalled that of PE 1, PE 1 signalled that of PE 2, PE 2 signalled "
                                 "that of PE 0"));
}

/// A token that no PE sends first.
TEST_F(CauseOfUpdates, NoPeBegins) {
    for (const int number : {0, 1, 2, 3}) wait_for_word(number, 64, 0, 1);
    EXPECT_EQ(cause(),
              "no PE is known to have updated the awaited words: the first update is missing; PE 0-3 wait in "
              "wait_until on 64, and every PE waits: none is left that could change this");
}

/// A tree begins at PE 1, which has taken its number in the tree for its own.
TEST_F(CauseOfUpdates, ASignalToItselfAmongOthers) {
    signal(0, 1, 1);
    signal(0, 2, 1);
    signal(1, 3, 1);
    signal(1, 1, 2);
    signal(1, 2, 2);
    signal(2, 3, 2);
    std::swap(doing[0], doing[3]);  // PE 0 waits for the word
    for (auto& one : doing)
        for (auto& seen : one.signals) seen.pe = seen.pe == 3 ? 3 : seen.pe;
    for (const int number : {1, 2, 3}) pe(number).wait.missing[0] = 0;
    doing[0].signals = {};
    pe(0).wait.expected = 2;
    pe(0).wait.compare = static_cast<std::uint32_t>(Compare::ge);
    signal(0, 1, 1);
    signal(0, 2, 1);
    EXPECT_TRUE(
        cause().starts_with("PE 1 signalled its own copy of the awaited word, and none is known on PE "
                            "0; PE 0 waits in signal_wait_until"))
        << cause();
    pe(0).wait.expected = 3;  // its value would not end the wait
    EXPECT_EQ(cause().find("its own copy"), std::string::npos) << cause();
}

/// Rows of a grid of 2 x 3 PEs that are reached by 2 in place of 3, up and down.
TEST_F(CauseOfUpdates, APatternThatAllFollowMayBeTheMistake) {
    grow_to(6);
    for (const int number : {0, 1, 2}) signal(number, number + 2, 1, false, 64);
    for (const int number : {3, 4, 5}) signal(number, number - 2, 1, false, 72);
    wait_for_word(5, 64, 0, 1);
    wait_for_word(0, 72, 0, 1);
    for (const int number : {1, 2, 3, 4}) wait(number, "barrier", {0, 5});
    pe(3).wait.word_bytes = 0;
    EXPECT_EQ(
        cause(),
        "PE 5 waits in wait_until on 64, for a word that no PE is known to have signalled (PE 0 signalled "
        "that of PE 2, PE 1 signalled that of PE 3, PE 2 signalled that of PE 4); PE 0 waits in wait_until "
        "on 72, for a word that no PE is known to have signalled (PE 3 signalled that of PE 1, PE 4 "
        "signalled that of PE 2, PE 5 signalled that of PE 3), and every PE waits: none is left that could "
        "change this");
    signal(2, 0, 1, false, 72);  // one PE alone is left out: the pattern is certain
    wait(0, "barrier", {5});
    pe(0).wait = pe(1).wait;
    EXPECT_TRUE(
        cause().starts_with("PE 3 is not known to have signalled the awaited word, as the pattern of the "
                            "others has it (PE 0 signalled that "
                            "of PE 2, PE 1 signalled that of PE 3, PE 2 signalled that of PE 4)"))
        << cause();
    signal(3, 5, 1, false, 72);  // it updated the element beside
    EXPECT_TRUE(cause().starts_with("PE 3 last set the element after the awaited one to 1")) << cause();
}

/// PE 0 collects tiles, an element for each PE, and then tells all to go on.
TEST_F(CauseOfUpdates, AnElementThatOnePeOfACircleLeftOut) {
    wait_for_word(0, 48, 3, 4);
    for (const int number : {1, 2, 3}) {
        wait_for_word(number, 256, 3, 4);
        signal(number, 0, number == 2 ? 3 : 4, false, 32 + 8 * static_cast<std::uint64_t>(number));
        signal(0, number, 3, false, 256);
    }
    EXPECT_EQ(
        cause(),
        "PE 2 left out an update of PE 0: PE 0 waits in wait_until (found 3, waiting for >= 4, PE 2 last "
        "set it to 3), where PE 1,3 set other elements of that array to 4, and PE 2 waits for it in "
        "wait_until (found 3, waiting for >= 4, PE 0 last set it to 3, and updated that of PE 1,3 too)");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{2, 0}));
    for (const int number : {1, 3}) pe(number).signals[0].value = 3;  // no PE is ahead of another
    EXPECT_EQ(cause().find("left out"), std::string::npos) << cause();
}

/// A queue of four places: PE 2 has got 66 items and waits for the next, and has given back 62 places.
TEST_F(CauseOfUpdates, FewerCreditsThanItems) {
    wait_for_word(1, 256, 62, 63);
    wait_for_word(2, 64, 66, 67);
    wait(3, "barrier", {1, 2});
    pe(3).wait.word_bytes = 0;
    pe(1).signals.push_back({64, 1, 2, UpdateKind::add, 66});
    pe(2).signals.push_back({256, 1, 1, UpdateKind::add, 62});
    EXPECT_TRUE(cause().starts_with("PE 2 left out an update of PE 1: PE 1 waits in wait_until (found 62, "))
        << cause();
    pe(1).wait.found = 66;
    pe(1).wait.expected = 67;
    EXPECT_EQ(cause().find("left out"), std::string::npos) << cause();
}

/// PE 1 sets a flag, and PE 2 acknowledges it and sets it back. It did so once after the next flag.
TEST_F(CauseOfUpdates, AFlagThatWasSetBackTooLate) {
    for (const int number : {1, 2}) {
        wait_for_word(number, number == 1 ? 256 : 64, 0, 1).compare = static_cast<std::uint32_t>(Compare::eq);
        std::snprintf(pe(number).wait.name, sizeof pe(number).wait.name, "%s", number == 1 ? "ack" : "flag");
    }
    wait(3, "barrier", {1, 2});
    pe(3).wait.word_bytes = 0;
    pe(1).writes.push_back({64, 1, 2, UpdateKind::set, 11});
    pe(2).writes.push_back({256, 1, 1, UpdateKind::set, 10});
    EXPECT_EQ(cause(),
              "PE 2 has set its awaited word, flag, back to 0 after PE 1 had set it to 1, 11 times, of which "
              "PE 2 has "
              "answered 10; PE 2 waits in wait_until, and PE 1 waits for it in wait_until");
    pe(2).writes[0].count = 11;
    EXPECT_EQ(cause().find("back"), std::string::npos) << cause();
}

/// PE 0 tells two of three producers what it has taken. The circle of PE 0 and 1 follows from it.
TEST_F(CauseOfUpdates, AWordBesideACircleThatOneOfItLeftOut) {
    wait_for_word(0, 80, 10, 18).compare = static_cast<std::uint32_t>(Compare::eq);
    for (const int number : {1, 2, 3})
        wait_for_word(number, 64, number == 3 ? 0 : 16, number == 3 ? 9 : 17).compare =
            static_cast<std::uint32_t>(Compare::gt);
    for (const int number : {1, 2}) {
        write(0, {64, 16, number, UpdateKind::set, 4});
        write(number, {64, 10, 0, UpdateKind::set, 2});
    }
    pe(1).writes[0].offset = 80;
    pe(2).writes[0].offset = 88;
    EXPECT_EQ(
        cause(),
        "PE 0 updated the awaited word of PE 1,2, and none is known on PE 3; PE 3 waits in wait_until on "
        "64; PE 0,1 wait for each other");
}

/// A lock of tickets: PE 0 went on to a barrier, and did not give the lock back.
TEST_F(CauseOfUpdates, ThePeThatDoesNotPollWentOn) {
    std::snprintf(wait(0, "barrier", {1}).wait.site, 9, "a.py:45");
    write(0, {64, 1, 0, UpdateKind::add, 9});
    for (const int number : {1, 2, 3}) {
        wait_for_word(number, 64, 152, 0).compare = common::compared_by_program;
        pe(number).wait.word_pe = 0;
        pe(number).text = "a loop of atomic_fetch";
    }
    EXPECT_EQ(
        cause(),
        "PE 0 last added 1 to the awaited word, and waits in barrier at a.py:45; PE 1-3 wait in a loop of "
        "atomic_fetch, and every PE waits: none is left that could change this");
    EXPECT_EQ(find_cause(doing).pes.front(), 0);
    wait(1, "barrier", {2}).wait = pe(0).wait;  // two PEs may have to give it back
    EXPECT_EQ(cause().find("and waits in"), std::string::npos) << cause();
}

/// PE 3 counts arrivals and has reset the counter after the next round had begun.
TEST_F(CauseOfUpdates, ACounterThatWasSetBack) {
    pe(3).wait.expected = 3;
    for (const int number : {0, 1, 2}) write(number, {64, 1, 3, UpdateKind::add, 5});
    EXPECT_EQ(cause(),
              fault("PE 3 has set the awaited word back, and PE 0-2 have each added 1 to it 5 times"));
    pe(3).wait.found = 15;
    EXPECT_EQ(cause(), sentence(" (PE 0-2 last added 1 to it)"));
}

/// PE 3 is a server and waits for one addition of each PE, though it adds none itself.
TEST_F(CauseOfUpdates, ACountThatIncludesTheWaitingPe) {
    pe(3).wait.found = 6;
    pe(3).wait.expected = 8;
    for (const int number : {0, 1, 2}) write(number, {64, 1, 3, UpdateKind::add, 2});
    EXPECT_EQ(cause(),
              fault("PE 3 waits for 8, and each of the 3 other PEs has added 2 to the awaited word: it "
                    "waits for an addition of its own"));
    pe(3).wait.expected = 9;
    EXPECT_EQ(cause(), sentence(" (PE 0-2 last added 1 to it)"));
}

TEST_F(CauseOfUpdates, OnePeSetsWhatTheOthersAdd) {
    pe(3).wait.found = 1;
    pe(3).wait.expected = 3;
    for (const int number : {0, 1}) write(number, {64, 1, 3, UpdateKind::add, 1});
    write(2, {64, 1, 3, UpdateKind::set, 1});
    EXPECT_EQ(cause(), fault("PE 2 last set the awaited word to 1, to which PE 0,1 add 1"));
    pe(2).writes[0].value = 0;  // a reset
    EXPECT_EQ(cause().find("to which"), std::string::npos) << cause();
}

/// Each PE sets the number of the next ticket. PE 1 has left out its turn.
TEST_F(CauseOfUpdates, ATurnThatIsLeftOut) {
    pe(3).wait.found = 28;
    pe(3).wait.expected = 29;
    pe(3).wait.compare = static_cast<std::uint32_t>(Compare::eq);
    std::uint64_t value = 25;
    for (const int number : {1, 3, 0, 2}) write(number, {64, value++, 3, UpdateKind::set});
    EXPECT_EQ(cause(),
              fault("PE 1 last set the awaited word to 25, then PE 3,0,2 set it to 26 to 28, and its next "
                    "turn is missing"));
    pe(2).writes[0].value = 27;  // two PEs set the same
    EXPECT_EQ(cause().find("turn"), std::string::npos) << cause();
}

/// A server awaits the element of each PE's number, and they update the one before it.
TEST_F(CauseOfUpdates, TheSameWrongIndexOfAllPes) {
    std::swap(doing[0], doing[3]);
    for (const int number : {1, 2, 3}) {
        pe(number).wait.missing[0] = 0;
        signal(number, 0, 1, false, 24 + 8 * static_cast<std::uint64_t>(number));
    }
    pe(0).wait.offset = 56;
    EXPECT_TRUE(
        cause().starts_with("PE 1-3 updated elements 0-2 of that array on PE 0, each the one before its "
                            "own number; PE 0 waits in signal_wait_until"))
        << cause();
}

void set_line(common::UpdateSeen& seen, const char* line) {
    std::snprintf(seen.site.text, sizeof seen.site.text, "%s", line);
    seen.site.is_of_last = true;
}

/// The line of each update beside it, and at the end those of a mistake.
TEST_F(CauseOfUpdates, TheLinesOfUpdates) {
    pe(3).wait.expected = 3;
    for (const int number : {0, 1, 2}) {
        write(number, {64, 1, 3, UpdateKind::add, 1});
        set_line(pe(number).writes.back(), number == 2 ? "a.py:8" : "a.py:7");
    }
    EXPECT_EQ(cause(), sentence(" (PE 0,1 last added 1 to it at a.py:7, PE 2 last added 1 to it at a.py:8)"));
    pe(2).writes[0].site.is_of_last = false;
    EXPECT_EQ(cause(),
              sentence(" (PE 2 last added 1 to it, PE 0,1 last added 1 to it at a.py:7; updates: a.py:8)"));
    pe(2).writes.clear();
    EXPECT_TRUE(
        cause().starts_with("PE 2 is not known to have updated the awaited word (PE 0,1 last added 1 to "
                            "it at a.py:7); PE 3 waits in"))
        << cause();
    write(2, {56, 1, 3, UpdateKind::set, 1});
    pe(0).writes.clear();
    pe(1).writes.clear();
    set_line(pe(2).writes.back(), "a.py:9");
    EXPECT_TRUE(cause().starts_with(
        "PE 2 last set the element before the awaited one to 1 (its updates: a.py:9); PE 3 waits in"))
        << cause();
}

/// PE 0 has not signalled PE 3, and waits for PE 1 itself, which has signalled fewer times than the others.
TEST_F(CauseOfUpdates, AnUpdateThatMayComeLaterIsNamedAfterOneThatIsMissing) {
    pe(3).wait.expected = 1;
    for (const int number : {1, 2}) signal(number, (number + 1) % 4, 1, false, 64);
    signal(3, 0, 1, false, 64);
    std::erase_if(pe(2).signals, [](const auto& seen) { return seen.pe == 3; });
    wait_for_word(0, 56, 2, 3);
    for (const int number : {1, 2, 3})
        write(number, {56, 1, number == 3 ? 0 : number + 1, UpdateKind::add, number == 3 ? 2U : 3U});
    EXPECT_NE(find_cause(doing).pes.front(), 0) << cause();
}

}  // namespace
}  // namespace atl::core
