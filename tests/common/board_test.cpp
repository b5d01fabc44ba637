#include "common/board/board.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/board/beside_gpu.hpp"
#include "common/pe_ranges.hpp"
#include "common/recorder/recorder.hpp"

namespace atl::common {
namespace {

class Board : public ::testing::Test {
  protected:
    explicit Board(int n_pes = 4) : memory_(aligned_alloc(64, BoardView::bytes(n_pes))) {
        std::memset(memory_, 0, BoardView::bytes(n_pes));
        board = BoardView::create(memory_, n_pes);
    }
    ~Board() override { std::free(memory_); }

    void wait(int pe, const char* operation, int peer = -1) {
        WaitRecord& wait = board.entry(pe).wait;
        wait.sequence.fetch_add(1);
        std::strncpy(wait.operation, operation, sizeof wait.operation - 1);
        wait.peer = peer;
        wait.offset = ~std::uint64_t{0};
        wait.active.store(1);
        wait.sequence.fetch_add(1);
    }

    BoardView board;

  private:
    void* memory_;
};

TEST_F(Board, StartsWithAllPesAbsentAndNoAbort) {
    EXPECT_TRUE(board);
    EXPECT_EQ(board.n_pes(), 4);
    EXPECT_EQ(board.header().magic, board_magic);
    EXPECT_EQ(board.header().abort.load(), 0u);
    EXPECT_EQ(board.header().abort_pe.load(), -1);
    for (int pe = 0; pe < 4; ++pe) EXPECT_EQ(board.state(pe), PeState::absent);
    EXPECT_EQ(table_of(board.all_doing()), "  PE 0-3: has not called init\n");
}

TEST_F(Board, FirstAbortWins) {
    board.abort(2, 7, "PE 2 gave up");
    board.abort(1, 9, "too late");
    EXPECT_EQ(board.header().abort.load(), 1u);
    EXPECT_EQ(board.header().abort_pe.load(), 2);
    EXPECT_EQ(board.header().abort_status.load(), 7);
    EXPECT_STREQ(board.header().abort_text, "PE 2 gave up");
}

TEST_F(Board, LongAbortTextIsCutAndTerminated) {
    board.abort(0, 1, std::string(1000, 'x'));
    EXPECT_EQ(std::strlen(board.header().abort_text), sizeof(BoardHeader::abort_text) - 1);
}

TEST_F(Board, AbortTextIsWholeOnceAbortIsSeen) {
    std::thread reader([&] {
        while (board.header().abort.load(std::memory_order_acquire) == 0) std::this_thread::yield();
        EXPECT_EQ(std::string(board.header().abort_text).find("PE "), 0u);
        EXPECT_GE(board.header().abort_pe.load(), 0);
    });
    std::vector<std::thread> writers;
    for (int pe = 0; pe < 4; ++pe)
        writers.emplace_back([&, pe] { board.abort(pe, 1, "PE " + std::to_string(pe)); });
    for (std::thread& writer : writers) writer.join();
    reader.join();
}

TEST_F(Board, CountsAnExitedPeOnceHoweverOftenItIsReported) {
    board.set_state(0, PeState::running);
    EXPECT_EQ(board.header().exited.load(), 0u);
    board.set_state(0, PeState::finalized);
    board.set_state(0, PeState::finalized);
    EXPECT_EQ(board.header().exited.load(), 1u);
    EXPECT_EQ(board.header().left.load(), 0u);
    board.set_state(1, PeState::left);
    board.set_state(1, PeState::died);
    EXPECT_EQ(board.header().exited.load(), 2u);
    EXPECT_EQ(board.header().left.load(), 1u);
}

TEST_F(Board, SecondInitTakesTheGoneBack) {
    board.set_state(0, PeState::left);
    board.set_state(0, PeState::running);
    EXPECT_EQ(board.header().exited.load(), 0u);
    EXPECT_EQ(board.header().left.load(), 0u);
}

TEST_F(Board, WaitTextNamesEverythingThatIsKnown) {
    board.set_state(1, PeState::running);
    EXPECT_EQ(board.wait_text(1), "");
    wait(1, "signal_wait_until", 3);
    WaitRecord& record = board.entry(1).wait;
    record.team = 2;
    record.word_bytes = 8;
    record.offset = 0x40;
    record.found = 3;
    record.expected = 4;
    record.compare = 3;
    const std::string text = board.wait_text(1);
    EXPECT_EQ(text.find("signal_wait_until of team 2 on heap+0x40, for PE 3: found 3, waiting for >= 4 ("),
              0u)
        << text;
    std::strcpy(record.name, "the uint64 array allocated at ring.py:12");
    const std::string named = board.wait_text(1);
    EXPECT_EQ(named.find(
                  "signal_wait_until of team 2 on the uint64 array allocated at ring.py:12, for PE 3: found"),
              0u)
        << named;
}

TEST_F(Board, NegativeValuesKeepTheirSign) {
    board.set_state(0, PeState::running);
    wait(0, "wait_until");
    board.entry(0).wait.word_bytes = 8;
    board.entry(0).wait.found = static_cast<std::uint64_t>(-1);
    EXPECT_NE(board.wait_text(0).find("found -1, waiting for == 0"), std::string::npos) << board.wait_text(0);
}

TEST_F(Board, WaitMarkMovesWithTheWaitOnly) {
    board.set_state(0, PeState::running);
    EXPECT_FALSE(board.doing(0).waits);
    wait(0, "barrier");
    ASSERT_TRUE(board.doing(0).waits);
    const auto mark = board.doing(0).mark;
    wait(0, "barrier");  // written again, like a waiting PE does
    EXPECT_EQ(board.doing(0).mark, mark);
    board.entry(0).wait.found = 5;
    EXPECT_NE(board.doing(0).mark, mark);
    board.entry(0).wait.found = 0;
    board.entry(0).wait.since_ns = 77;
    EXPECT_NE(board.doing(0).mark, mark);
}

/// The meetings of init have numbers of their own.
TEST_F(Board, CallsAreThoseSinceInit) {
    Recorder recorder(board.events(0));
    for (std::uint32_t call = 1; call <= 3; ++call) recorder.begin_call(operation_number("init"), 1, call);
    EXPECT_EQ(board.doing(0).calls.size(), 3U);
    recorder.note(EventKind::init, 4);
    EXPECT_TRUE(board.doing(0).calls.empty());
    recorder.begin_call(operation_number("barrier"), 1, 1);
    ASSERT_EQ(board.doing(0).calls.size(), 1U);
    EXPECT_EQ(board.doing(0).calls[0].operation, operation_number("barrier"));
    EXPECT_TRUE(board.doing(0, false).calls.empty());
}

TEST_F(Board, TornWaitRecordIsNotShown) {
    board.set_state(0, PeState::running);
    wait(0, "barrier");
    board.entry(0).wait.sequence.fetch_add(1);  // killed while writing
    EXPECT_EQ(board.wait_text(0), "");
}

TEST_F(Board, ReaderNeverSeesHalfARecord) {
    board.set_state(0, PeState::running);
    wait(0, "aaaaaaaa");
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        WaitRecord& record = board.entry(0).wait;
        for (std::uint32_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
            WaitCopy values;
            std::memset(values.operation, i & 1 ? 'a' : 'b', 8);
            values.active = 1;
            write_wait(record, values);
        }
    });
    for (int i = 0; i < 2000; ++i) {
        const std::string text = board.wait_text(0);
        if (text.empty()) continue;
        const std::string operation = text.substr(0, text.find(' '));
        EXPECT_TRUE(operation == "aaaaaaaa" || operation == "bbbbbbbb") << text;
    }
    stop.store(true);
    writer.join();
}

