#include "common/recorder/recorder.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace atl::common {
namespace {

class FlightRecorder : public ::testing::Test {
  public:
    std::unique_ptr<PeEvents> memory = std::make_unique<PeEvents>();
    Recorder recorder{*memory};
};

constexpr std::uint16_t reduce = operation_number("reduce");

TEST_F(FlightRecorder, KeepsTheLastEventsInOrder) {
    for (std::uint32_t call = 1; call <= EventRing::length + 10; ++call)
        Recorder::set_state(recorder.begin_call(reduce, 1, call), EventState::ended);
    const std::vector<EventCopy> events = read_events(*memory);
    ASSERT_EQ(events.size(), EventRing::length);
    EXPECT_EQ(events.front().call, 11U);
    EXPECT_EQ(events.back().call, EventRing::length + 10);
    for (std::size_t i = 1; i < events.size(); ++i) EXPECT_EQ(events[i].number, events[i - 1].number + 1);
}

TEST_F(FlightRecorder, CallsTellTheirStateAndArguments) {
    const Recorder::Entry place = recorder.begin_call(reduce, 7, 3);
    EXPECT_EQ(read_events(*memory).at(0).state, EventState::begun);
    EXPECT_EQ(recorder.current_call().team, 7U);
    EXPECT_EQ(recorder.current_call().call, 3U);
    Recorder::set_arguments(place, 24, 0, 9, 1);
    Recorder::set_arguments(place, 1, 1, 1, 1);  // only the first meeting's count
    EventCopy event = read_events(*memory).at(0);
    EXPECT_EQ(event.state, EventState::met);
    EXPECT_EQ(event.words[0], 24U);
    EXPECT_EQ(event.words[3], 1U);
    Recorder::set_state(place, EventState::failed);
    event = read_events(*memory).at(0);
    EXPECT_EQ(event.state, EventState::failed);
    EXPECT_EQ(event.peer, -1);
    EXPECT_EQ(event_text(event), "collective reduce, call 3 of team 1: failed");
    EXPECT_EQ(recorder.current_call().call, 0U);
}

/// The memory of an earlier event is reused.
TEST_F(FlightRecorder, ArgumentsOfAnEarlierEventAreNotShown) {
    for (std::uint32_t call = 1; call <= EventRing::length; ++call)
        Recorder::set_arguments(recorder.begin_call(reduce, 1, call), 5, 5, 5, 5);
    recorder.begin_call(reduce, 1, EventRing::length + 1);
    EXPECT_EQ(read_events(*memory).back().words[0], 0U);
}

TEST_F(FlightRecorder, APlaceThatWasReusedIsLeftAlone) {
    const Recorder::Entry old = recorder.begin_call(reduce, 1, 1);
    for (std::uint32_t call = 2; call <= EventRing::length + 1; ++call) recorder.begin_call(reduce, 1, call);
    Recorder::set_state(old, EventState::ended);
    Recorder::set_arguments(old, 1, 2, 3, 4);
    recorder.set_delay(old, 1, 2, "late.py:1");
    for (const EventCopy& event : read_events(*memory)) {
        EXPECT_EQ(event.state, EventState::begun);
        EXPECT_EQ(event.site, "");
    }
}

TEST_F(FlightRecorder, WaitsHaveTimesAndAPlaceInTheProgram) {
    const Recorder::Entry wait = recorder.begin(EventKind::wait, operation_number("wait_until"), 0, 0, 2);
    Recorder::set_arguments(wait, 64, 3, 1, 0);
    recorder.set_delay(wait, 1'000'000, 5'000'000, R"(ring "a".py:12)");
    Recorder::set_state(wait, EventState::ended);
    const EventCopy event = read_events(*memory).at(0);
    EXPECT_EQ(event_text(event), R"(wait wait_until, for PE 2, 4 ms, at ring "a".py:12: ended)");
    EXPECT_EQ(event_json(1, event),
              R"({"pe": 1, "number": 1, "thread": "main", "event": "wait", "state": "ended", )"
              R"("operation": "wait_until", "team": 0, "call": 0, "peer": 2, "place": 64, "compare": 3, )"
              R"("expected": 1, "found": 0, "began_ns": 1000000, "ended_ns": 5000000, )"
              R"("site": "ring \"a\".py:12"})");
}

TEST_F(FlightRecorder, AWaitMayWaitForAnotherPeLater) {
    const Recorder::Entry wait = recorder.begin(EventKind::wait, operation_number("barrier"), 1, 7, 2);
    Recorder::set_peer(wait, 0);
    EXPECT_EQ(read_events(*memory).at(0).peer, 0);
    EXPECT_EQ(read_events(*memory).at(0).call, 7U);
    Recorder::set_peer(wait, -1);
    EXPECT_EQ(read_events(*memory).at(0).peer, -1);
}

TEST_F(FlightRecorder, OtherThreadsHaveTheirOwnEvents) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 20; ++i) recorder.note(EventKind::allocate, 8, 64);
            EXPECT_EQ(recorder.current_call().call, 0U);
        });
    for (int i = 0; i < 20; ++i) recorder.note(EventKind::free_, 64);
    for (std::thread& thread : threads) thread.join();
    const std::vector<EventCopy> events = read_events(*memory);
    ASSERT_EQ(events.size(), 80U);
    for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i].is_of_others, i >= 20);
        EXPECT_EQ(events[i].kind, i < 20 ? EventKind::free_ : EventKind::allocate);
    }
}

