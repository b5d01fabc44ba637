#include "support/hang_cause.hpp"

#include "core/calls/call_text.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::CallSeen;
using common::EventState;
using common::PeDoing;
using common::PeState;
using common::UpdateKind;

TEST_F(HangCause, NoPeWaits) { EXPECT_EQ(cause(), ""); }

TEST_F(HangCause, OnePeIsNotThere) {
    for (const int number : {0, 2, 3}) wait(number, "barrier", {1}, "solver.py:88");
    call(1, 16, "reduce", EventState::ended).arguments[3] = 2;  // min
    pe(1).site = "solver.py:61";
    EXPECT_EQ(
        cause(),
        "PE 1 is in its own code at solver.py:61, and PE 0,2,3 wait for it in barrier at solver.py:88; its "
        "last collective call was min_reduce");
    EXPECT_EQ(find_cause(doing).pes, std::vector<int>{1});
}

TEST_F(HangCause, SeveralPesAreInOnePlace) {
    wait(1, "barrier", {0, 2, 3}, "solver.py:88");
    for (const int number : {0, 2, 3}) pe(number).site = "solver.py:61";
    EXPECT_EQ(cause(),
              "PE 0,2,3 are in their own code at solver.py:61, and PE 1 waits for them in barrier at "
              "solver.py:88");
}

/// The PE may wait for its stream in a call of CUDA's: the awaited word says more than its own code.
TEST_F(HangCause, TheGpuOfAPeWaits) {
    for (const int number : {0, 2, 3}) wait(number, "barrier", {1}, "solver.py:88");
    pe(1).text = "running, and its GPU waits: signal_wait_until on 0x10: found 0, waiting for >= 5";
    pe(1).site = "solver.py:61";
    EXPECT_EQ(
        cause(),
        "the GPU of PE 1 waits in signal_wait_until on 0x10: found 0, waiting for >= 5, and PE 0,2,3 wait "
        "for it in barrier at solver.py:88");
    EXPECT_EQ(find_cause(doing).pes, std::vector<int>{1});
}

TEST_F(HangCause, AWordOfAKernelIsNotSet) {
    for (const int number : {0, 2, 3}) wait(number, "barrier", {1}, "solver.py:88");
    wait(1, "signal_wait_until", {});
    pe(1).text =
        "its GPU waits: signal_wait_until on 0x10: found 0, waiting for >= 5, at thread 5 of block 2";
    pe(1).wait.word_bytes = 8;
    EXPECT_TRUE(
        cause().starts_with("the GPU of PE 1 waits in signal_wait_until on 0x10: found 0, waiting for >= 5, "
                            "at thread 5 of block 2, and "))
        << cause();
}

TEST_F(HangCause, CallsDiffer) {
    for (const int number : {0, 2, 3}) {
        wait(number, "reduce", {1}, "solver.py:88");
        CallSeen& seen = call(number, 17, "reduce", EventState::met);
        seen.arguments[0] = 24;
        seen.arguments[2] = 9;  // float64
    }
    wait(1, "barrier", {0}, "solver.py:61");
    call(1, 17, "barrier", EventState::begun);
    EXPECT_EQ(cause(),
              "PE 1 called barrier at solver.py:61 as call 17 of the world team, where PE 0,2,3 called "
              "sum_reduce(bytes=24, dtype=float64) at solver.py:88: the calls differ");
}

TEST_F(HangCause, RootsDiffer) {
    for (int number = 0; number < 4; ++number) {
        wait(number, "broadcast", {number == 3 ? 2 : 3});
        CallSeen& seen = call(number, 2, "broadcast", EventState::met);
        seen.arguments[0] = 8;
        seen.arguments[1] = number == 3 ? 1 : 0;
    }
    EXPECT_EQ(cause().rfind(
                  "PE 3 called broadcast(dst_bytes=8, root=1) as call 2 of the world team, where PE 0-2", 0),
              0U)
        << cause();
}

