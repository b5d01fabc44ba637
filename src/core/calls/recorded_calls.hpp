// The collective calls of a team in the flight recorder.
#pragma once

#include "common/recorder/meter.hpp"
#include "common/recorder/recorder.hpp"
#include "core/calls/called.hpp"

#include <cstdint>

namespace atl::core {

class RecordedCalls {
  public:
    RecordedCalls(common::Recorder& recorder, common::Meter* meter, std::uint32_t team)
        : recorder_(&recorder), meter_(meter), team_(team) {}

    /// Identity of the team: equal on all members, 1 for the world team.
    std::uint32_t team() const { return team_; }
    void set_team(std::uint32_t team) { team_ = team; }
    /// Number of this team's collective calls so far, the current one included. Equal on members in one call.
    std::uint32_t count() const { return count_; }
    /// The next call has number 1.
    void restart() { count_ = 0; }
    /// For a team that serves another one's calls; these are recorded there.
    void record_nothing() {
        recorder_ = nullptr;
        meter_ = nullptr;
    }

    [[gnu::always_inline]] void begin(const Called& call) noexcept {
        ++count_;
        if (recorder_ != nullptr) event_ = recorder_->begin_call(call.number(), team_, count_);
        if (meter_ != nullptr) [[unlikely]]
            begin_measure(call.number());
    }
    /// Records the arguments of the current call, unless an earlier meeting of it has.
    [[gnu::always_inline]] void set_arguments(const Called& call) noexcept {
        const auto& [a, b, c, d] = call.values();
        if (event_.event != nullptr) common::Recorder::set_arguments(event_, a, b, c, d);
        if (meter_ != nullptr) [[unlikely]]
            add_bytes(call.number(), a);
    }
    [[gnu::always_inline]] void end(bool failed) noexcept {
        if (event_.event != nullptr)
            common::Recorder::set_state(event_,
                                        failed ? common::EventState::failed : common::EventState::ended);
        if (meter_ != nullptr) [[unlikely]]
            end_measure();
    }

  private:
    [[gnu::cold]] void begin_measure(std::uint16_t operation) noexcept {
        measurement_ = common::Meter::enter();
        if (measurement_ == nullptr) return;
        measured_ = {operation, 0, 0, measurement_->waited, 1};
        began_ = meter_->now();
    }
    [[gnu::cold]] void add_bytes(std::uint16_t operation, std::uint64_t first_argument) noexcept {
        if (common::is_sized(operation)) measured_.bytes = first_argument;
    }
    [[gnu::cold]] void end_measure() noexcept {
        if (measurement_ == nullptr) return;
        measured_.ticks = meter_->now() - began_;
        measured_.waiting = measurement_->waited - measured_.waiting;
        meter_->add(measured_);
        if (meter_->log() != nullptr) {
            common::LoggedEvent event;
            event.kind = common::EventKind::collective;
            event.team = team_;
            event.call = count_;
            event.began = began_;
            meter_->log_call(event, measured_, *measurement_);
        }
        common::Meter::leave(*measurement_);
    }

    common::Recorder* recorder_;     ///< null: calls are not recorded
    common::Meter* meter_;           ///< null: they are not measured
    common::Recorder::Entry event_;  ///< the current call's, or the last one's
    std::uint32_t team_;
    std::uint32_t count_ = 0;
    common::ThreadMeasurement* measurement_ =
        nullptr;                     ///< entry of the thread in a measured call; null: it is not measured
    std::uint64_t began_ = 0;        ///< ticks
    common::Meter::Ended measured_;  ///< the current call; until it ends, `waiting` is that of its begin
};

}  // namespace atl::core
