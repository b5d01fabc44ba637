// Arrows and bytes in flight of traces, with events of no job.
#include "cli/trace/in_flight.hpp"
#include "cli/trace/word_flows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::cli {
namespace {

using common::EventKind;
using common::EventState;
using common::LoggedEvent;

LoggedEvent call(std::string_view operation, std::uint64_t began, std::uint64_t ended) {
    LoggedEvent event;
    event.kind = EventKind::move;
    event.operation = common::operation_number(operation);
    event.began = began;
    event.ended = ended;
    return event;
}

LoggedEvent failed(LoggedEvent event) {
    event.state = EventState::failed;
    return event;
}

/// Every PE is on a separate host.
JobTrace trace_of(std::initializer_list<std::vector<LoggedEvent>> pes, double clock_error_us = 0) {
    JobTrace trace;
    trace.clock_error_us = clock_error_us;
    for (const std::vector<LoggedEvent>& events : pes) {
        PeTrace& pe = trace.pes.emplace_back();
        pe.pe = static_cast<int>(trace.pes.size()) - 1;
        pe.host = std::string(1, static_cast<char>('a' + pe.pe));
        pe.log.events = events;
    }
    return trace;
}

/// PEs of an operation, and of the wait that it ended.
using Pes = std::vector<std::pair<std::size_t, std::size_t>>;
Pes arrows(const JobTrace& trace) {
    Pes pes;
    for (const WordFlow& flow : word_flows_of(trace)) pes.emplace_back(flow.from.id.pe, flow.to.id.pe);
    return pes;
}

TEST(TraceFlows, LeadFromAReleaseToTheAcquisitionThatWaited) {
    const JobTrace trace = trace_of({{call("Lock.acquire", 10, 11), call("Lock.release", 50, 51)},
                                     {call("Lock.acquire", 20, 52), call("Lock.release", 60, 61)},
                                     {call("Lock.acquire", 70, 71)}});
    EXPECT_EQ(arrows(trace), (Pes{{0, 1}}));
}

TEST(TraceFlows, LeadToNoAcquisitionThatTimedOut) {
    const JobTrace trace = trace_of({{call("Lock.acquire", 10, 11), call("Lock.release", 50, 51)},
                                     {call("Lock.acquire", 20, 52)},
                                     {failed(call("Lock.acquire", 30, 90))}});
    EXPECT_EQ(arrows(trace), (Pes{{0, 1}}));
}

TEST(TraceFlows, LeadToNoWaitThatTimedOut) {
    LoggedEvent set = call("signal_set", 20, 21);
    set.peer = 1;
    EXPECT_EQ(arrows(trace_of({{set}, {call("signal_wait_until", 10, 22)}})), (Pes{{0, 1}}));
    EXPECT_EQ(arrows(trace_of({{set}, {failed(call("signal_wait_until", 10, 22))}})), Pes());
}

TEST(TraceFlows, FollowLocksWithinTheErrorOfClocks) {
    // By its host's clock the second release begins after the acquisition that it ended.
    const std::vector<LoggedEvent> first = {
        call("Lock.acquire", 1000, 1010), call("Lock.release", 5000, 5010), call("Lock.acquire", 6000, 7500)};
    const std::vector<LoggedEvent> second = {call("Lock.acquire", 2000, 5500),
                                             call("Lock.release", 8000, 8010)};
    EXPECT_EQ(arrows(trace_of({first, second}, 1)), (Pes{{0, 1}, {1, 0}}));
    EXPECT_EQ(arrows(trace_of({first, second})), (Pes{{0, 1}}));
}

class InFlight : public ::testing::Test {
  protected:
    void add(LoggedEvent event, std::uint32_t team, std::uint32_t context, std::uint64_t bytes = 0,
             int peer = -1) {
        event.team = team;
        event.call = context;
        event.bytes = bytes;
        event.peer = peer;
        pe_.log.events.push_back(event);
    }
    void put(std::uint64_t began, std::uint32_t team, std::uint32_t context, std::uint64_t bytes,
             int peer = 0) {
        add(call("put_nbi", began, began), team, context, bytes, peer);
    }
    std::vector<std::uint64_t> steps() const {
        std::vector<std::uint64_t> bytes;
        for (const BytesInFlight& step : bytes_in_flight(pe_)) bytes.push_back(step.bytes);
        return bytes;
    }

    PeTrace pe_;
};

TEST_F(InFlight, EndByQuietOfTheirContextAndPeer) {
    put(1, 1, 0, 8, 0);
    put(2, 1, 0, 16, 1);
    put(3, 1, 2, 32, 1);
    add(call("quiet", 4, 5), 1, 0, 0, 1);
    add(call("quiet", 6, 7), 1, 0);
    add(call("quiet", 8, 9), 1, 2);
    EXPECT_EQ(steps(), (std::vector<std::uint64_t>{8, 24, 56, 40, 32, 0}));
}

TEST_F(InFlight, EndByTheReleaseOfALock) {
    put(1, 1, 0, 8);
    put(2, 5, 0, 16);
    add(failed(call("Lock.release", 3, 4)), 0, 0, 8, 1);
    add(call("Lock.release", 5, 6), 0, 0, 8, 1);
    EXPECT_EQ(steps(), (std::vector<std::uint64_t>{8, 24, 16}));
}

TEST_F(InFlight, AllEndByFinalize) {
    put(1, 5, 0, 8);
    put(2, 1, 3, 16);
    LoggedEvent finalize = call("finalize", 3, 4);
    finalize.kind = EventKind::collective;
    add(finalize, 1, 9);
    EXPECT_EQ(steps(), (std::vector<std::uint64_t>{8, 24, 0}));
}

TEST_F(InFlight, OfNoTeamAreIgnored) {
    put(1, 0, 0, 8);
    EXPECT_EQ(steps(), std::vector<std::uint64_t>());
}

}  // namespace
}  // namespace atl::cli