/// The usual call comes last, and those of the other PEs one by one.
TEST_F(HangCause, ThreeFormsOfOneCall) {
    for (int number = 0; number < 4; ++number) {
        wait(number, "broadcast", {number == 3 ? 2 : 3});
        CallSeen& seen = call(number, 2, "broadcast", EventState::met);
        seen.arguments[0] = 8;
        seen.arguments[1] = number == 3 ? 1 : static_cast<std::uint64_t>(number);
    }
    EXPECT_EQ(cause(),
              "PE 2 called broadcast(dst_bytes=8, root=2) as call 2 of the world team, PE 0 called "
              "broadcast(dst_bytes=8, root=0), where PE 1,3 called broadcast(dst_bytes=8, root=1): the calls "
              "differ");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{2, 0}));
}

/// The call of the PE that went on is in its recorder.
TEST_F(HangCause, ACallThatOneMemberHasLeftDiffers) {
    for (const int number : {0, 2, 3}) {
        wait(number, "reduce", {1});
        call(number, 5, "reduce", EventState::begun);
    }
    call(1, 5, "sync", EventState::ended);
    EXPECT_EQ(
        cause(),
        "PE 1 called sync() as call 5 of the world team, where PE 0,2,3 called reduce: the calls differ");
}

TEST_F(HangCause, EqualCallsWithUnknownArgumentsDoNotDiffer) {
    wait(0, "reduce", {1});
    call(0, 5, "reduce", EventState::met).arguments[0] = 8;
    call(1, 5, "reduce", EventState::begun);
    EXPECT_EQ(cause(), "PE 1 is in its own code, and PE 0 waits for it in reduce; it is within reduce");
}

TEST_F(HangCause, TwoLocks) {
    std::strcpy(wait(0, "set_lock", {1}, "a.py:5").wait.name, "lock B");
    std::strcpy(wait(1, "set_lock", {0}, "a.py:9").wait.name, "lock A");
    wait(2, "barrier", {0, 1});
    wait(3, "barrier", {0, 1});
    EXPECT_EQ(cause(),
              "PE 0,1 wait for each other: PE 0 for PE 1 in set_lock at a.py:5 (lock B), PE 1 for PE 0 in "
              "set_lock at a.py:9 (lock A)");
}

TEST_F(UnsetWord, NoSignal) {
    signal(0, 3, 1, false, 256);
    EXPECT_EQ(cause(), sentence(""));
}

TEST_F(UnsetWord, TheSignalsItGot) {
    for (const int number : {0, 1}) signal(number, 3, 1);
    signal(2, 3, 4, true);
    EXPECT_EQ(cause(), sentence(" (PE 2 last added 4 to it, PE 0,1 last set it to 1)"));
}

TEST_F(UnsetWord, ASignalToAnotherPe) {
    signal(0, 1, 1);
    signal(1, 2, 1);
    signal(2, 0, 1);
    signal(3, 0, 1);
    EXPECT_EQ(cause(),
              fault("PE 2 signalled the awaited word of PE 0, where PE 3 follows the pattern of the others"));
}

TEST_F(UnsetWord, OnePeHasNotSignalled) {
    for (const int number : {0, 2}) signal(number, 3, 1, true);
    EXPECT_EQ(cause(), fault("PE 1 has not signalled the awaited word (PE 0,2 last added 1 to it)"));
    EXPECT_EQ(find_cause(doing).pes, (std::vector{1, 3}));
}

/// A lock made of a word: PE 1 took it, and the others gave it back.
TEST_F(UnsetWord, TheHolderOfALockOfTheProgram) {
    wait(3, "a loop of atomic_compare_swap", {}).wait.found = 2;
    pe(3).wait.compare = common::compared_by_program;
    for (const int number : {0, 2, 3}) write(number, {64, 0, 3, UpdateKind::set});
    write(1, {64, 2, 3, UpdateKind::set});
    EXPECT_EQ(cause(),
              "PE 1 last set the awaited word to 2, and PE 0,2,3 last set it to 0; PE 3 waits in a loop "
              "of atomic_compare_swap, and every PE waits: none is left that could set it");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{1, 3}));
    const std::string known = cause();
    pe(0).writes_lost = true;  // the value is the number of PE 1 and 1 more
    EXPECT_EQ(cause(), known);
    pe(1).writes[0].value = pe(3).wait.found = 5;
    EXPECT_FALSE(cause().starts_with("PE 1")) << cause();
    pe(1).writes[0].value = pe(3).wait.found = 2;
    pe(0).writes_lost = false;
    write(2, {64, 2, 3, UpdateKind::set});  // a second PE of that value, or a third value: no blame
    pe(2).writes.erase(pe(2).writes.begin());
    EXPECT_EQ(cause().find("PE 1 last set the awaited word"), std::string::npos) << cause();
    pe(2).writes[0].value = 7;
    EXPECT_EQ(cause().find("PE 1 last set the awaited word"), std::string::npos) << cause();
}

