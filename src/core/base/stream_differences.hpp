// StreamDifferences: the teams of this PE whose members have enqueued different collectives on streams.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atl::core {

/// Waits of kernels, and the thread that watches them, ask it a few times a second. Any thread may.
class StreamDifferences {
  public:
    /// `text` returns the error of a team; empty while its members' calls are equal.
    void watch(int team, std::function<std::string()> text) {
        const std::lock_guard lock(mutex_);
        teams_.emplace_back(team, std::move(text));
    }
    void forget(int team) {
        const std::lock_guard lock(mutex_);
        std::erase_if(teams_, [&](const auto& one) { return one.first == team; });
    }
    std::string text_of(int team) const {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, text] : teams_)
            if (number == team) return text();
        return {};
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::pair<int, std::function<std::string()>>> teams_;
};

}  // namespace atl::core
