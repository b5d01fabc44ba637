// PEs that have ended, for those who wait.
#pragma once

#include <cstdint>
#include <string>

namespace atl::core {

class JobState;

/// Whom a wait is for, and that one of them has ended.
class Gone {
  public:
    /// Of `n` PEs that are all needed.
    static Gone among(const JobState& job, const int* pes, int n);
    /// Of all others, where anybody may end the wait: none as long as one of them is there. A PE that is
    /// alone from the start waits for itself.
    static Gone with_all_others(const JobState& job);

    explicit operator bool() const { return pe_ >= 0; }
    /// False while a PE that left without finalize may still end by itself: its exit status, or what ended
    /// it, then is why the job ends. `since_ns`: when the waiting PE first saw that it is gone.
    bool is_final(std::uint64_t since_ns) const;
    /// "PE 3 died". `initialized`: the waits are later than init.
    std::string text(bool initialized = true) const;

  private:
    Gone(const JobState& job, int pe, bool anybody) : job_(job), pe_(pe), anybody_(anybody) {}

    const JobState& job_;
    int pe_;
    bool anybody_;
};

}  // namespace atl::core
