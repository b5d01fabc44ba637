// WaitGraph: the PEs that each PE waits for.
#pragma once

#include "common/board/board.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace atl::core {

/// The operation of a PE that tries to take a lock again and again, as its wait is shown.
inline constexpr const char* loop_of_test_lock = "a loop of test_lock";

/// Returns a text such as "PE 0,2".
std::string pe_text(const std::vector<int>& pes);
/// Returns the form of a verb, such as "waits" or "wait", for the subject `pe_text(pes)`.
const char* verb(const std::vector<int>& pes, const char* one, const char* several);

/// The PEs of which `pe` needs something in its wait; empty if any PE may end it. `doing` is by PE.
std::vector<int> awaited_by(const std::vector<common::PeDoing>& doing, int pe);

class WaitGraph {
  public:
    /// `doing` is by PE, and outlives the graph.
    explicit WaitGraph(const std::vector<common::PeDoing>& doing);

    int count() const { return static_cast<int>(doing_.size()); }
    const std::vector<common::PeDoing>& doing() const { return doing_; }
    const common::PeDoing& of(int pe) const { return doing_[static_cast<std::size_t>(pe)]; }

    /// True for a wait that may never end.
    static bool stays(const common::PeDoing& one) { return one.waits && !one.moves; }
    /// The PEs whose waits may never end.
    const std::vector<int>& waiting() const { return waiting_; }
    /// The PEs of which a waiting PE needs something; empty if any PE may end the wait. A wait for a word
    /// needs the PE that alone has updated it.
    const std::vector<int>& targets(int pe) const { return targets_[static_cast<std::size_t>(pe)]; }
    /// The PEs whose waits need `pe`.
    std::vector<int> waiting_for(int pe) const;

    template <class Is> std::vector<int> pes_that(Is&& is) const {
        std::vector<int> pes;
        for (int pe = 0; pe < count(); ++pe)
            if (is(of(pe))) pes.push_back(pe);
        return pes;
    }

    /// The PE that satisfies a condition and that most others wait for.
    template <class Is> std::optional<int> awaited(Is&& is) const {
        std::optional<int> best;
        std::size_t most = 0;
        for (int pe = 0; pe < count(); ++pe) {
            const std::size_t waiters = is(of(pe)) ? waiting_for(pe).size() : 0;
            if (waiters > most) {
                best = pe;
                most = waiters;
            }
        }
        return best;
    }

    /// Returns a text such as "barrier at solver.py:88".
    std::string call_at(int pe) const;
    /// Returns a text such as "PE 0,2 wait for it in barrier at solver.py:88".
    std::string waiters_text(const std::vector<int>& pes, const std::vector<int>& awaited = {}) const;

  private:
    std::vector<int> needed_by(int pe) const;

    const std::vector<common::PeDoing>& doing_;
    std::vector<std::vector<int>> targets_;  ///< by PE
    std::vector<int> waiting_;
};

}  // namespace atl::core
