// The causes of waits, a function for each. A function returns nothing if its cause is not found.
#pragma once

#include "core/hang/cause.hpp"
#include "core/hang/wait_graph.hpp"

#include <optional>
#include <string>
#include <vector>

namespace atl::core {

/// Members of a team that made different calls with the same number.
std::optional<Cause> differing_calls(const WaitGraph& graph);

/// A PE that has left the job, and that others wait for.
std::optional<Cause> ended(const WaitGraph& graph);
/// PEs that a signal has stopped, or that are on another host and do not answer.
std::optional<Cause> stopped(const WaitGraph& graph);
/// PEs that have not called init.
std::optional<Cause> absent(const WaitGraph& graph);
/// PEs that do not wait, and that others wait for.
std::optional<Cause> elsewhere(const WaitGraph& graph);

/// PEs that wait for each other.
std::optional<Cause> circle(const WaitGraph& graph);

/// PEs that wait for words, while no PE is left that could set them.
std::optional<Cause> unset_words(const WaitGraph& graph);

/// A PE of a circle that has updated the word of others, but not that of a PE outside the circle, which waits
/// for it.
std::optional<Cause> left_out_of_circle(const WaitGraph& graph, const std::vector<int>& circle);

/// A member of a circle that gets a message of the awaited PE, by another tag than the awaited one.
std::optional<Cause> other_tag(const WaitGraph& graph, const std::vector<int>& circle);

/// A PE in a collective call, without a message or new group for which another one waits.
std::optional<Cause> left_out_message(const WaitGraph& graph, int in_collective, int waiting);

/// PEs in a circle of waits that create the same group under different numbers.
std::optional<Cause> left_out_group(const WaitGraph& graph, const std::vector<int>& circle);

/// A message of a PE for a member of the circle, which waits for another PE. Others of the circle may wait
/// for a message of its sender. `others` is the circle as text.
std::optional<Cause> unreceived_message(const WaitGraph& graph, const std::vector<int>& circle,
                                        const std::string& others);

/// True for a PE that waits for a lock, also in a loop of attempts.
bool waits_for_lock(const common::PeDoing& one);
/// Returns a text such as "; PE 1 holds the lock that PE 0 waits for, acquired at x.py:8", for all waits for
/// locks. Empty if no place is known.
std::string holders_text(const WaitGraph& graph);
/// Returns a text such as "PE 0 holds that lock, acquired at x.py:8": that of a waiting PE.
std::string holder_text(const WaitGraph& graph, int waiting, int holder);
/// The PEs on which Python has ignored an exception.
std::vector<int> ignoring(const WaitGraph& graph);

}  // namespace atl::core
