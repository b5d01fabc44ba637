// Clocks of several hosts: comparisons by messages, and the times of one clock on the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atl::common {

/// A moment on two clocks. A question and its answer bound the moment at which the other clock was read.
struct ClockSample {
    std::uint64_t here_ns = 0;   ///< the middle between question and answer
    std::uint64_t there_ns = 0;  ///< the time in the answer
    std::uint64_t error_ns = 0;  ///< half of the time between question and answer

    static ClockSample of(std::uint64_t asked_ns, std::uint64_t there_ns, std::uint64_t answered_ns);
};

/// Asks `count` times and returns the sample with the smallest error. `ask` returns the other clock's time,
/// or 0 if there will be no answer. Then the sample is 0 throughout.
ClockSample compare_clocks(int count, const std::function<std::uint64_t()>& ask);

/// Converts times of this host's CLOCK_MONOTONIC to another clock, by samples: on straight lines between
/// them. Without samples both clocks are the same.
class ClockMap {
  public:
    /// Clocks differ in speed by less than this; a larger difference between two samples is their error.
    static constexpr double most_drift = 500e-6;

    ClockMap() = default;
    /// `samples` are in the order of their times.
    explicit ClockMap(std::vector<ClockSample> samples);

    std::uint64_t there_ns(std::uint64_t here_ns) const;
    /// Bound of the error of there_ns() between the first and the last sample. A clock whose speed changes
    /// counts as far as samples show it.
    double error_ns() const { return error_ns_; }

  private:
    void keep_good(const std::vector<ClockSample>& samples);
    double deviation(const ClockSample& sample) const;

    std::vector<ClockSample> points_;  ///< by which it converts
    double error_ns_ = 0;
};

/// A cause on one clock came before its effect on another: by the clocks at most `most_ns` before. A negative
/// distance shows that the clocks differ.
struct ClockOrder {
    std::size_t cause = 0, effect = 0;  ///< clocks
    std::int64_t most_ns = 0;
};
/// Changes of clocks after which every cause comes before its effect. Each is 0 or negative, and as small as
/// possible. Without such changes, or if one exceeded `bound_ns`, all are 0.
std::vector<std::int64_t> ordered_clocks(std::size_t clocks, const std::vector<ClockOrder>& orders,
                                         std::int64_t bound_ns);

/// A text that is equal for processes with the same CLOCK_MONOTONIC; empty if that is unknown. Containers of
/// one kernel may have other times.
std::string clock_identity();

}  // namespace atl::common
