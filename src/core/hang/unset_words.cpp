#include "common/board/beside_gpu.hpp"
#include "core/hang/causes.hpp"
#include "core/hang/word_updates.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace atl::core {

namespace {

using common::PeDoing;
using common::PeState;

/// PEs that wait alike, and the known updates of their words, which are alike, too.
struct Waiters {
    std::string wait;
    std::vector<int> pes;
    WordUpdates word;
    std::size_t needed = 0;  ///< the number of PEs that wait for `pes`
};

/// Replaces findings that a PE left the pattern of the others, if they would blame several PEs: the pattern
/// may be the mistake. Then the report lists the known updates of other words.
void doubt_patterns(const WaitGraph& graph, std::map<int, WordUpdates>& words) {
    std::set<int> blamed;
    for (const auto& [pe, word] : words)
        if (word.is_inferred) blamed.insert(word.pes.front());
    if (blamed.size() < 2) return;
    for (auto& [pe, word] : words)
        if (word.is_inferred) word = updates_elsewhere(graph.doing(), pe);
}

/// The known updates of the word of each PE that waits for one. A PE that waits for a word itself may
/// make its update after that wait. So its omission is no fault, if a word that no PE updates is awaited
/// too.
std::map<int, WordUpdates> awaited_words(const WaitGraph& graph) {
    const bool is_lost = std::any_of(graph.doing().begin(), graph.doing().end(),
                                     [](const PeDoing& one) { return one.signals_lost || one.writes_lost; });
    std::map<int, WordUpdates> all;
    for (const int pe : graph.waiting())
        if (awaited_by(graph.doing(), pe).empty() && graph.of(pe).wait.word_bytes != 0)
            all[pe] = updates_of_word_of(graph.doing(), pe);
    doubt_patterns(graph, all);
    // A wait for more additions is a root, too: others may wait until it ends.
    bool has_root = false;
    for (auto& [pe, word] : all) {
        word.is_root = word.is_root && !is_lost;
        has_root = has_root || word.is_root || word.needs_more;
    }
    for (bool changes = has_root; changes;) {
        changes = false;
        for (auto& [pe, word] : all) {
            if (!word.is_omission && !word.is_late) continue;
            const auto next = all.find(word.pes.front());
            if (next == all.end() || next->second.tells_fault) continue;
            word = updates_elsewhere(graph.doing(), pe);
            word.is_root = false;
            changes = true;
        }
    }
    return all;
}

/// Waits for words that no PE is known to end. The likeliest causes come first.
std::vector<Waiters> waiters_for_words(const WaitGraph& graph) {
    const std::map<int, WordUpdates> words = awaited_words(graph);
    std::map<std::pair<std::string, std::string>, Waiters> groups;
    for (const int pe : graph.waiting()) {
        if (!graph.targets(pe).empty()) continue;
        const auto known = words.find(pe);
        const WordUpdates word = known == words.end() ? WordUpdates{} : known->second;
        // Waiters whose words one PE is to blame for are a group, with the evidence of the first.
        Waiters& group = groups[{graph.of(pe).text, word.tells_fault ? pe_text(word.pes) : word.text}];
        if (group.pes.empty()) {
            group.wait = graph.of(pe).text;
            group.word = word;
        }
        // A mistake of the PE itself tells more than an update that it may make after its wait.
        if (group.word.is_omission && word.tells_fault && !word.is_omission) group.word = word;
        group.pes.push_back(pe);
        group.needed += graph.waiting_for(pe).size();
    }
    std::vector<Waiters> all;
    for (const auto& [key, group] : groups) all.push_back(group);
    // A PE that waits for a word itself may make its missing update after that.
    const auto is_later = [&](const WordUpdates& word) {
        return (word.is_omission || word.is_late) && word.pes.size() == 1 && words.contains(word.pes[0]);
    };
    const auto rank = [&](const Waiters& one) {
        const int kind = one.word.tells_fault    ? (is_later(one.word) ? 1 : 0)
                         : one.word.is_root      ? 2
                         : one.word.text.empty() ? 4
                                                 : 3;
        return std::pair(kind, -static_cast<long>(one.needed));
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Waiters& a, const Waiters& b) { return rank(a) < rank(b); });
    return all;
}

/// True if the PEs that seem at fault for `one` wait for words themselves, while the fault behind `first` is
/// known. Two waits for each other's PEs are shown both.
bool may_follow(const WaitGraph& graph, const Waiters& first, const Waiters& one) {
    const WordUpdates& known = first.word;
    const std::vector<int>& pes = one.word.pes;
    const bool is_mutual = std::any_of(known.pes.begin(), known.pes.end(), [&](int pe) {
        return std::find(one.pes.begin(), one.pes.end(), pe) != one.pes.end();
    });
    return known.tells_fault && one.word.tells_fault && pes != known.pes && !is_mutual &&
           std::all_of(pes.begin(), pes.end(), [&](int pe) {
               return WaitGraph::stays(graph.of(pe)) && awaited_by(graph.doing(), pe).empty();
           });
}

bool has_ended(const PeDoing& one) { return one.state >= PeState::finalized; }