WaitCopy wait_in_group(const char* operation, HostWait how) {
    WaitCopy values;
    values.active = static_cast<std::uint32_t>(how);
    copy_text(operation, values.operation);
    copy_text("40 bytes, call 6", values.name);
    copy_text("3", values.group);
    values.team = team_number("3");
    values.offset = ~std::uint64_t{0};
    values.peer = values.missing[0] = 2;
    values.missing[1] = -1;
    return values;
}

TEST_F(Board, AWaitInAGroupIsShownUnlessThePeItselfWaits) {
    board.set_state(0, PeState::running);
    write_wait(board.entry(0).group, wait_in_group("all_reduce", HostWait::sleeps));
    EXPECT_TRUE(board.may_all_wait());
    EXPECT_EQ(board.doing(0).text, "all_reduce of group 3 (40 bytes, call 6), for PE 2");
    EXPECT_EQ(board.wait_text(0).rfind("all_reduce of group 3 (40 bytes, call 6), for PE 2 (", 0), 0u);
    wait(0, "barrier", 1);
    EXPECT_EQ(board.doing(0).text, "barrier, for PE 1");
}

TEST_F(Board, APendingOperationOfAGroupIsNoWait) {
    board.set_state(0, PeState::running);
    write_wait(board.entry(0).group, wait_in_group("all_reduce", HostWait::pending));
    const PeDoing doing = board.doing(0);
    EXPECT_FALSE(doing.waits);
    EXPECT_TRUE(doing.pends);
    EXPECT_EQ(doing.text, "running, with a pending all_reduce of group 3 (40 bytes, call 6), for PE 2");
}

