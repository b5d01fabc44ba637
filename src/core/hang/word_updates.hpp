// WordUpdates: the updates of a word that a PE waits for, or of a word that may have been meant.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::core {

struct WordUpdates {
    /// "PE 1 last set it to 4", or the PE that updated another word or PE. Empty if none is known.
    std::string text;
    std::vector<int> pes;  ///< that have updated it
};

/// `waiting` waits for a word of its own, and `doing` is by PE.
WordUpdates updates_of_word_of(const std::vector<common::PeDoing>& doing, int waiting);

/// The only PE that has updated the awaited word of `waiting`; -1 if none or several have.
int only_updater(const std::vector<common::PeDoing>& doing, int waiting);

}  // namespace atl::core
