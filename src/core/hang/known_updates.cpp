#include "core/hang/known_updates.hpp"

#include "atoll/anywhere.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>

namespace atl::core {

using common::PeDoing;
using common::UpdateKind;
using common::UpdateSeen;

Known::Known(const std::vector<PeDoing>& doing, int waiting) : doing_(doing), waiting_(waiting) {
    const std::uint64_t offset = wait().offset;
    uses_signals_ = std::any_of(doing.begin(), doing.end(), [&](const PeDoing& one) {
        return std::any_of(one.signals.begin(), one.signals.end(),
                           [&](const UpdateSeen& seen) { return covers(seen, offset); });
    });
    for (const PeDoing& one : doing) {
        signals_lost_ = signals_lost_ || one.signals_lost;
        writes_lost_ = writes_lost_ || one.writes_lost;
    }
}

bool Known::would_end(const UpdateSeen& seen) const {
    return seen.kind == UpdateKind::add ||
           (seen.kind == UpdateKind::set &&
            detail::compare(static_cast<std::int64_t>(seen.value), static_cast<Compare>(wait().compare),
                            static_cast<std::int64_t>(wait().expected)));
}

bool Known::waits_for_no_update(int pe) const {
    const PeDoing& one = doing_of(pe);
    if (has_lost_any() || !one.waits || one.wait.word_bytes == 0 || one.wait.missing[0] >= 0) return false;
    for (int by = 0; by < n_pes(); ++by)
        if (waits_for_update_by(pe, by)) return false;
    return true;
}

bool Known::waits_for_update_by(int pe, int by) const {
    const PeDoing& one = doing_of(pe);
    if (!one.waits || one.wait.word_bytes == 0 || (one.wait.word_pe >= 0 && one.wait.word_pe != pe))
        return false;
    const std::vector<UpdateSeen> updates = all_of(by);
    return std::any_of(updates.begin(), updates.end(), [&](const UpdateSeen& seen) {
        return seen.pe == pe && covers(seen, one.wait.offset);
    });
}

std::vector<UpdateSeen> Known::all_of(int pe) const {
    const PeDoing& one = doing_of(pe);
    std::vector<UpdateSeen> all = one.signals;
    all.insert(all.end(), one.writes.begin(), one.writes.end());
    return all;
}

std::string number_text(std::uint64_t value) { return std::to_string(static_cast<std::int64_t>(value)); }

std::string times_text(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " time" : " times");
}

std::string text_of(const UpdateSeen& seen, const std::string& object) {
    const std::string value = number_text(seen.value);
    switch (seen.kind) {
        case UpdateKind::set:
            return "last set " + object + " to " + value;
        case UpdateKind::add:
            return "last added " + value + " to " + object;
        case UpdateKind::change:
            return "last changed " + object;
        case UpdateKind::put:
            break;
    }
    return "last put " + value + " bytes to " + object;
}

std::vector<int> updated_by(const Known& known, int sender) {
    std::vector<int> pes;
    for (const UpdateSeen& seen : known.of(sender))
        if (Known::covers(seen, known.wait().offset)) pes.push_back(seen.pe);
    std::sort(pes.begin(), pes.end());
    pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
    return pes;
}

std::vector<Sent> all_sent(const Known& known) {
    std::vector<Sent> all;
    for (int pe = 0; pe < known.n_pes(); ++pe)
        for (const int to : updated_by(known, pe)) all.push_back({pe, to});
    return all;
}

int distance_of(const Known& known, const Sent& sent) {
    return (sent.to - sent.from + known.n_pes()) % known.n_pes();
}

std::string updated_text(const Known& known, const std::vector<int>& pes) {
    return known.verb() + (" the awaited word of " + pe_text(pes));
}

std::string none_known_text(const Known& known) {
    return ", and none is known on " + pe_text({known.waiting()});
}

WordUpdates fault(int pe, const std::string& text) { return {pe_text({pe}) + " " + text, {pe}, true, false}; }
WordUpdates omission(int pe, const std::string& text) {
    return {pe_text({pe}) + " " + text, {pe}, true, true};
}

WordUpdates lateness(int pe, const std::string& text) {
    WordUpdates late = fault(pe, text);
    late.is_late = true;
    return late;
}

WordUpdates faults(const std::vector<std::pair<int, std::string>>& pes, std::size_t most) {
    if (pes.empty() || pes.size() > most) return {};
    WordUpdates all;
    all.tells_fault = true;
    for (auto one = pes.begin(); one != pes.end();) {
        std::vector<int> alike;
        const std::string& text = one->second;
        for (; one != pes.end() && one->second == text; ++one) alike.push_back(one->first);
        all.pes.insert(all.pes.end(), alike.begin(), alike.end());
        std::sort(alike.begin(), alike.end());
        all.text += (all.text.empty() ? "" : ", ") + pe_text(alike) + " " + text;
    }
    return all;
}

namespace {

/// The lines of updates of the awaited word or of its copies by some PEs; else of its array.
std::vector<std::string> lines_of(const Known& known, const std::vector<int>& pes) {
    std::vector<std::string> lines;
    for (const bool in_array : {false, true}) {
        for (const int pe : pes)
            for (const common::UpdateSeen& seen : known.all_of(pe)) {
                const std::string line = seen.site.text;
                if (line.empty() ||
                    !(in_array ? known.is_in_block(seen.offset) : Known::covers(seen, known.wait().offset)))
                    continue;
                if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
            }
        if (!lines.empty()) break;
    }
    return lines;
}

std::string joined_lines(const std::vector<std::string>& lines) {
    constexpr std::size_t most = 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += (i == 0 ? "" : ", ") + lines[i];
    return text + (lines.size() > most ? ", ..." : "");
}

}  // namespace

std::string lines_text(const Known& known, const WordUpdates& made) {
    if (made.text.empty()) return {};
    std::vector<int> all;
    for (int pe = 0; pe < known.n_pes(); ++pe) all.push_back(pe);
    std::vector<std::string> lines = lines_of(known, made.pes);
    const bool are_own = !lines.empty();
    if (!are_own) lines = lines_of(known, all);
    // The text may name some itself.
    std::erase_if(lines, [&](const std::string& line) { return made.text.find(line) != std::string::npos; });
    if (lines.empty()) return {};
    if (!made.tells_fault) return "; updates: " + joined_lines(lines);
    const std::string what = known.uses_signals() ? "signals" : "updates";
    const std::string whose = made.pes.size() == 1 ? " (its " : " (their ";
    return (are_own ? whose + what + ": " : " (" + what + " of others: ") + joined_lines(lines) + ")";
}

}  // namespace atl::core
