// WordUpdates: the updates of a word that a PE waits for, or of a word that may have been meant.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::core {

struct WordUpdates {
    /// "PE 1 last set it to 4", or the PE that updated another word or PE. Empty if none is known.
    std::string text;
    std::vector<int> pes;  ///< that have updated it, or that seem at fault
    /// True if the text tells a mistake. It then says "the awaited word" in place of "it".
    bool tells_fault = false;
};

/// `waiting` waits for a word of its own, and `doing` is by PE.
WordUpdates updates_of_word_of(const std::vector<common::PeDoing>& doing, int waiting);

/// The only PE that has signalled the awaited word of `waiting`; -1 if none or several have. Puts do not
/// count: one that sets a word to its first value tells nothing of the PE that is to come.
int only_signaller(const std::vector<common::PeDoing>& doing, int waiting);

}  // namespace atl::core