/// PE 3 polls a word of PE 0, to which patterns of PEs' own words do not apply.
TEST_F(UnsetWord, APolledWordOfAnotherPe) {
    wait(3, "a loop of atomic_fetch", {}).wait.word_pe = 0;
    pe(3).wait.compare = common::compared_by_program;
    write(0, {64, 1, 0, UpdateKind::set});
    write(1, {64, 9, 3, UpdateKind::set});  // another PE's word
    EXPECT_EQ(cause(),
              "PE 3 waits in a loop of atomic_fetch (PE 0 last set it to 1; PE 1,2 are not known to have "
              "updated it), and every PE waits: none is left that could set it");
    pe(2).writes_lost = true;
    EXPECT_EQ(
        cause(),
        "PE 3 waits in a loop of atomic_fetch (PE 0 once set it to 1), and every PE waits: none is left "
        "that could set it");
}

/// Each PE adds to the next one's word, one of them fewer times.
TEST_F(UnsetWord, AnAdditionLessThanOfOthers) {
    for (const int number : {0, 1, 2}) {
        signal(number, (number + 1) % 4, 1, true);
        pe(number).signals.back().count = number == 2 ? 4 : 5;
    }
    signal(3, 0, 1, true);
    pe(3).signals.back().count = 5;
    EXPECT_EQ(
        cause(),
        fault("PE 2 has updated the awaited word 4 times, where PE 0,1,3 have updated other PEs' 5 times"));
}

TEST_F(UnsetWord, ItsOnlySenderIsWaitedFor) {
    signal(2, 3, 4);
    EXPECT_EQ(cause(),
              "PE 2,3 wait for each other: PE 2 for PE 3 in barrier, PE 3 for PE 2 in signal_wait_until "
              "(found 0, waiting for == 0, PE 2 last set it to 4)");
    pe(2).wait.call = 5;
    EXPECT_EQ(cause(),
              "PE 2 waits in barrier for PE 3, which waits for it in signal_wait_until (found 0, waiting for "
              "== 0, PE 2 last set it to 4)");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{2, 3}));
}

/// The entry of a signal to this word may have been used again.
TEST_F(UnsetWord, NothingFollowsFromSignalsThatAreNotKnown) {
    pe(1).signals_lost = true;
    for (const int number : {0, 2}) signal(number, 3, 1, true);
    EXPECT_EQ(cause(), sentence(" (PE 0,2 once added 1 to it)"));
    pe(0).signals.clear();
    EXPECT_EQ(cause(), sentence(" (PE 2 once added 1 to it)"));
}

TEST_F(UnsetWord, PutsAndAtomicOperations) {
    write(0, {48, 32, 3, UpdateKind::put});
    write(1, {64, 7, 3, UpdateKind::add});
    write(2, {64, 0, 3, UpdateKind::change});
    EXPECT_EQ(cause(),
              sentence(" (PE 1 last added 7 to it, PE 2 last changed it, PE 0 last put 32 bytes to it)"));
    pe(0).writes[0].value = 16;  // ends before the word
    EXPECT_EQ(cause(), fault("PE 0 is not known to have updated the awaited word (PE 1 last added 7 to it, "
                             "PE 2 last changed it)"));
    pe(1).writes_lost = true;
    EXPECT_EQ(cause(), sentence(" (PE 1 once added 7 to it, PE 2 once changed it)"));
    signal(0, 3, 1);  // a word rarely gets both: the other updates are no longer counted
    EXPECT_NE(cause().find("PE 0 last set it to 1)"), std::string::npos) << cause();
}

TEST_F(UnsetWord, FewerAdditionsThanTheOthers) {
    for (const int number : {0, 1, 2})
        write(number, {64, 1, 3, UpdateKind::add, number == 1 ? std::uint64_t{9} : std::uint64_t{10}});
    EXPECT_EQ(cause(), fault("PE 1 has added to the awaited word 9 times, and PE 0,2 10 times"));
}

