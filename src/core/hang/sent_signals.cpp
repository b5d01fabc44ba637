#include "core/hang/sent_signals.hpp"

#include "common/pe_ranges.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace atl::core {

namespace {

using common::PeDoing;
using common::SignalSeen;

const PeDoing& of(const std::vector<PeDoing>& doing, int pe) { return doing[static_cast<std::size_t>(pe)]; }

/// "last added 1", "last set it to 4".
std::string text_of(const SignalSeen& seen) {
    return (seen.adds ? "last added " : "last set it to ") +
           std::to_string(static_cast<std::int64_t>(seen.value));
}

bool has_word(const PeDoing& waiting) {
    return waiting.wait.has_value != 0 && waiting.wait.offset != ~std::uint64_t{0};
}

/// True if the notes of a PE lack signals: then a missing one tells nothing.
bool has_lost(const std::vector<PeDoing>& doing) {
    return std::any_of(doing.begin(), doing.end(), [](const PeDoing& one) { return one.signals_lost; });
}

SentSignals received(const std::vector<PeDoing>& doing, int waiting) {
    std::map<std::string, std::vector<int>> by_signal;
    SentSignals sent;
    for (int pe = 0; pe < static_cast<int>(doing.size()); ++pe)
        for (const SignalSeen& seen : of(doing, pe).signals) {
            if (seen.pe != waiting || seen.place != of(doing, waiting).wait.offset) continue;
            by_signal[text_of(seen)].push_back(pe);
            sent.pes.push_back(pe);
        }
    for (const auto& [text, pes] : by_signal)
        sent.text += (sent.text.empty() ? "PE " : ", PE ") + common::pe_ranges(pes) + " " + text;
    return sent;
}

/// The one PE that has not signalled the word of `waiting`, if all others have, two or more; else -1.
int only_silent(const std::vector<PeDoing>& doing, int waiting, const std::vector<int>& senders) {
    const std::set<int> sent(senders.begin(), senders.end());
    constexpr std::size_t least = 2;
    if (has_lost(doing) || sent.size() < least || sent.size() + 2 != doing.size() || sent.contains(waiting))
        return -1;
    for (int pe = 0; pe < static_cast<int>(doing.size()); ++pe)
        if (pe != waiting && !sent.contains(pe)) return pe;
    return -1;
}

/// The PEs whose copy of the word a PE has signalled, in ascending order.
std::vector<int> signalled_by(const PeDoing& sender, std::uint64_t place) {
    std::vector<int> pes;
    for (const SignalSeen& seen : sender.signals)
        if (seen.place == place) pes.push_back(seen.pe);
    std::sort(pes.begin(), pes.end());
    pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
    return pes;
}

/// The number that most senders add to their own for the PE that they signal; -1 without a majority of two
/// or more.
int usual_distance(const std::vector<PeDoing>& doing, std::uint64_t place) {
    if (has_lost(doing)) return -1;
    const int n_pes = static_cast<int>(doing.size());
    std::map<int, int> counts;
    int signals = 0;
    for (int pe = 0; pe < n_pes; ++pe)
        for (const int to : signalled_by(of(doing, pe), place)) {
            ++counts[((to - pe) % n_pes + n_pes) % n_pes];
            ++signals;
        }
    for (const auto& [distance, count] : counts)
        if (count > 1 && 2 * count > signals) return distance;
    return -1;
}

/// The PE that should have signalled `waiting`, if the others follow one pattern and it signalled another PE.
SentSignals misdirected(const std::vector<PeDoing>& doing, int waiting) {
    const std::uint64_t place = of(doing, waiting).wait.offset;
    const int n_pes = static_cast<int>(doing.size());
    const int distance = usual_distance(doing, place);
    if (distance < 0) return {};
    const int sender = (waiting - distance + n_pes) % n_pes;
    const std::vector<int> others = signalled_by(of(doing, sender), place);
    if (others.empty()) return {};
    return {"PE " + std::to_string(sender) + " signalled this word of PE " + common::pe_ranges(others) +
                ", where PE " + std::to_string(waiting) + " follows the pattern of the others",
            {sender}};
}

}  // namespace

SentSignals signals_to_word_of(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(of(doing, waiting))) return {};
    SentSignals sent = received(doing, waiting);
    if (sent.text.empty()) return misdirected(doing, waiting);
    if (const int silent = only_silent(doing, waiting, sent.pes); silent >= 0) {
        sent.text += ", and PE " + std::to_string(silent) + " has not signalled it";
        sent.pes = {silent};
    }
    return sent;
}

int only_sender(const std::vector<PeDoing>& doing, int waiting) {
    if (!has_word(of(doing, waiting)) || has_lost(doing)) return -1;
    const std::vector<int> pes = received(doing, waiting).pes;
    return pes.size() == 1 && pes[0] != waiting ? pes[0] : -1;
}

}  // namespace atl::core
