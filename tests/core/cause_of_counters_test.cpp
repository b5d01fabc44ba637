// Causes of hangs by counters and flags: locks of tickets, barriers made of words, elements taken in turn.
#include "support/hang_cause.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::UpdateKind;

class CauseOfCounters : public HangCause {
  public:
    CauseOfCounters() : HangCause(3) {}
    /// A wait for a word of the PE itself, in an array of 64 bytes from 32 on.
    common::WaitCopy& wait_for(int number, const char* operation, std::uint64_t offset, std::uint64_t found,
                               std::uint64_t expected) {
        wait(number, operation, {});
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
    common::UpdateSeen& update(int from, int to, std::uint64_t offset, std::uint64_t value, UpdateKind kind,
                               std::uint64_t count = 1, const char* line = "") {
        common::UpdateSeen seen{offset, value, to, kind, count, {}};
        std::snprintf(seen.site.text, sizeof seen.site.text, "%s", line);
        return pe(from).writes.emplace_back(seen);
    }
    common::UpdateSeen& signal(int from, int to, std::uint64_t offset, std::uint64_t value,
                               const char* line = "") {
        common::UpdateSeen seen{offset, value, to, UpdateKind::set, 1, {}};
        std::snprintf(seen.site.text, sizeof seen.site.text, "%s", line);
        return pe(from).signals.emplace_back(seen);
    }
    void expect_begin(const std::string& text) { EXPECT_EQ(cause().substr(0, text.size()), text) << cause(); }
    void expect_part(const std::string& text) { EXPECT_NE(cause().find(text), std::string::npos) << cause(); }
};

/// PE 1 has taken two tickets, and has passed on none. The others wait for theirs.
class CauseOfTickets : public CauseOfCounters {
  public:
    static constexpr std::uint64_t tickets = 96, served = 64;
    CauseOfTickets() {
        for (const int number : {0, 1, 2}) {
            common::WaitCopy& word = wait_for(number, "a loop of atomic_fetch", served, 3, 0);
            word.word_pe = number == 0 ? -1 : 0;
            word.compare = common::compared_by_program;
        }
        update(0, 0, tickets, 1, UpdateKind::add, 3);
        update(0, 0, served, 1, UpdateKind::add, 2);
        update(1, 0, tickets, 1, UpdateKind::add, 3, "stock.c:9");
        update(1, 0, served, 1, UpdateKind::add, 1, "stock.c:17");
        update(2, 0, tickets, 1, UpdateKind::add, 1);
    }
};

TEST_F(CauseOfTickets, TheHolderIsNamed) {
    expect_begin(
        "PE 1 has added 1 to another word, as for a ticket, 3 times at stock.c:9, and to the awaited word 1 "
        "time: it has not passed on 3 (its updates: stock.c:17); ");
}

TEST_F(CauseOfTickets, NoneWhereAdditionsDoNotMakeTheValue) {
    for (const int number : {0, 1, 2}) pe(number).wait.found = 4;
    EXPECT_EQ(cause().find("ticket"), std::string::npos) << cause();
}

TEST_F(CauseOfTickets, NoneWhereTwoHaveKeptOne) {
    pe(2).writes.back().count = 2;
    EXPECT_EQ(cause().find("ticket"), std::string::npos) << cause();
}

/// PE 0 fills a buffer and says 0 in place of 1. It waits itself until PE 1 gives the buffer back.
TEST_F(CauseOfCounters, AFlagThatIsSetToItsFirstValue) {
    doing.pop_back();
    wait_for(0, "signal_wait_until", 128, 0, 1);
    wait_for(1, "signal_wait_until", 64, 0, 1);
    signal(0, 1, 64, 0, "buffers.py:20");
    expect_begin(
        "PE 0 has set the awaited word once, to 0, which it was before (its signals: buffers.py:20); PE 1 "
        "waits in "
        "signal_wait_until; PE 0 waits in signal_wait_until");
    pe(0).signals.back().count = 2;  // the PE may have set it back
    EXPECT_EQ(cause().find("which it was before"), std::string::npos) << cause();
}

/// The PEs set the elements in turn, from their own numbers on. PE 1 leaves out its last one.
TEST_F(CauseOfCounters, AnElementOfEveryThird) {
    wait_for(0, "wait_until", 88, 0, 1);
    for (const int number : {1, 2}) wait(number, "barrier", {0});
    for (int element = 0; element < 7; ++element)
        update(element % 3, 0, 32 + 8 * static_cast<std::uint64_t>(element), 1, UpdateKind::set);
    expect_begin(
        "PE 1 is not known to have updated element 7 of that array, the next after its 1,4 in the pattern of "
        "all; PE 0 "
        "waits in wait_until");
    pe(2).writes.back().offset = 80;  // a second writer of an element
    EXPECT_EQ(cause().find("pattern of all"), std::string::npos) << cause();
}

/// PE 1 signals the array for the other side.
TEST_F(CauseOfCounters, SignalsOfAnotherArray) {
    doing.pop_back();
    wait_for(0, "signal_wait_until", 64, 0, 1);
    wait(1, "barrier", {0});
    signal(1, 0, 160, 1, "ghosts.py:24");
    expect_begin(
        "PE 0 waits in signal_wait_until, for a word that no PE is known to have updated (signals of other "
        "words of PE "
        "0: PE 1 at ghosts.py:24), and every PE waits");
}

/// A barrier along a tree of four PEs, of which PE 1 waits for two children and has one.
TEST_F(CauseOfCounters, AWaitForMoreAdditionsIsBeforeThoseThatFollow) {
    doing.push_back(doing[0]);
    for (const int number : {0, 1}) wait_for(number, "wait_until", 64, 1, 2);
    for (const int number : {2, 3}) wait_for(number, "wait_until", 128, 0, 1);
    update(2, 0, 64, 1, UpdateKind::add);
    update(3, 1, 64, 1, UpdateKind::add);
    expect_begin(
        "PE 0 waits in wait_until (PE 2 last added 1 to it, PE 3 updated that of PE 1); PE 1 waits in "
        "wait_until (PE 3 "
        "last added 1 to it, PE 2 updated that of PE 0); PE 2,3 wait for other words");
}

/// PE 0 left an exchange of halos for a reduction, which the others do not enter.
TEST_F(CauseOfCounters, APeInACollectiveCallIsNamedWithIt) {
    doing.push_back(doing[0]);
    wait(0, "reduce", {1}, "mean.py:16");
    call(0, 7, "max_reduce", common::EventState::begun);
    for (const int number : {1, 2, 3}) {
        common::WaitCopy& word = wait_for(number, "signal_wait_until", 64, 11, 12);
        std::snprintf(word.site, sizeof word.site, "mean.py:20 (exchange_halo)");
    }
    update(0, 1, 64, 1, UpdateKind::add, 11);
    for (const int number : {1, 2, 3}) update(number, number ^ 1, 64, 1, UpdateKind::add, 12);
    expect_begin(
        "PE 0 waits in reduce at mean.py:16 for PE 1, which waits for it in exchange_halo at mean.py:20");
}

}  // namespace
}  // namespace atl::core