TEST_F(UnsetWord, TheWordOfOtherPes) {
    write(0, {64, 1, 1, UpdateKind::set});
    write(0, {64, 1, 2, UpdateKind::set});
    EXPECT_EQ(cause(), fault("PE 0 updated the awaited word of PE 1,2, and none is known on PE 3"));
}

/// The record of such a wait shows one of its words.
TEST_F(UnsetWord, AWaitForAnyOfSeveralWordsIsForNoPe) {
    std::strcpy(pe(3).wait.operation, "wait_until_any");
    signal(2, 3, 4);
    EXPECT_EQ(cause().find("PE 2"), std::string::npos) << cause();
}

/// It may only have set the word to its first value.
TEST_F(UnsetWord, APutMakesNoPeTheOneThatIsWaitedFor) {
    write(2, {64, 0, 3, UpdateKind::set});
    EXPECT_EQ(cause(), sentence(" (PE 2 last set it to 0)"));
}

TEST_F(UnsetWord, AnotherWordOfItsAllocation) {
    write(0, {72, 1, 3, UpdateKind::set});
    EXPECT_EQ(cause(), fault("PE 0 last set the element after the awaited one to 1"));
    EXPECT_EQ(find_cause(doing).pes, (std::vector{0, 3}));
    pe(0).writes[0].offset = 56;
    EXPECT_EQ(cause(), fault("PE 0 last set the element before the awaited one to 1"));
    pe(0).writes[0].offset = 256;  // in another allocation
    EXPECT_EQ(cause(), sentence(""));
}

/// Each PE sets the word of its own number. The awaited word is PE 1's.
TEST_F(UnsetWord, TheWordOfAPeByItsNumber) {
    write(0, {56, 1, 3, UpdateKind::set});
    write(2, {72, 1, 3, UpdateKind::set});
    EXPECT_EQ(cause(), fault("PE 1 is not known to have updated the awaited element, and others have updated "
                             "those beside it"));
    EXPECT_EQ(find_cause(doing).pes, (std::vector{1, 3}));
    write(1, {80, 1, 3, UpdateKind::set});
    EXPECT_EQ(cause(), fault("PE 1 last set the element 2 places after the awaited one to 1"));
    pe(1).writes.clear();
    pe(2).writes_lost = true;
    EXPECT_EQ(cause(), sentence(""));
}

TEST_F(UnsetWord, EachWaitHasItsOwnSignals) {
    common::WaitCopy& awaited = wait(0, "signal_wait_until", {}).wait;
    pe(0).text = "a wait";
    awaited.missing[0] = -1;
    awaited.word_bytes = 8;
    awaited.offset = 128;
    for (const int number : {1, 2}) {
        signal(number, 3, 7);
        signal(number, 0, 5, false, 128);
    }
    EXPECT_NE(cause().find("(PE 1,2 last set it to 5"), std::string::npos) << cause();
    EXPECT_NE(cause().find("(PE 1,2 last set it to 7"), std::string::npos) << cause();
}

/// A token that went to the wrong PE in a later round.
TEST_F(UnsetWord, OneUpdateTooMany) {
    for (const int number : {0, 1, 2, 3}) signal(number, (number + 1) % 4, 1);
    signal(1, 3, 2);
    EXPECT_EQ(cause(),
              fault("PE 1 signalled the awaited word of PE 3, where PE 2 follows the pattern of the others"));
}

TEST_F(UnsetWord, OnePeIsBehind) {
    for (const int number : {0, 1, 3}) signal(number, (number + 1) % 4, 3);
    signal(2, 3, 2);
    EXPECT_EQ(cause(), fault("PE 2 last set the awaited word to 2, where PE 0,1,3 last set other PEs' to 3"));
    pe(2).signals_lost = true;
    EXPECT_EQ(cause(), sentence(" (PE 2 once set it to 2)"));
}

TEST_F(UnsetWord, TheWaitDiffersFromThoseOfOthers) {
    for (const int number : {0, 1, 2}) signal(number, number + 1, 3);
    EXPECT_EQ(cause(), sentence(" (PE 2 last set it to 3)"));
}

TEST_F(UnsetWord, ASignalToTheSenderItself) {
    signal(0, 1, 1);
    signal(2, 2, 1);
    EXPECT_EQ(cause(), fault("PE 2 signalled its own copy of the awaited word, and none is known on PE 3"));
}

