// The collective calls of a team in the flight recorder.
#pragma once

#include "common/recorder/recorder.hpp"
#include "core/team/called.hpp"

#include <cstdint>

namespace atl::core {

class RecordedCalls {
  public:
    RecordedCalls(common::Recorder& recorder, std::uint32_t team) : recorder_(&recorder), team_(team) {}

    /// Identity of the team: equal on all members, 1 for the world team.
    std::uint32_t team() const { return team_; }
    void set_team(std::uint32_t team) { team_ = team; }
    /// Number of this team's collective calls so far, the current one included. Equal on members in one call.
    std::uint32_t count() const { return count_; }
    /// The next call has number 1.
    void restart() { count_ = 0; }
    /// For a team that serves another one's calls, which are recorded there.
    void record_nothing() { recorder_ = nullptr; }

    [[gnu::always_inline]] void begin(const Called& call) noexcept {
        ++count_;
        if (recorder_ != nullptr) event_ = recorder_->begin_call(call.number(), team_, count_);
    }
    /// Records the arguments of the current call, unless an earlier meeting of it has.
    [[gnu::always_inline]] void set_arguments(const Called& call) noexcept {
        const auto& [a, b, c, d] = call.values();
        if (event_.event != nullptr) common::Recorder::set_arguments(event_, a, b, c, d);
    }
    [[gnu::always_inline]] void end(bool failed) noexcept {
        if (event_.event != nullptr)
            common::Recorder::set_state(event_,
                                        failed ? common::EventState::failed : common::EventState::ended);
    }

  private:
    common::Recorder* recorder_;     ///< null: calls are not recorded
    common::Recorder::Place event_;  ///< the current call's, or the last one's
    std::uint32_t team_;
    std::uint32_t count_ = 0;
};

}  // namespace atl::core
