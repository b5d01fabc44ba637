// The launcher's end of a trace over hosts, with frames that no agent made.
#include "cli/hosts/trace_receiver.hpp"
#include "cli/hosts/trace_wire.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atl::cli {
namespace {

class Receiver : public ::testing::Test {
  protected:
    static constexpr std::uint64_t most_bytes = 1 << 16;

    explicit Receiver(std::chrono::milliseconds patience = std::chrono::minutes(1))
        : receiver_({{"a", 1}, {"b", 2}}, most_bytes, patience) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        mine_ = common::Fd(ends[0]);
        receiver_.take(1, common::ProcessFd(common::Fd(ends[1])));
        reader_.set_limit(bootstrap::most_frame_bytes);
        reader_.append(bootstrap::greeting.data(), bootstrap::greeting.size());
    }

    /// False once the receiver has closed the connection.
    bool send(char type, const std::string& body = {}) const {
        const std::string frame = bootstrap::encode(type, body);
        return ::send(mine_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(frame.size());
    }

    /// Empty at the end of the connection.
    std::optional<bootstrap::Frame> answer() {
        for (;;) {
            if (std::optional<bootstrap::Frame> frame = reader_.next()) return frame;
            char bytes[256];
            const ssize_t got = ::recv(mine_.get(), bytes, sizeof bytes, 0);
            if (got <= 0) return std::nullopt;
            reader_.append(bytes, static_cast<std::size_t>(got));
        }
    }

    /// Returns once the receiver has handled all frames.
    void settle() {
        ASSERT_TRUE(send('P', Packer().number(std::uint64_t{1}).bytes()));
        ASSERT_TRUE(answer());
    }

    bool send_empty(int pe) const {
        PeTrace trace;
        trace.pe = pe;
        return send_pe(trace, [this](char type, const std::string& body) { return send(type, body); });
    }

    std::vector<std::string> missing() { return receiver_.take_trace({true, true, true}).missing; }

    TraceReceiver receiver_;
    common::Fd mine_;
    bootstrap::FrameReader reader_;
    const std::string lost_ = "the trace lacks events of host b (PE 1,2): its agent ended, or was lost, ";
};

TEST_F(Receiver, AnswersQuestionsByTheirNumbers) {
    for (const std::uint64_t number : {7u, 8u}) ASSERT_TRUE(send('P', Packer().number(number).bytes()));
    for (const std::uint64_t number : {7u, 8u}) {
        const std::optional<bootstrap::Frame> frame = answer();
        ASSERT_TRUE(frame);
        Unpacker bytes(frame->body);
        EXPECT_EQ(bytes.number<std::uint64_t>(), number);
        EXPECT_NE(bytes.number<std::uint64_t>(), 0u);
        EXPECT_TRUE(bytes.is_good() && bytes.at_end());
    }
}

TEST_F(Receiver, KnowsTheStatusBeforeTheEvents) {
    settle();
    EXPECT_FALSE(receiver_.state(1).pes_ended);
    ASSERT_TRUE(send('S', "3"));
    settle();
    const TraceReceiver::State state = receiver_.state(1);
    EXPECT_TRUE(state.pes_ended && state.is_coming);
    EXPECT_EQ(state.status, 3);
    ASSERT_TRUE(send('Z'));
    EXPECT_EQ(answer().value_or(bootstrap::Frame()).type, 'Z');
    EXPECT_FALSE(receiver_.state(1).is_coming);
}

TEST_F(Receiver, KeepsTheStatusOfALostAgent) {
    ASSERT_TRUE(send('S', "0"));
    settle();
    mine_ = common::Fd();
    receiver_.wait([] { return false; });
    const TraceReceiver::State state = receiver_.state(1);
    EXPECT_TRUE(state.pes_ended && !state.is_coming);
    EXPECT_EQ(state.status, 0);
    EXPECT_EQ(missing().back().rfind(lost_, 0), 0u);
}

TEST_F(Receiver, WaitsNoMoreAfterASignal) {
    ASSERT_TRUE(send('S', "0"));
    settle();
    int asked = 0;
    receiver_.wait([&] { return ++asked == 2; });
    EXPECT_TRUE(receiver_.state(1).is_coming);
    receiver_.abandon();
    EXPECT_FALSE(receiver_.state(1).is_coming);
    EXPECT_EQ(missing().back(),
              "the trace lacks events of host b (PE 1,2): a signal ended the wait for them");
}

class HastyReceiver : public Receiver {
  protected:
    HastyReceiver() : Receiver(std::chrono::milliseconds(100)) {}
};

TEST_F(HastyReceiver, EndsAWaitForAnAgentThatOnlyAsks) {
    const auto asks = [&] {
        EXPECT_TRUE(send('P', Packer().number(std::uint64_t{1}).bytes()));
        EXPECT_TRUE(answer());
        return false;
    };
    receiver_.wait(asks);
    EXPECT_EQ(missing().back().rfind(lost_, 0), 0u);
}

TEST_F(Receiver, BoundsFramesWithoutBodies) {
    std::uint64_t sent = 0;
    const std::uint64_t most = 2 * most_bytes / sizeof(bootstrap::Frame) + (1 << 16);
    while (sent < most && send('e')) ++sent;
    EXPECT_FALSE(answer());  // closed
    EXPECT_EQ(missing().size(), 2u);
}

TEST_F(Receiver, TellsThatAHostHasNoRoomForLogs) {
    ASSERT_TRUE(send('S', "0") && send('N', Packer().number(2).bytes()));
    ASSERT_TRUE(send_empty(1));
    ASSERT_TRUE(send('Z'));
    EXPECT_EQ(answer().value_or(bootstrap::Frame()).type, 'Z');
    EXPECT_EQ(missing().back(),
              "the trace lacks events of PE 2 (host b): a host has no room for the logs "
              "of all PEs, whose size ATOLL_TRACE_EVENTS sets");
}

TEST_F(Receiver, RefusesEventsOfOtherHosts) {
    ASSERT_TRUE(send_empty(0) && send('Z'));
    EXPECT_EQ(answer().value_or(bootstrap::Frame()).type, 'Z');
    EXPECT_NE(missing().back().find("in a form that this release does not read"), std::string::npos);
}

}  // namespace
}  // namespace atl::cli