TEST_F(UnsetWord, ThePartnerDoesNotAnswer) {
    signal(3, 1, 5, false, 128);
    EXPECT_EQ(cause(), fault("PE 1 is not known to have updated the awaited word, and PE 3 updates words of "
                             "PE 1 alone"));
}

/// PE 1 is alone missing in a call of PE 0 and 2, and has gone on to a call of all.
TEST_F(HangCause, ACallOfASmallerTeamIsLeftOut) {
    for (const int number : {0, 2}) {
        common::WaitCopy& in_team = wait(number, "sync", {1}, "x.c:5 (main+0x4)").wait;
        in_team.team = 2;
        in_team.team_id = 7;
        in_team.call = 3;
    }
    for (const int number : {1, 3}) {
        common::WaitCopy& in_world = wait(number, "barrier", {0, 2}, "x.c:6 (main+0x8)").wait;
        in_world.team_id = 1;
        in_world.call = 9;
    }
    EXPECT_EQ(cause(),
              "PE 1 waits in barrier of the world team at x.c:6 (main+0x8), and PE 0,2 wait for it in "
              "sync of team 2 at x.c:5 (main+0x4)");
}

/// Only the two waits that close a chain are shown.
TEST_F(UnsetWord, TheShortestCircle) {
    for (const int number : {0, 1}) {
        common::WaitCopy& awaited = wait(number, "signal_wait_until", {}).wait;
        awaited.word_bytes = 8;
        awaited.offset = 64;
    }
    wait(2, "barrier", {0, 1, 3});
    signal(2, 3, 1);
    signal(3, 0, 1);
    signal(0, 1, 1);
    EXPECT_EQ(cause().rfind("PE 2,3 wait for each other: PE 2 for PE 3 in barrier, PE 3 for PE 2 in ", 0), 0U)
        << cause();
}

TEST_F(UnsetWord, ItsOnlySenderIsElsewhere) {
    signal(2, 3, 4);
    pe(2) = common::of_state(common::PeState::running, "in its own code");
    pe(2).site = "a.py:7";
    signal(2, 3, 4);
    for (const int number : {0, 1}) wait(number, "barrier", {2});
    EXPECT_EQ(
        cause().rfind(
            "PE 2 is in its own code at a.py:7, and PE 0,1,3 wait for it in barrier or signal_wait_until", 0),
        0U)
        << cause();
}

/// PE 0 would answer PE 1, and PE 1 its PE 3, but PE 2 waits for a word that no PE updates.
TEST_F(UnsetWord, TheChainOfWaitsEndsAtAWordThatNoPeUpdates) {
    for (const int number : {0, 1, 2, 3}) {
        common::WaitCopy& awaited = wait(number, "signal_wait_until", {}).wait;
        awaited.missing[0] = -1;
        awaited.word_bytes = 8;
        awaited.offset = number == 1 || number == 3 ? 128 : number == 2 ? 256 : 64;
        if (awaited.offset == 128) pe(number).text = "a wait for down";
    }
    pe(2).text = "a wait for up";
    signal(1, 0, 1, true);
    signal(3, 1, 1, true);
    EXPECT_EQ(
        cause().rfind("PE 2 waits in a wait for up, for a word that no PE is known to have updated; ", 0), 0U)
        << cause();
    EXPECT_EQ(cause().find("is not known"), std::string::npos) << cause();
    pe(3).signals_lost = true;
    EXPECT_EQ(cause().find("known to have updated"), std::string::npos) << cause();
}

/// The waits are alike, but each PE has set its own word, and another PE needs PE 3.
TEST_F(UnsetWord, WaitersWithDifferentEvidenceAreReportedSeparately) {
    common::WaitCopy& same = wait(2, "signal_wait_until", {}).wait;
    same = pe(3).wait;
    same.missing[0] = -1;
    for (const int number : {2, 3}) {
        signal(0, number, 1);
        signal(number, number, 0);
    }
    EXPECT_EQ(cause(),
              "PE 3 waits in signal_wait_until (PE 0 last set it to 1, PE 3 itself last set it to "
              "0); PE 2 waits in signal_wait_until (PE 0 last set it to 1, PE 2 itself last set it "
              "to 0), and every PE waits: none is left that could change this");
}

