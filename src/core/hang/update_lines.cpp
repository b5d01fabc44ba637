// The lines of the program that update an awaited word.
#include "core/hang/update_patterns.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace atl::core {

namespace {

/// The lines of updates of the awaited word or of its copies by some PEs; else of its array.
std::vector<std::string> lines_of(const Known& known, const std::vector<int>& pes) {
    std::vector<std::string> lines;
    for (const bool in_array : {false, true}) {
        for (const int pe : pes)
            for (const common::UpdateSeen& seen : known.all_of(pe)) {
                const std::string line = seen.site.text;
                if (line.empty() || !(in_array ? known.is_in_block(seen.place)
                                               : Known::covers(seen, known.wait().offset)))
                    continue;
                if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
            }
        if (!lines.empty()) break;
    }
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
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
    if (!made.tells_fault) return ", at " + joined(lines);
    const std::string what = known.uses_signals() ? "signals" : "updates";
    const std::string whose = made.pes.size() == 1 ? " (its " : " (their ";
    return (are_own ? whose + what + ": " : " (" + what + " of others: ") + joined(lines) + ")";
}

}  // namespace atl::core
