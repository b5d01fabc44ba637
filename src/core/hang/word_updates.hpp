// WordUpdates: the updates of a word that a PE waits for, or of a word that may have been meant.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::core {

struct WordUpdates {
    /// A text such as "PE 1 last set it to 4", or the PE that updated another word or PE. Empty if none is
    /// known.
    std::string text;
    std::vector<int> pes;  ///< that have updated it, or that seem at fault
    /// True if the text tells a mistake. It then says "the awaited word" in place of "it".
    bool tells_fault = false;
    /// True if the mistake is an update that is missing so far. A PE that waits itself may make it later.
    bool is_omission = false;
    /// True if the mistake is that a PE has made fewer updates than others. It may make them after its wait.
    bool is_late = false;
    /// True if no PE is known to have updated the word, and `text` names no mistake. It then names the
    /// PEs that updated that word of other PEs, if any.
    bool is_root = false;
    /// True if the mistake is that a PE did not follow the others. If the patterns of several words blame
    /// different PEs, the pattern itself may be wrong.
    bool is_inferred = false;
    /// True if PEs have added to the word, too little so far, and the text names no mistake.
    bool needs_more = false;
    const char* verb = "updated";  ///< or "signalled"
};

/// `waiting` waits for a word of its own, and `doing` is by PE.
WordUpdates updates_of_word_of(const std::vector<common::PeDoing>& doing, int waiting);

/// Returns the report for a word that no PE is known to have updated. It blames no PE.
WordUpdates updates_elsewhere(const std::vector<common::PeDoing>& doing, int waiting);

/// The only PE that has updated the awaited word of `waiting` and may owe it another update. Or the only
/// child in a tree that has not updated it. -1 if none or several have. One put does not count: it may set a
/// word's first value.
int only_updater(const std::vector<common::PeDoing>& doing, int waiting);

}  // namespace atl::core