/// The text of one wait, the faults of which are reported unless `is_new` is false.
std::string waiters_for_word_text(const WaitGraph& graph, const Waiters& one, bool is_new, bool says_root) {
    std::string text;
    if (one.word.tells_fault && is_new) {
        text = one.word.text + "; ";
        if (one.word.is_omission && has_ended(graph.of(one.word.pes[0]))) {
            const std::string pe = pe_text(one.word.pes);
            text = pe + " " + common::state_text(graph.of(one.word.pes[0]).state) + ", and" +
                   text.substr(pe.size());
        }
    }
    if (one.wait.starts_with(common::its_gpu))
        text += (one.pes.size() == 1 ? "the GPU of " : "the GPUs of ") + pe_text(one.pes) +
                verb(one.pes, " waits", " wait") + " in " + one.wait.substr(common::its_gpu.size());
    else
        text += pe_text(one.pes) + verb(one.pes, " waits", " wait") + " in " + one.wait;
    if (one.word.is_root && (says_root || !one.word.text.empty()))
        text += std::string(", for a word that no PE is known to have ") + one.word.verb;
    if (!one.word.tells_fault && !one.word.text.empty()) text += " (" + one.word.text + ")";
    return text;
}

/// Returns a text such as "; PE 6 waits in barrier at x.c:19": the collective call to which the PE at fault
/// has gone on. Else empty.
std::string present_call(const WaitGraph& graph, const Waiters& one) {
    const std::vector<int>& pes = one.word.pes;
    if (!one.word.tells_fault || pes.size() != 1) return {};
    const PeDoing& its = graph.of(pes[0]);
    if (!WaitGraph::stays(its) || its.wait.call == 0 || its.wait.site[0] == '\0') return {};
    return "; " + pe_text(pes) + " waits in " + graph.call_at(pes[0]);
}

}  // namespace

std::optional<Cause> left_out_of_circle(const WaitGraph& graph, const std::vector<int>& circle) {
    const auto has = [&](int pe) { return std::find(circle.begin(), circle.end(), pe) != circle.end(); };
    for (const Waiters& one : waiters_for_words(graph)) {
        const WordUpdates& word = one.word;
        if (!word.tells_fault || word.is_omission || word.pes.size() != 1 || !has(word.pes[0]) ||
            std::any_of(one.pes.begin(), one.pes.end(), has))
            continue;
        std::vector<int> sorted = circle;
        std::sort(sorted.begin(), sorted.end());
        return Cause{
            waiters_for_word_text(graph, one, true, false) + "; " + pe_text(sorted) + " wait for each other",
            word.pes};
    }
    return std::nullopt;
}

/// PEs that wait for a word, while no PE is left that could set it.
std::optional<Cause> unset_words(const WaitGraph& graph) {
    const std::vector<Waiters> all = waiters_for_words(graph);
    if (all.empty()) return std::nullopt;
    // A PE in finalize sets no word any more, which its program may have wanted.
    std::vector<int> pes =
        graph.pes_that([](const PeDoing& one) { return one.waits && one.text.starts_with("finalize"); });
    std::string text;
    if (!pes.empty() && !all[0].word.tells_fault)
        text = pe_text(pes) + verb(pes, " is", " are") + " in finalize, and ";
    const bool are_roots =
        std::all_of(all.begin(), all.end(), [](const Waiters& one) { return one.word.is_root; });
    if (are_roots && all.size() == 1 && all[0].pes.size() > 1 &&
        all[0].pes.size() == static_cast<std::size_t>(graph.count()))
        text = std::string("no PE is known to have ") + all[0].word.verb +
               " the awaited words: the first update is missing; ";
    constexpr std::size_t most = 2;
    std::vector<int> unshown;
    std::set<int> senders;
    std::set<std::vector<int>> reported;  // sets of PEs already reported as at fault
    for (std::size_t i = 0; i < all.size(); ++i) {
        const WordUpdates& updates = all[i].word;
        if (i < most && (i == 0 || !may_follow(graph, all[0], all[i]))) {
            text += (i == 0 ? "" : "; ") +
                    waiters_for_word_text(graph, all[i], reported.insert(updates.pes).second, !are_roots);
            senders.insert(updates.pes.begin(), updates.pes.end());
        } else {
            unshown.insert(unshown.end(), all[i].pes.begin(), all[i].pes.end());
        }
        pes.insert(pes.end(), all[i].pes.begin(), all[i].pes.end());
    }
    text += present_call(graph, all[0]);
    std::sort(unshown.begin(), unshown.end());
    if (!unshown.empty())
        text += "; " + pe_text(unshown) + verb(unshown, " waits", " wait") + " for other words";
    std::erase_if(pes, [&](int pe) { return senders.contains(pe); });
    pes.insert(pes.begin(), senders.begin(), senders.end());
    const bool is_message = graph.of(all[0].pes[0]).wait.group[0] != '\0';
    // "it" is the only word, or that of one PE.
    const bool is_one = all.size() == 1 && all[0].pes.size() == 1;
    return Cause{text + ", and every PE waits: none is left that could " +
                     (is_message ? "send to it"
                      : is_one   ? "set it"
                                 : "change this"),
                 pes};
}

}  // namespace atl::core