TEST_F(Board, AGuestThatHasEndedNeededNoFinalize) {
    board.entry(1).is_guest = 1;
    for (const int pe : {0, 1}) board.set_state(pe, PeState::left);
    EXPECT_EQ(table_of(board.all_doing()),
              "  PE 0: ended without finalize\n  PE 1: has ended\n  PE 2,3: has not called init\n");
}

TEST(TeamNumber, IsThatOfAGroupsName) {
    EXPECT_EQ(team_number("0"), 0);
    EXPECT_EQ(team_number("12"), 12);
    EXPECT_EQ(team_number("mesh_dp"), 1);
}

TEST(FailureNote, LongTextIsCutAndTerminated) {
    FailureNote note;
    note.set(FailureNote::Kind::own, std::string(1000, 'x'));
    EXPECT_EQ(note.kind.load(), FailureNote::Kind::own);
    EXPECT_EQ(std::string(note.text), std::string(sizeof note.text - 1, 'x'));
}

TEST_F(Board, TableGroupsThoseThatDoTheSame) {
    for (int pe = 0; pe < 3; ++pe) board.set_state(pe, PeState::running);
    wait(0, "barrier");
    wait(2, "barrier");
    board.set_state(3, PeState::died);
    const std::string table = table_of(board.all_doing());
    EXPECT_NE(table.find("  PE 0,2: barrier ("), std::string::npos) << table;
    EXPECT_NE(table.find("  PE 1: in its own code\n"), std::string::npos) << table;
    EXPECT_NE(table.find("  PE 3: died\n"), std::string::npos) << table;
}

TEST_F(Board, TableHasPlacesOfPesThatDoNotWait) {
    for (int pe = 0; pe < 4; ++pe) board.set_state(pe, PeState::running);
    std::vector<PeDoing> doing = board.all_doing();
    doing[0].site = "solver.py:61";
    doing[1].site = "A() at probing.cpp:15";
    doing[2].site = idle_in_pool;
    EXPECT_EQ(table_of(doing),
              "  PE 0: in its own code, at solver.py:61\n"
              "  PE 1: in its own code, in A() at probing.cpp:15\n"
              "  PE 2: between calls of the pool\n"
              "  PE 3: in its own code\n");
}

/// The table shows kernels' waits if the PE itself has reported no wait.
TEST_F(Board, TableShowsWhatKernelsWaitFor) {
    for (int pe = 0; pe < 4; ++pe) board.set_state(pe, PeState::running);
    const auto kernel_waits = [&](int pe, GpuWait how) {
        WaitRecord& record = board.entry(pe).gpu;
        std::snprintf(record.operation, sizeof record.operation, "reduce");
        record.peer = 2;
        record.since_ns = 1;
        record.active.store(static_cast<std::uint32_t>(how));
    };
    kernel_waits(0, GpuWait::beside);
    kernel_waits(1, GpuWait::awaited);
    kernel_waits(2, GpuWait::beside);
    wait(2, "barrier");
    const std::vector<PeDoing> doing = board.all_doing();
    EXPECT_EQ(doing[0].text, "running, and its GPU waits: reduce, for PE 2");
    EXPECT_FALSE(doing[0].waits);
    EXPECT_EQ(doing[1].text, "its GPU waits: reduce, for PE 2");
    EXPECT_TRUE(doing[1].waits);
    EXPECT_EQ(doing[2].text, "barrier");
    EXPECT_EQ(doing[3].text, "in its own code");
}

TEST(PeRanges, AreWrittenAsPeopleWriteThem) {
    EXPECT_EQ(pe_ranges({}), "");
    EXPECT_EQ(pe_ranges({5}), "5");
    EXPECT_EQ(pe_ranges({0, 1}), "0,1");
    EXPECT_EQ(pe_ranges({0, 1, 2, 3, 7}), "0-3,7");
    EXPECT_EQ(pe_ranges({1, 3, 4, 5, 9, 10}), "1,3-5,9,10");
}

}  // namespace
}  // namespace atl::common
