#include "support/hang_cause.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::PeDoing;

/// PEs that wait for messages, in groups of PyTorch if one is named.
class MessageCause : public HangCause {
  public:
    void in_group(int number, const char* group, const char* details, std::uint32_t call = 0) {
        common::WaitCopy& wait = pe(number).wait;
        common::copy_text(group, wait.group);
        common::copy_text(details, wait.name);
        wait.team = common::team_number(group);
        wait.team_id = static_cast<std::uint32_t>(wait.team) + 7;
        wait.call = call;
    }
    /// PEs that wait in a collective call of a group for another PE.
    void wait_in_call(const std::vector<int>& pes, const char* operation, int awaited, const char* site,
                      const char* details) {
        for (const int number : pes) {
            wait(number, operation, {awaited}, site);
            in_group(number, "0", details, 1);
        }
    }
    /// A message that the PE does not take in its wait.
    void gets(int number, const common::OtherMessage& other) { pe(number).wait.other = other; }
};

TEST_F(MessageCause, AReductionWithoutAPost) {
    for (const int number : {0, 1, 2}) wait(number, "sum_reduce", {3}, "farm.py:51").wait.call = 3;
    wait(3, "mailbox receive", {0}, "farm.py:35");
    EXPECT_EQ(cause(),
              "PE 0 is in sum_reduce at farm.py:51 without a post to PE 3, which waits for it in mailbox "
              "receive at farm.py:35");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{0, 3}));
}

TEST_F(MessageCause, AReductionWithoutAReceive) {
    wait_in_call({0, 1, 3}, "all_reduce", 2, "pipe.py:46", "4 bytes, call 1");
    wait(2, "send", {3}, "pipe.py:28");
    in_group(2, "0", "524288 bytes by tag 0");
    EXPECT_EQ(cause(),
              "PE 3 is in all_reduce at pipe.py:46 (4 bytes, call 1) without a recv of PE 2's message, for "
              "which PE 2 waits in send at pipe.py:28 (524288 bytes by tag 0)");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{3, 2}));
}

TEST_F(MessageCause, ABarrierWithoutASend) {
    wait_in_call({0, 1, 3}, "barrier", 2, "x.py:10", "call 1");
    wait(2, "recv", {0}, "x.py:9");
    in_group(2, "0", "40 bytes by tag 0");
    EXPECT_EQ(cause(),
              "PE 0 is in barrier at x.py:10 (call 1) without a send to PE 2, which waits for it in recv at "
              "x.py:9 (40 bytes by tag 0)");
    gets(2, {.from = 3, .tag = 0, .bytes = 40});
    EXPECT_TRUE(cause().ends_with(
        "; 40 bytes of PE 3 for PE 2 are not received, while PE 2 waits for PE 0 in recv at x.py:9"))
        << cause();
}

/// Neither of them is in a collective call: no side is known to lack a message.
TEST_F(MessageCause, ASenderAndAReceiverAreNotBlamed) {
    wait(0, "send", {1}, "x.py:5");
    wait(1, "send", {0}, "x.py:7");
    for (const int number : {2, 3}) wait(number, "barrier", {0, 1}).wait.call = 2;
    EXPECT_EQ(cause(),
              "PE 0,1 wait for each other: PE 0 for PE 1 in send at x.py:5, PE 1 for PE 0 in send at x.py:7");
}

TEST_F(MessageCause, AnotherTag) {
    wait(0, "recv", {2}, "tags.py:23");
    in_group(0, "0", "4 bytes by tag 200, while one by tag 201 is here");
    pe(0).wait.tag = 200;
    gets(0, {.from = 2, .tag = 201, .bytes = 4});
    for (const int number : {1, 2, 3}) {
        wait(number, "recv", {0}, "tags.py:32");
        in_group(number, "0", "16 bytes by tag 101");
    }
    EXPECT_EQ(
        cause(),
        "PE 2 has sent 4 bytes by tag 201, where PE 0 waits for tag 200 in recv at tags.py:23, and PE 2 "
        "waits for it in recv at tags.py:32 (16 bytes by tag 101)");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{2, 0}));
}