/// Each PE sets the word of its own number. The awaited word is that of the waiting PE.
TEST_F(UnsetWord, AWaitForItsOwnElement) {
    for (const int number : {0, 1, 2})
        write(number, {40 + 8 * static_cast<std::uint64_t>(number), 1, 3, UpdateKind::set});
    EXPECT_EQ(cause(), fault("PE 3 waits for the element that is its own by the pattern of the others"));
}

TEST_F(UnsetWord, OneCopyGotAnotherValue) {
    for (const int number : {0, 1, 2, 3})
        for (const int to : {1, 2, 3}) signal(number, to, number == 0 && to != 3 ? 50 : 1, true);
    EXPECT_EQ(cause(), fault("PE 0 last added 50 to the awaited word of PE 1,2, and last added 1 to that of "
                             "PE 3"));
    pe(1).signals[0].value = 7;  // values differ in normal traffic, too
    EXPECT_EQ(cause(), sentence(" (PE 0-3 last added 1 to it)"));
}

/// The waiting PE has another role than the others.
TEST_F(UnsetWord, ItsOwnAdditionsAreNotCounted) {
    for (const int number : {0, 1, 2, 3})
        write(number, {64, 1, 3, UpdateKind::add, number == 3 ? std::uint64_t{1} : std::uint64_t{2}});
    EXPECT_EQ(cause(), sentence(" (PE 0-3 last added 1 to it)"));
}

TEST_F(UnsetWord, ThePeThatOmitsASignalHasEnded) {
    signal(0, 3, 1, true);
    signal(2, 3, 1, true);
    pe(1) = common::of_state(PeState::left, "ended without finalize");
    for (const int number : {0, 2}) pe(number).wait.missing[0] = -1;
    EXPECT_EQ(
        cause().rfind("PE 1 ended without finalize, and has not signalled the awaited word (PE 0,2 ", 0), 0U)
        << cause();
}

TEST_F(HangCause, TheHolderOfALockWentOn) {
    wait(2, "barrier", {3}).wait.call = 4;
    wait(3, "Lock.acquire", {2});
    EXPECT_EQ(cause(),
              "PE 2 waits in barrier for PE 3, which waits for it in Lock.acquire; PE 2 holds that lock");
}

TEST_F(UnsetWord, SignalsWithoutAPattern) {
    signal(0, 1, 1);
    signal(1, 0, 1);
    signal(2, 0, 1);
    EXPECT_EQ(cause(), no_signal("PE 1,2 signalled that of PE 0, PE 0 signalled that of PE 1"));
}

/// On a busy machine a PE sees late that its wait has ended, and shows a wait beside later ones of others.
TEST_F(HangCause, PesThatMoveAreNoCircle) {
    wait(0, "barrier", {1}).moves = true;
    wait(1, "reduce", {0});
    EXPECT_EQ(cause(), "PE 0 goes from wait to wait, and PE 1 waits for it in reduce");
    pe(1).moves = true;
    EXPECT_EQ(cause(), "");
    wait(2, "wait_until", {});
    EXPECT_EQ(cause().rfind("PE 0,1,3 go from wait to wait, and PE 2 waits in wait_until", 0), 0U) << cause();
}

TEST_F(HangCause, ACircleOfReceivers) {
    for (int number = 0; number < 4; ++number) wait(number, "recv", {(number + 1) % 4});
    EXPECT_EQ(cause().rfind("PE 0-3 wait for each other: PE 0 for PE 1 in recv, ", 0), 0U) << cause();
}

TEST_F(HangCause, AnEndedHolderOfALock) {
    for (int number = 1; number < 4; ++number) wait(number, "set_lock", {0});
    pe(0) = common::of_state(PeState::finalized, "has finalized");
    EXPECT_EQ(cause(), "PE 0 has finalized, and PE 1-3 wait for it in set_lock");
}

TEST_F(HangCause, AStoppedPe) {
    for (const int number : {0, 1, 3}) wait(number, "barrier", {2});
    pe(2).process = 'T';
    EXPECT_EQ(cause(), "PE 2 is stopped (kill -CONT 102 lets it go on), and PE 0,1,3 wait for it in barrier");
}

