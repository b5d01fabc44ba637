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
    /// True if the mistake is an update that is missing so far. A PE that waits itself may make it later.
    bool is_omission = false;
};

/// `waiting` waits for a word of its own, and `doing` is by PE.
WordUpdates updates_of_word_of(const std::vector<common::PeDoing>& doing, int waiting);

/// The only PE that has updated the awaited word of `waiting` and may owe it another update; -1 if none or
/// several have. One put does not count: it may set a word's first value.
int only_updater(const std::vector<common::PeDoing>& doing, int waiting);

}  // namespace atl::core
