// Measured: times a call of the library for statistics and traces. Without them it costs one predicted
// branch.
#pragma once

#include "atoll/export.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::common {
class Meter;
struct ThreadMeasurement;
}  // namespace atl::common
namespace atl::core {
class JobState;
}

namespace atl::detail {

class Measured {
  public:
    enum class Kind : std::uint8_t {
        call,  ///< always timed
        move,  ///< short; only some calls are timed
        wait,  ///< all of its time is waiting
    };
    /// `is_on` is Window::counts. `operation` is a literal of api/events.toml; `world_pe` the peer, or -1.
    Measured(core::JobState& job, bool is_on, Kind kind, const char* operation, std::size_t bytes = 0,
             int world_pe = -1) {
        if (is_on) [[unlikely]]
            begin(job, kind, operation, bytes, world_pe);
    }
    ~Measured() {
        if (meter_ != nullptr) [[unlikely]]
            end();
    }
    /// For calls that learn it late.
    void set_bytes(std::size_t bytes) noexcept {
        if (meter_ != nullptr) [[unlikely]]
            bytes_ = bytes;
    }
    /// For traces: the symmetric object of the call, by its address on this PE, and a value or a team's
    /// identity.
    void set_subject(const void* object, std::uint64_t value = 0) noexcept {
        if (meter_ == nullptr) [[likely]]
            return;
        object_ = object;
        value_ = value;
    }
    /// For traces: the team and the number of the context that completes a non-blocking call.
    void set_context(std::uint32_t team, std::uint32_t context) noexcept {
        team_ = team;
        context_ = context;
    }
    bool is_on() const noexcept { return meter_ != nullptr; }
    Measured(const Measured&) = delete;
    Measured& operator=(const Measured&) = delete;

  private:
    ATOLL_API void begin(core::JobState& job, Kind kind, const char* operation, std::size_t bytes,
                         int world_pe) noexcept;
    ATOLL_API void end() noexcept;

    common::Meter* meter_ = nullptr;  ///< null: this call is not measured
    // Set only in a call that is measured.
    common::ThreadMeasurement* measurement_;
    std::uint64_t began_, waited_, weight_;
    std::size_t bytes_;
    core::JobState* job_;
    const void* object_;
    std::uint64_t value_;
    std::uint32_t team_, context_;
    std::int32_t peer_;
    std::uint16_t operation_;
    Kind kind_;
};

}  // namespace atl::detail