TEST_F(HangCause, AStoppedPeThatWaits) {
    for (int number = 0; number < 4; ++number) wait(number, "barrier", {(number + 1) % 4});
    pe(2).process = 'T';
    EXPECT_EQ(cause().rfind("PE 2 is stopped (kill -CONT 102 lets it go on)", 0), 0U) << cause();
}

TEST_F(HangCause, APeOfAnotherHostThatDoesNotAnswer) {
    wait(0, "barrier", {3});
    pe(3).process = common::silent_process;
    pe(3).text = "does not answer";
    EXPECT_EQ(cause(), "PE 3 does not answer; PE 0 waits for it in barrier");
}

TEST_F(HangCause, APeHasNotCalledInit) {
    for (int number = 0; number < 3; ++number) wait(number, "init", {3});
    pe(3) = common::of_state(PeState::absent, "has not called init");
    EXPECT_EQ(cause(), "PE 3 has not called init, and PE 0-2 wait for it in init");
}

/// The wait that no PE ends is the cause, not the others' barrier.
TEST_F(HangCause, ALostSignal) {
    for (const int number : {0, 1, 2}) wait(number, "barrier", {3});
    wait(3, "signal_wait_until on s: found 0, waiting for >= 1", {}, "ring.py:12");
    EXPECT_EQ(
        cause(),
        "PE 3 waits in signal_wait_until on s: found 0, waiting for >= 1, at ring.py:12, and every PE waits: "
        "none is left that could set it");
}

TEST_F(HangCause, ALostSignalOfAPeInFinalize) {
    for (const int number : {0, 1}) wait(number, "signal_wait_until on s", {});
    wait(2, "finalize", {0, 1}, "ring.py:20");
    wait(3, "signal_wait_until on t", {});
    EXPECT_EQ(cause(),
              "PE 2 is in finalize, and PE 0,1 wait in signal_wait_until on s; PE 3 waits in "
              "signal_wait_until on t, and every PE waits: none is left that could change this");
}

TEST_F(HangCause, ASignalOfAPeThatComputes) {
    wait(0, "barrier", {3});
    wait(3, "wait_until on s", {});
    pe(1) = common::of_state(PeState::finalized, "has finalized");
    EXPECT_EQ(cause(), "PE 2 is in its own code, and PE 3 waits in wait_until on s");
}

/// A wait in a group of torch.distributed.
void in_group(PeDoing& one, const char* group, const char* details, std::uint32_t call) {
    common::copy_text(group, one.wait.group);
    common::copy_text(details, one.wait.name);
    one.wait.team = common::team_number(group);
    one.wait.team_id = static_cast<std::uint32_t>(one.wait.team) + 7;
    one.wait.call = call;
}

TEST_F(HangCause, CollectivesOfTwoGroupsInAnotherOrder) {
    in_group(wait(0, "all_reduce", {1}, "x.py:7"), "mesh_dp", "call 1", 1);
    for (const int number : {1, 2, 3}) in_group(wait(number, "all_reduce", {0}, "x.py:8"), "0", "call 2", 2);
    EXPECT_EQ(
        cause(),
        "PE 0,1 wait for each other: PE 0 for PE 1 in all_reduce of group mesh_dp at x.py:7 (call 1), PE 1 "
        "for PE 0 in all_reduce of group 0 at x.py:8 (call 2)");
}

TEST_F(HangCause, AMessageFromAnyRank) {
    in_group(wait(0, "recv", {}, "x.py:6"), "0", "40 bytes by tag 0 from any rank", 0);
    for (const int number : {1, 2, 3}) in_group(wait(number, "barrier", {0}, "x.py:9"), "0", "call 1", 1);
    EXPECT_EQ(cause(),
              "PE 0 waits in recv, at x.py:6, and every PE waits: none is left that could send to it");
}

TEST_F(HangCause, TheReportBeginsWithTheCauseAndThePeAtFault) {
    for (const int number : {0, 1, 3}) wait(number, "barrier", {2});
    const std::string report = report_of(doing, "what the PEs are doing", "> ");
    EXPECT_EQ(report.rfind("PE 2 is in its own code, and PE 0,1,3 wait for it in barrier.\n"
                           "> what the PEs are doing:\n"
                           "  PE 2: in its own code\n"
                           "  PE 0,1,3: barrier (",
                           0),
              0U)
        << report;
}

}  // namespace
}  // namespace atl::core
