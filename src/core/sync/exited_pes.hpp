// ExitedPes: detects that an awaited PE has ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atl::core {

class JobState;

/// The words between the PE that has ended and the wait for it, in errors. The launcher finds the
/// error by them.
inline constexpr std::string_view cannot_end = ", so this cannot end: ";
/// The same for a PE that has left, behind its name. Other words may follow.
inline constexpr std::string_view left_job = " left the job";

/// The PEs that a wait needs, and one of them that has ended.
class ExitedPes {
  public:
    /// For a wait that needs all of the `n` PEs.
    static ExitedPes among(const JobState& job, const int* pes, int n);
    /// For a wait that any other PE may end: true once all others have ended. A PE alone in its job waits for
    /// itself.
    static ExitedPes with_all_others(const JobState& job);

    explicit operator bool() const { return pe_ >= 0; }
    /// False while the reason may still arrive. The exit status of a PE that left without finalize may take
    /// 0.5 s, or 5 s while its process runs. The launcher's or PE 0's report of a death may take 5 s, or 0.5
    /// s if neither can write one. At `since_ns` the waiting PE first saw that the other is gone.
    bool is_final(std::uint64_t since_ns) const;
    /// Returns a text such as "PE 3 died". `initialized`: the wait comes after init.
    std::string text(bool initialized = true) const;
    /// The same for a wait in a collective call, which finalize would not help: "PE 3 left the job".
    std::string text_in_call() const;
    /// Returns a sentence on the last call of the PE, and on `call`, in which this PE waits. A space comes
    /// first. Empty if the recorders do not have the calls of the PE.
    std::string calls_text(std::uint32_t team, std::uint32_t call) const;

  private:
    ExitedPes(const JobState& job, int pe, bool any_pe) : job_(job), pe_(pe), any_pe_(any_pe) {}

    const JobState& job_;
    int pe_;
    bool any_pe_;
};

}  // namespace atl::core
