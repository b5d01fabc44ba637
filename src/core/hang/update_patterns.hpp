// Patterns of updates that most PEs follow, and the one that leaves them. Each function returns an empty text
// if it finds none.
#pragma once

#include "core/hang/known_updates.hpp"

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

}  // namespace atl::core
