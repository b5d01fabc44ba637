#include "core/hang/sent_signals.hpp"

#include "common/pe_ranges.hpp"

#include <algorithm>
#include <map>
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
        sent.text += (sent.text.empty() ? "; PE " : ", PE ") + common::pe_ranges(pes) + " " + text;
    return sent;
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

/// The number that most PEs add to their own to get that of the PE that they signal; -1 without a majority.
int usual_distance(const std::vector<PeDoing>& doing, std::uint64_t place) {
    const int n_pes = static_cast<int>(doing.size());
    std::map<int, int> counts;
    for (int pe = 0; pe < n_pes; ++pe)
        for (const int to : signalled_by(of(doing, pe), place)) ++counts[((to - pe) % n_pes + n_pes) % n_pes];
    for (const auto& [distance, count] : counts)
        if (2 * count > n_pes) return distance;
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
    return {"; PE " + std::to_string(sender) + " signalled this word of PE " + common::pe_ranges(others) +
                ", where PE " + std::to_string(waiting) + " follows the pattern of the others",
            {sender}};
}

}  // namespace

SentSignals signals_to_word_of(const std::vector<PeDoing>& doing, int waiting) {
    const common::WaitCopy& wait = of(doing, waiting).wait;
    if (wait.has_value == 0 || wait.offset == ~std::uint64_t{0}) return {};
    SentSignals sent = received(doing, waiting);
    return sent.text.empty() ? misdirected(doing, waiting) : sent;
}

}  // namespace atl::core