TEST_F(MessageCause, AReceiveFromAnotherPe) {
    wait(0, "all_reduce", {1}).wait.call = 1;
    wait(1, "recv", {3}, "ring.py:21");
    for (const int number : {2, 3}) wait(number, "recv", {5 - number}, "ring.py:21");
    gets(2, {.from = 1, .tag = 0, .bytes = 1024});
    EXPECT_EQ(
        cause(),
        "1024 bytes of PE 1 for PE 2 are not received, while PE 2 waits for PE 3 in recv at ring.py:21; "
        "PE 2,3 wait for each other: PE 2 for PE 3 in recv at ring.py:21, PE 3 for PE 2 in recv at "
        "ring.py:21");
    EXPECT_EQ(find_cause(doing).pes, (std::vector{2, 1}));
    gets(3, {.from = 0, .tag = 0, .bytes = 8});  // several: they may belong to a later step
    EXPECT_EQ(cause().rfind("PE 2,3 wait for each other: ", 0), 0U) << cause();
}

/// A tree: PE 3 should have sent to PE 1, and has gone on to wait for an answer.
TEST_F(MessageCause, AMessageToAnotherPe) {
    wait(0, "recv", {1}, "tree.py:24");
    wait(1, "recv", {3}, "tree.py:24");
    wait(2, "recv", {0}, "tree.py:33");
    wait(3, "recv", {2}, "tree.py:33");
    gets(0, {.from = 2, .tag = 0, .bytes = 512});
    gets(2, {.from = 3, .tag = 0, .bytes = 512});
    EXPECT_EQ(
        cause().rfind("PE 3 has sent 512 bytes to PE 2, which waits for PE 0 in recv at tree.py:33, and PE 1 "
                      "waits for PE 3 in recv at tree.py:24; PE 0-3 wait for each other: PE 0 for PE 1 ",
                      0),
        0U)
        << cause();
    EXPECT_EQ(find_cause(doing).pes, (std::vector{3, 1}));
}

/// All ranks pass a block down; rank 3 passes its own up.
TEST_F(MessageCause, ASendToAnotherPeThanTheOthers) {
    wait(0, "send", {3}, "ring.py:26");
    wait(3, "send", {0}, "ring.py:26");
    wait(1, "send", {0}, "ring.py:26");
    wait(2, "recv", {3}, "ring.py:26");
    for (const int number : {0, 1, 2, 3}) in_group(number, "0", "64 bytes by tag 0");
    EXPECT_TRUE(
        cause().starts_with("PE 3 is in send at ring.py:26 (64 bytes by tag 0) for PE 0, where PE 2 waits "
                            "for it in recv at ring.py:26 (64 "
                            "bytes by tag 0); PE 0,3 wait for each other"))
        << cause();
    EXPECT_EQ(find_cause(doing).pes.front(), 3);
    wait(1, "recv", {0}, "ring.py:26").wait.missing[0] = 0;  // the facts do not decide
    EXPECT_TRUE(cause().starts_with("PE 0,3 wait for each other")) << cause();
}

TEST_F(MessageCause, ANewGroupThatOneMemberDoesNotMake) {
    wait_in_call({1, 2, 3}, "barrier", 0, "x.py:6", "call 1");
    wait(0, "new_group", {1}, "x.py:5");
    in_group(0, "1", "ranks 0,1");
    EXPECT_EQ(
        cause(),
        "PE 1 is in barrier at x.py:6 (call 1) without a new_group of ranks 0,1, for which PE 0 waits in "
        "new_group at x.py:5");
}

TEST_F(MessageCause, ANewGroupOfOthersThatOneMemberDoesNotMake) {
    wait_in_call({0, 1}, "all_reduce", 2, "x.py:42", "call 1");
    wait(2, "new_group", {3}, "x.py:27");
    in_group(2, "1", "ranks 2,3");
    wait(3, "new_group", {2}, "x.py:27");
    in_group(3, "2", "ranks 2,3");
    EXPECT_EQ(cause(),
              "PE 2 has left out a new_group: it is in new_group 1 at x.py:27 (ranks 2,3), where PE 3 is in "
              "new_group 2 at x.py:27 (ranks 2,3); every rank must call new_group for each group, also for "
              "those of others");
    EXPECT_EQ(find_cause(doing).pes, std::vector{2});
    in_group(3, "2", "ranks 0,3");
    EXPECT_EQ(cause().rfind("PE 2,3 wait for each other", 0), 0U) << cause();
}

}  // namespace
}  // namespace atl::core
