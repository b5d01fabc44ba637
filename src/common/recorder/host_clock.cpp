#include "common/recorder/host_clock.hpp"

#include "common/clock.hpp"
#include "common/kernel_identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace atl::common {
namespace {

/// Signed, as either clock may be ahead.
double difference(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
}

/// The change of the other clock for each ns of this one, less 1.
double drift(const ClockSample& from, const ClockSample& to) {
    const double here = difference(to.here_ns, from.here_ns);
    return here <= 0 ? 1 : difference(to.there_ns, from.there_ns) / here - 1;
}

}  // namespace

ClockSample ClockSample::of(std::uint64_t asked_ns, std::uint64_t there_ns, std::uint64_t answered_ns) {
    const std::uint64_t half = (answered_ns - asked_ns + 1) / 2;
    return {asked_ns + half, there_ns, half};
}

ClockSample compare_clocks(int count, const std::function<std::uint64_t()>& ask) {
    ClockSample best;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t asked_ns = now_ns(), there_ns = ask();
        if (there_ns == 0) return {};
        const ClockSample sample = ClockSample::of(asked_ns, there_ns, now_ns());
        if (i == 0 || sample.error_ns < best.error_ns) best = sample;
    }
    return best;
}

ClockMap::ClockMap(std::vector<ClockSample> samples) {
    if (samples.empty()) return;
    keep_good(samples);
    for (const ClockSample& point : points_)
        error_ns_ = std::max(error_ns_, static_cast<double>(point.error_ns));
    // A sample that was left out shows an error as far as its own does not explain it.
    double unexplained = 0;
    for (const ClockSample& sample : samples)
        unexplained = std::max(unexplained, deviation(sample) - static_cast<double>(sample.error_ns));
    error_ns_ += unexplained;
    // Beyond the first and the last point the speed is unknown.
    const double beyond = std::max(difference(points_.front().here_ns, samples.front().here_ns),
                                   difference(samples.back().here_ns, points_.back().here_ns));
    error_ns_ += std::max(beyond, 0.0) * most_drift;
}

/// Keeps the samples from which speeds can be computed, and those that a busy network has not spoilt.
void ClockMap::keep_good(const std::vector<ClockSample>& samples) {
    constexpr std::uint64_t spoilt = 3;  // times the smallest error
    std::uint64_t least = UINT64_MAX;
    for (const ClockSample& sample : samples) least = std::min(least, sample.error_ns);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const ClockSample& sample = samples[i];
        const bool is_inner = i != 0 && i + 1 != samples.size();
        if (is_inner && sample.error_ns > spoilt * std::max<std::uint64_t>(least, 1)) continue;
        bool is_better = true;
        while (!points_.empty() && is_better && std::abs(drift(points_.back(), sample)) > most_drift) {
            is_better = sample.error_ns < points_.back().error_ns;
            if (is_better) points_.pop_back();
        }
        if (is_better) points_.push_back(sample);
    }
}

double ClockMap::deviation(const ClockSample& sample) const {
    return std::abs(difference(there_ns(sample.here_ns), sample.there_ns));
}

std::uint64_t ClockMap::there_ns(std::uint64_t here_ns) const {
    if (points_.empty()) return here_ns;
    const auto after =
        std::upper_bound(points_.begin(), points_.end(), here_ns,
                         [](std::uint64_t time, const ClockSample& point) { return time < point.here_ns; });
    const ClockSample& from = after == points_.begin() ? points_.front() : *std::prev(after);
    double speed = 0;  // beyond 1
    if (points_.size() > 1 && after == points_.begin()) speed = drift(points_[0], points_[1]);
    if (points_.size() > 1 && after == points_.end()) speed = drift(*std::prev(after, 2), from);
    if (after != points_.begin() && after != points_.end()) speed = drift(from, *after);
    const double since = difference(here_ns, from.here_ns);
    const auto correction = static_cast<std::int64_t>(std::llround(since * speed));
    return from.there_ns + (here_ns - from.here_ns) + static_cast<std::uint64_t>(correction);
}

std::vector<std::int64_t> ordered_clocks(std::size_t clocks, const std::vector<ClockOrder>& orders,
                                         std::int64_t bound_ns) {
    // Each order is an edge of a graph. The change of a clock is its shortest path (Bellman and Ford).
    std::vector<std::int64_t> changes(clocks, 0);
    bool is_done = false;
    for (std::size_t round = 0; round <= clocks && !is_done; ++round) {
        is_done = true;
        for (const ClockOrder& order : orders) {
            const std::int64_t most = changes[order.effect] + order.most_ns;
            if (changes[order.cause] <= most) continue;
            changes[order.cause] = most;
            is_done = false;
        }
    }
    const bool is_within =
        std::all_of(changes.begin(), changes.end(), [&](std::int64_t change) { return change >= -bound_ns; });
    if (!is_done || !is_within) changes.assign(clocks, 0);
    return changes;
}

std::string clock_identity() {
    const std::string kernel = boot_id();
    if (kernel.empty()) return {};
    char name[64] = {};
    static_cast<void>(!::readlink("/proc/self/ns/time", name, sizeof name - 1));
    return kernel + " " + name;
}

}  // namespace atl::common