/// A reader in another process gets old or new events, never mixed ones.
TEST_F(FlightRecorder, ReadersNeverSeeHalfAnEvent) {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop.load())
            for (const EventCopy& event : read_events(*memory)) {
                ASSERT_EQ(event.call, event.team);
                ASSERT_EQ(event.number, event.call);
            }
    });
    for (std::uint32_t i = 1; i <= 100'000; ++i) {
        const Recorder::Entry place = recorder.begin_call(reduce, i, i);
        Recorder::set_state(place, EventState::ended);
    }
    stop.store(true);
    reader.join();
}

/// A PE that calls init again goes on behind the events of its first job.
TEST_F(FlightRecorder, ASecondRecorderContinues) {
    recorder.note(EventKind::init, 4);
    Recorder(*memory).note(EventKind::init, 4);
    const std::vector<EventCopy> events = read_events(*memory);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].number, 2U);
    EXPECT_EQ(event_text(events[1]), "init, pes 4");
}

std::size_t known(const UpdateNotes& notes) {
    return static_cast<std::size_t>(std::count_if(std::begin(notes.notes), std::end(notes.notes),
                                                  [](const UpdateNote& note) { return note.offset != 0; }));
}

TEST_F(FlightRecorder, KeepsTheLastSignalToEachWordAndPe) {
    for (const std::uint64_t value : {1, 2}) {
        recorder.signals().note(0, value, 3, UpdateKind::set);
        recorder.signals().note(8, value, 3, UpdateKind::add);
        recorder.signals().note(0, value, 4, UpdateKind::add);
    }
    EXPECT_EQ(known(memory->signals), 3U);
    for (const UpdateNote& note : memory->signals.notes) EXPECT_TRUE(note.offset == 0 || note.value == 2);
    EXPECT_EQ(memory->signals.has_lost, 0U);
}

TEST_F(FlightRecorder, ForgetsUpdatesOfMemoryThatIsHandedOut) {
    for (const std::uint64_t place : {0, 64, 128}) {
        recorder.signals().note(place, 1, 0, UpdateKind::set);
        recorder.writes().note(place, 1, 0, UpdateKind::put);
    }
    recorder.forget_updates(64, 128);
    EXPECT_EQ(known(memory->signals), 2U);
    EXPECT_EQ(known(memory->writes), 2U);
    Recorder again(*memory);
    EXPECT_EQ(known(memory->signals), 0U);
    EXPECT_EQ(known(memory->writes), 0U);
}

/// This function itself is the program: each update of a new kind, and the 1st, 2nd, 4th, ... of one kind.
TEST_F(FlightRecorder, LooksUpThePlacesOfUpdates) {
    for (int i = 0; i < 5; ++i) recorder.writes().note(0, 1, 3, UpdateKind::add);
    const UpdateNote* const found =
        std::find_if(std::begin(memory->writes.notes), std::end(memory->writes.notes),
                     [](const UpdateNote& note) { return note.offset != 0; });
    ASSERT_NE(found, std::end(memory->writes.notes));
    const UpdateSite site = memory->writes.sites.site(found->site & ((1U << UpdateNote::site_shift) - 1));
    EXPECT_EQ(found->site >> UpdateNote::site_shift, 4U);
    EXPECT_EQ(site.text[0], '\0');
    EXPECT_NE(site.callers[0], 0U);
    EXPECT_EQ(memory->writes.sites.site(0).callers[0], 0U);
    recorder.writes().note(0, 1, 3, UpdateKind::set);
    EXPECT_NE(found->site, 0U);
    recorder.writes().clear();
    EXPECT_EQ(memory->writes.sites.site(1).callers[0], 0U);
}

/// In a program that updates without a pause, few call sites are looked up.
TEST_F(FlightRecorder, LooksUpFewPlacesOfManyUpdates) {
    constexpr std::uint64_t many = 100'000;
    std::uint64_t known = 0;
    for (std::uint64_t i = 0; i < many; ++i) {
        recorder.writes().note(8 * i, 1, 0, UpdateKind::set);
        known += memory->writes.notes[i % UpdateNotes::entries].site != 0;
    }
    EXPECT_GT(known, 0U);
    EXPECT_LT(known, many / 4);
}

TEST_F(FlightRecorder, TellsThatSignalsWereLost) {
    for (std::uint64_t i = 0; i <= UpdateNotes::tries; ++i) {
        EXPECT_EQ(memory->signals.has_lost, 0U);
        recorder.signals().note(i * 8 * UpdateNotes::entries, 1, 0, UpdateKind::set);
        recorder.writes().note(i * 8, 1, 0, UpdateKind::set);
    }
    EXPECT_EQ(memory->signals.has_lost, 1U);
    EXPECT_EQ(memory->writes.has_lost, 0U);
}

TEST_F(FlightRecorder, UnknownOperationsAreOther) {
    EXPECT_EQ(operation_number("no such call"), 0);
    EXPECT_EQ(operation_name(9999), "other");
}

}  // namespace
}  // namespace atl::common
