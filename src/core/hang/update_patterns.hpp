// Patterns of updates that most PEs follow, and the one that leaves them. Each function returns an empty text
// if it finds none.
#pragma once

#include "core/hang/known_updates.hpp"

#include <optional>
#include <vector>

namespace atl::core {

/// The one update that leaves the pattern of all others, of nearly every PE.
WordUpdates stray_update(const Known& known);
/// The PE that should have updated the awaited word, but updated it on another PE. Known if most add the same
/// number to their own for the PE that they update.
WordUpdates by_pattern_of_pes(const Known& known);
/// The waiting PE, if it waits for an element that one PE updates on another by the pattern of all PEs.
WordUpdates word_of_another(const Known& known);
/// The PE that has updated an element beside the awaited one, by the pattern of the others or as one of few.
WordUpdates on_other_words(const Known& known);

/// The only PE that does not poll the awaited word, if it has updated it and waits elsewhere: it went on
/// without the next update.
WordUpdates went_on(const Known& known, const std::vector<Update>& updates);
/// The waiting PE, if its word is less than the sum of additions. All other PEs have added 1, equally often.
/// A store by the PE itself is not recorded.
std::optional<WordUpdates> set_back(const Known& known, const std::vector<Update>& updates);
/// The waiting PE, if it waits for the sum of all PEs, and all others have added their parts.
std::optional<WordUpdates> counts_itself(const Known& known, const std::vector<Update>& updates);
/// The only PE that sets the awaited word. The others, two or more, add the same value to it.
std::optional<WordUpdates> sets_among_additions(const Known& known, const std::vector<Update>& updates);
/// The PE whose turn it is: all PEs have set the word in turn, each to the next value.
std::optional<WordUpdates> next_in_turn(const Known& known, const std::vector<Update>& updates);
/// The PE whose only update of the awaited word left it at 0.
std::optional<WordUpdates> set_without_change(const Known& known, const std::vector<Update>& updates);
/// The PE of a tree, by usual numbers of its PEs, that has not updated its parent, the waiting PE. The
/// waiting PE, if all its children have updated other words of that array, and `is_updated` is false: no PE
/// has updated the awaited one.
std::optional<WordUpdates> left_tree(const Known& known, bool is_updated);
/// The PEs that owe their part of a sum: all others have added it. Each part is the same.
std::optional<WordUpdates> owed_parts(const Known& known, const std::vector<Update>& updates);
/// The PE that has not passed a lock of tickets on. A PE adds 1 to a counter for its ticket, and polls the
/// awaited word until it is that number. It adds 1 to the word at the end.
std::optional<WordUpdates> kept_ticket(const Known& known);

}  // namespace atl::core
