// SentSignals: the signals that PEs have sent to a word that a PE waits for, or to that word of another PE.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::core {

struct SentSignals {
    /// "PE 1 last set it to 4", or the PE that signalled the wrong PE. Empty if none is known.
    std::string text;
    std::vector<int> pes;  ///< the senders
};

/// `waiting` waits for a word of its own, and `doing` is by PE.
SentSignals signals_to_word_of(const std::vector<common::PeDoing>& doing, int waiting);

/// The only PE that has signalled the awaited word of `waiting`; -1 if none or several have.
int only_sender(const std::vector<common::PeDoing>& doing, int waiting);

}  // namespace atl::core
