#include "core/hang/cause.hpp"

#include "common/board/beside_gpu.hpp"
#include "common/pe_ranges.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/word_updates.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace atl::core {

namespace {

using common::CallSeen;
using common::PeDoing;
using common::PeState;

std::string pe_text(const std::vector<int>& pes) { return "PE " + common::pe_ranges(pes); }

/// "waits" or "wait", for the subject `pe_text(pes)`.
const char* verb(const std::vector<int>& pes, const char* one, const char* several) {
    return pes.size() == 1 ? one : several;
}

std::string at(const char* site) { return site[0] == '\0' ? std::string() : std::string(" at ") + site; }

class Finder {
  public:
    explicit Finder(const std::vector<PeDoing>& doing) : doing_(doing) {
        for (int pe = 0; pe < count(); ++pe) targets_.push_back(needed_by(pe));
        waiting_ = pes_that(stays);
    }

    Cause find() const {
        if (waiting_.empty()) return {};
        for (const auto& rule : {&Finder::differing_calls, &Finder::ended, &Finder::stopped, &Finder::circle,
                                 &Finder::absent, &Finder::elsewhere, &Finder::unset_words})
            if (std::optional<Cause> cause = (this->*rule)()) return *std::move(cause);
        return {};
    }

  private:
    /// True for a wait that may never end.
    static bool stays(const PeDoing& one) { return one.waits && !one.moves; }
    int count() const { return static_cast<int>(doing_.size()); }
    const PeDoing& of(int pe) const { return doing_[static_cast<std::size_t>(pe)]; }

    template <class Is> std::vector<int> pes_that(Is&& is) const {
        std::vector<int> pes;
        for (int pe = 0; pe < count(); ++pe)
            if (is(of(pe))) pes.push_back(pe);
        return pes;
    }

    /// The PEs that `pe` waits for. A wait for a word lists none: it needs the PE that alone has updated it.
    std::vector<int> needed_by(int pe) const {
        std::vector<int> pes = awaited_by(doing_, pe);
        if (pes.empty() && of(pe).waits)
            if (const int sender = only_updater(doing_, pe); sender >= 0) pes = {sender};
        return pes;
    }

    /// The PEs of which a waiting PE needs something; empty if any PE may end the wait.
    const std::vector<int>& targets(int pe) const { return targets_[static_cast<std::size_t>(pe)]; }
    bool waits_for_anybody(int waiting) const { return targets(waiting).empty(); }

    /// PEs that need something of `pe`, directly or through others.
    std::vector<int> waiting_for(int pe) const {
        std::vector<int> found;
        for (const int other : waiting_) {
            const std::vector<int>& needs = targets(other);
            if (std::find(needs.begin(), needs.end(), pe) != needs.end()) found.push_back(other);
        }
        return found;
    }

    /// "barrier at solver.py:88".
    std::string call_at(int pe) const { return placed_text(of(pe).wait.operation, of(pe).wait.site); }

    /// ", and PE 0,2 wait for it in barrier at solver.py:88".
    std::string waiters_text(const std::vector<int>& pes, const std::vector<int>& awaited = {}) const {
        std::set<std::string> calls;
        for (const int pe : pes) calls.insert(call_at(pe));
        std::string text = pe_text(pes) + verb(pes, " waits", " wait") +
                           (awaited.size() > 1 ? " for them in " : " for it in ");
        for (const std::string& call : calls) text += (call == *calls.begin() ? "" : " or ") + call;
        return text;
    }

    const CallSeen* call_of(int pe, std::uint32_t team, std::uint32_t call) const {
        const auto& calls = of(pe).calls;
        const auto seen = std::find_if(calls.rbegin(), calls.rend(),
                                       [&](const CallSeen& c) { return c.team == team && c.call == call; });
        return seen == calls.rend() ? nullptr : &*seen;
    }

    static bool differ(const CallSeen& a, const CallSeen& b) {
        if (a.operation != b.operation) return true;
        const bool told = a.state != common::EventState::begun && b.state != common::EventState::begun;
        return told && std::memcmp(a.arguments, b.arguments, sizeof a.arguments) != 0;
    }

    /// "called reduce(bytes=24, dtype=float64, op=sum) at solver.py:88".
    std::string called_text(int pe, const CallSeen& seen) const {
        const std::string name(common::operation_name(seen.operation));
        const auto& a = seen.arguments;
        const bool told = seen.state != common::EventState::begun;
        const CallRecord record = call_record(name.c_str(), a[0], a[1], a[2], a[3]);
        const bool waits_there =
            of(pe).waits && of(pe).wait.team_id == seen.team && of(pe).wait.call == seen.call;
        return "called " + placed_text(told && is_record(record) ? call_text(record) : name,
                                       waits_there ? of(pe).wait.site : "");
    }

    /// Members of a team that made different calls with the same number.
    std::optional<Cause> differing_calls() const {
        for (const int pe : waiting_) {
            const auto& wait = of(pe).wait;
            const CallSeen* mine = wait.call != 0 ? call_of(pe, wait.team_id, wait.call) : nullptr;
            if (mine == nullptr) continue;
            std::vector<int> alike, others;
            for (int other = 0; other < count(); ++other) {
                const CallSeen* theirs = call_of(other, wait.team_id, wait.call);
                if (theirs != nullptr) (differ(*mine, *theirs) ? others : alike).push_back(other);
            }
            if (others.empty()) continue;
            if (others.size() > alike.size()) std::swap(others, alike);  // the fewer are at fault
            const CallSeen& odd = *call_of(others[0], wait.team_id, wait.call);
            const CallSeen& usual = *call_of(alike[0], wait.team_id, wait.call);
            const std::string team = wait.team == 0 ? "the world team" : "team " + std::to_string(wait.team);
            return Cause{pe_text(others) + " " + called_text(others[0], odd) + " as call " +
                             std::to_string(wait.call) + " of " + team + ", where " + pe_text(alike) + " " +
                             called_text(alike[0], usual) + std::string(calls_differ),
                         others};
        }
        return std::nullopt;
    }

    /// The first PE that others wait for and that satisfies a condition.
    template <class Is> std::optional<int> awaited(Is&& is) const {
        std::optional<int> best;
        std::size_t most = 0;
        for (int pe = 0; pe < count(); ++pe) {
            const std::size_t waiters = is(of(pe)) ? waiting_for(pe).size() : 0;
            if (waiters > most) {
                best = pe;
                most = waiters;
            }
        }
        return best;
    }

    std::optional<Cause> ended() const {
        const auto pe = awaited([](const PeDoing& one) { return one.state >= PeState::finalized; });
        if (!pe) return std::nullopt;
        return Cause{pe_text({*pe}) + " " + common::state_text(of(*pe).state) + ", and " +
                         waiters_text(waiting_for(*pe)),
                     {*pe}};
    }

    std::optional<Cause> stopped() const {
        const std::vector<int> pes = pes_that([](const PeDoing& one) { return one.process == 'T'; });
        if (pes.empty()) return silent();
        const std::vector<int> waiters = waiting_for(pes[0]);
        return Cause{pe_text(pes) + verb(pes, " is stopped (", " are stopped (") + "kill -CONT " +
                         std::to_string(of(pes[0]).pid) + " lets it go on)" +
                         (waiters.empty() ? "" : ", and " + waiters_text(waiters)),
                     pes};
    }

    /// PEs of other hosts that do not answer.
    std::optional<Cause> silent() const {
        const auto pe = awaited([](const PeDoing& one) { return one.process == common::silent_process; });
        if (!pe) return std::nullopt;
        return Cause{pe_text({*pe}) + " " + of(*pe).text + "; " + waiters_text(waiting_for(*pe)), {*pe}};
    }

    /// The shortest circle of PEs that wait for one another; may be empty.
    std::vector<int> find_circle() const {
        std::vector<int> best;
        constexpr std::size_t shortest = 2;
        for (const int start : waiting_) {
            std::vector<int> path = way_back_to(start);
            if (!path.empty() && (best.empty() || path.size() < best.size())) best = std::move(path);
            if (best.size() == shortest) break;
        }
        return best;
    }

    /// The shortest way from `start` back to it, by waits for PEs that wait themselves; empty without one.
    std::vector<int> way_back_to(int start) const {
        std::vector<int> from(doing_.size(), -1), queue{start};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const int pe = queue[i];
            for (const int next : targets(pe)) {
                if (next == start) return path_to(pe, start, from);
                if (!stays(of(next)) || from[static_cast<std::size_t>(next)] >= 0) continue;
                from[static_cast<std::size_t>(next)] = pe;
                queue.push_back(next);
            }
        }
        return {};
    }
    static std::vector<int> path_to(int pe, int start, const std::vector<int>& from) {
        std::vector<int> path{pe};
        while (path.back() != start) path.push_back(from[static_cast<std::size_t>(path.back())]);
        std::reverse(path.begin(), path.end());
        return path;
    }

    /// " (the atoll.Lock allocated at x.py:4)", " (flag: found 4, waiting for >= 5, PE 1 last set it to 4)".
    std::string details_of(int pe) const {
        const PeDoing& one = of(pe);
        std::string text = one.wait.name;
        if (awaited_by(doing_, pe).empty()) {
            text += (text.empty() ? "" : ": ") + common::value_text(one.wait);
            if (const WordUpdates updates = updates_of_word_of(doing_, pe); !updates.text.empty())
                text += ", " + updates.text;
        }
        return text.empty() ? text : " (" + text + ")";
    }

    /// A PE waits for the lock's holder or for the PE before it in the queue. One in a collective call queues
    /// no more.
    static bool is_lock(const PeDoing& one) {
        const std::string_view operation = one.wait.operation;
        return operation == "Lock.acquire" || operation == "set_lock";
    }

    /// A circle of a PE in a collective call and another one that waits for it alone. At fault is the one
    /// that went on to the collective call, or that sends to the other.
    std::optional<Cause> half_collective(const std::vector<int>& path) const {
        const auto in_collective = [&](int pe) { return of(pe).wait.call != 0; };
        if (path.size() != 2 || in_collective(path[0]) == in_collective(path[1])) return std::nullopt;
        int first = in_collective(path[0]) ? path[0] : path[1];
        int other = first == path[0] ? path[1] : path[0];
        if (std::string_view(of(other).wait.operation).starts_with("send")) std::swap(first, other);
        return Cause{pe_text({first}) + " waits in " + call_at(first) + details_of(first) + " for " +
                         pe_text({other}) + ", which waits for it in " + call_at(other) + details_of(other) +
                         (is_lock(of(other)) ? "; PE " + std::to_string(first) + " holds that lock" : ""),
                     {first, other}};
    }

    /// " of team 1", for circles of calls of several teams.
    std::string team_text(int pe, const std::vector<int>& path) const {
        const auto& mine = of(pe).wait;
        const bool differ = std::any_of(path.begin(), path.end(), [&](int other) {
            return of(other).wait.call != 0 && of(other).wait.team != mine.team;
        });
        if (!differ || mine.call == 0) return {};
        return mine.team == 0 ? " of the world team" : " of team " + std::to_string(mine.team);
    }

    /// The PEs that wait in the same call as `pe`.
    std::vector<int> waiters_beside(int pe) const {
        const auto& call = of(pe).wait;
        std::vector<int> waiters;
        for (const int other : waiting_)
            if (of(other).wait.team_id == call.team_id && of(other).wait.call == call.call)
                waiters.push_back(other);
        return waiters;
    }

    /// A circle of two PEs in calls of different teams, of which one call lacks the other PE alone. That one
    /// has left the call out.
    std::optional<Cause> left_out(const std::vector<int>& path) const {
        if (path.size() != 2 || of(path[0]).wait.call == 0 || of(path[1]).wait.call == 0) return std::nullopt;
        const bool first_lacks_one = targets(path[0]).size() == 1;
        if (first_lacks_one == (targets(path[1]).size() == 1)) return std::nullopt;
        const int absent = first_lacks_one ? path[1] : path[0], other = first_lacks_one ? path[0] : path[1];
        const std::vector<int> waiters = waiters_beside(other);
        const auto text = [&](int pe) {
            return placed_text(of(pe).wait.operation + team_text(pe, path), of(pe).wait.site);
        };
        return Cause{pe_text({absent}) + " waits in " + text(absent) + ", and " + pe_text(waiters) +
                         verb(waiters, " waits", " wait") + " for it in " + text(other),
                     {absent}};
    }

    std::optional<Cause> circle() const {
        const std::vector<int> path = find_circle();
        if (path.empty()) return std::nullopt;
        if (auto cause = half_collective(path)) return cause;
        if (auto cause = left_out(path)) return cause;
        std::vector<int> sorted = path;
        std::sort(sorted.begin(), sorted.end());
        std::string text = pe_text(sorted) + " wait for each other:";
        const std::size_t shown = std::min<std::size_t>(path.size(), 4);
        for (std::size_t i = 0; i < shown; ++i) {
            const auto& wait = of(path[i]).wait;
            text += std::string(i == 0 ? " " : ", ") + "PE " + std::to_string(path[i]) + " for PE " +
                    std::to_string(path[(i + 1) % path.size()]) + " in " +
                    placed_text(wait.operation + team_text(path[i], path), wait.site) + details_of(path[i]);
        }
        return Cause{text + (shown < path.size() ? ", …" : ""), path};
    }

    std::optional<Cause> absent() const {
        std::vector<int> pes;
        for (int pe = 0; pe < count(); ++pe)
            if (of(pe).state == PeState::absent && !waiting_for(pe).empty()) pes.push_back(pe);
        if (pes.empty()) return std::nullopt;
        return Cause{pe_text(pes) + verb(pes, " has", " have") + " not called init, and " +
                         waiters_text(waiting_for(pes[0])),
                     pes};
    }

    static bool is_elsewhere(const PeDoing& one) { return one.state == PeState::running && !stays(one); }

    /// The last collective call of a PE that has ended, for people: "; its last call was barrier".
    std::string last_call(int pe) const {
        const auto& calls = of(pe).calls;
        if (calls.empty()) return {};
        const CallSeen& last = calls.back();
        const std::string name(common::operation_name(last.operation));
        if (last.state < common::EventState::ended) return "; it is within " + name;
        if (name == "init" || last.call == 0) return {};
        return "; its last collective call was " + name;
    }

    static bool is_beside_gpu(const PeDoing& one) { return one.text.starts_with(common::beside_gpu); }

    /// "PE 0 is in its own code at solver.py:61".
    std::string own_code_text(const std::vector<int>& pes) const {
        const PeDoing& one = of(pes[0]);
        return pe_text(pes) + (one.moves ? verb(pes, " goes from wait to wait", " go from wait to wait")
                                         : verb(pes, " is in its own code", " are in their own code") +
                                               at(one.site.c_str()));
    }
    /// The same, or "the GPU of PE 0 waits in reduce, for PE 2".
    std::string elsewhere_text(const std::vector<int>& pes) const {
        const PeDoing& one = of(pes[0]);
        if (one.moves || !is_beside_gpu(one)) return own_code_text(pes);
        return "the GPU of " + pe_text(pes) + " waits in " + one.text.substr(common::beside_gpu.size());
    }

    /// `pe` and others in the same place for which the same PEs wait.
    std::vector<int> pes_beside(int pe) const {
        const PeDoing& one = of(pe);
        if (is_beside_gpu(one)) return {pe};
        std::vector<int> pes;
        for (int other = 0; other < count(); ++other)
            if (is_elsewhere(of(other)) && !is_beside_gpu(of(other)) && of(other).site == one.site &&
                of(other).moves == one.moves && waiting_for(other) == waiting_for(pe))
                pes.push_back(other);
        return pes;
    }

    std::optional<Cause> elsewhere() const {
        if (const auto pe = awaited(is_elsewhere)) {
            const std::vector<int> pes = pes_beside(*pe);
            return Cause{elsewhere_text(pes) + ", and " + waiters_text(waiting_for(*pe), pes) +
                             (pes.size() == 1 ? last_call(*pe) : ""),
                         pes};
        }
        const std::vector<int> pes = pes_that(is_elsewhere);
        const auto word =
            std::find_if(waiting_.begin(), waiting_.end(), [&](int pe) { return waits_for_anybody(pe); });
        if (pes.empty() || word == waiting_.end()) return std::nullopt;
        return Cause{own_code_text(pes) + ", and PE " + std::to_string(*word) + " waits in " + of(*word).text,
                     pes};
    }

    struct Awaited {
        WordUpdates updates;
        bool is_root = false;  ///< no PE is known to have updated the word
    };
    /// PEs that wait alike, and the known updates of their words, which are alike, too.
    struct Waiters {
        std::string wait;
        std::vector<int> pes;
        Awaited word;
        std::size_t needed = 0;  ///< the number of PEs that wait for these
    };

    /// The known updates of the word of each PE that waits for one. A PE that waits for a word itself may
    /// make its update after that wait. So its omission is no fault, if a word that no PE updates is awaited
    /// too.
    std::map<int, Awaited> awaited_words() const {
        const bool is_lost = std::any_of(doing_.begin(), doing_.end(), [](const PeDoing& one) {
            return one.signals_lost || one.writes_lost;
        });
        std::map<int, Awaited> all;
        bool has_root = false;
        for (const int pe : waiting_) {
            if (!awaited_by(doing_, pe).empty() || of(pe).wait.word_bytes == 0) continue;
            Awaited& word = all[pe];
            word.updates = updates_of_word_of(doing_, pe);
            word.is_root = !is_lost && word.updates.text.empty();
            has_root = has_root || word.is_root;
        }
        for (bool changes = has_root; changes;) {
            changes = false;
            for (auto& [pe, word] : all) {
                if (!word.updates.is_omission) continue;
                const auto next = all.find(word.updates.pes.front());
                if (next == all.end() || next->second.updates.tells_fault) continue;
                word.updates = {};
                changes = true;
            }
        }
        return all;
    }

    /// Waits for words that no PE is known to end. The likeliest causes come first.
    std::vector<Waiters> waiters_for_words() const {
        const std::map<int, Awaited> words = awaited_words();
        std::map<std::pair<std::string, std::string>, Waiters> groups;
        for (const int pe : waiting_) {
            if (!waits_for_anybody(pe)) continue;
            const auto known = words.find(pe);
            const Awaited word = known == words.end() ? Awaited{} : known->second;
            // Waiters whose words one PE is to blame for are a group, with the evidence of the first.
            const WordUpdates& its = word.updates;
            Waiters& group = groups[{of(pe).text, its.tells_fault ? pe_text(its.pes) : its.text}];
            if (group.pes.empty()) {
                group.wait = of(pe).text;
                group.word = word;
            }
            group.pes.push_back(pe);
            group.needed += waiting_for(pe).size();
        }
        std::vector<Waiters> all;
        for (const auto& [key, group] : groups) all.push_back(group);
        const auto rank = [](const Waiters& one) {
            return std::pair(one.word.updates.tells_fault ? 0
                             : one.word.is_root           ? 1
                                                          : 2,
                             -static_cast<long>(one.needed));
        };
        std::stable_sort(all.begin(), all.end(),
                         [&](const Waiters& a, const Waiters& b) { return rank(a) < rank(b); });
        return all;
    }

    /// The text of one wait, the faults of which are told unless `is_new` is false.
    std::string waiters_for_word_text(const Waiters& one, bool is_new, bool says_root) const {
        std::string text;
        if (one.word.updates.tells_fault && is_new) {
            text = one.word.updates.text + "; ";
            if (one.word.updates.is_omission && has_ended(of(one.word.updates.pes[0]))) {
                const std::string pe = pe_text(one.word.updates.pes);
                text = pe + " " + common::state_text(of(one.word.updates.pes[0]).state) + ", and" +
                       text.substr(pe.size());
            }
        }
        text += pe_text(one.pes) + verb(one.pes, " waits", " wait") + " in " + one.wait;
        if (!one.word.updates.tells_fault && !one.word.updates.text.empty())
            text += " (" + one.word.updates.text + ")";
        return text +
               (says_root && one.word.is_root ? ", for a word that no PE is known to have updated" : "");
    }
    static bool has_ended(const PeDoing& one) { return one.state >= PeState::finalized; }

    /// PEs that wait for a word, while no PE is left that could set it.
    std::optional<Cause> unset_words() const {
        const std::vector<Waiters> all = waiters_for_words();
        if (all.empty()) return std::nullopt;
        // A PE in finalize sets no word any more, which its program may have wanted.
        std::vector<int> pes =
            pes_that([](const PeDoing& one) { return one.waits && one.text.starts_with("finalize"); });
        std::string text;
        if (!pes.empty()) text = pe_text(pes) + verb(pes, " is", " are") + " in finalize, and ";
        const bool are_roots =
            std::all_of(all.begin(), all.end(), [](const Waiters& one) { return one.word.is_root; });
        constexpr std::size_t most = 2;
        std::vector<int> unshown;
        std::set<int> senders;
        std::set<std::vector<int>> told;  // PEs at fault
        for (std::size_t i = 0; i < all.size(); ++i) {
            const WordUpdates& updates = all[i].word.updates;
            if (i < most) {
                text += (i == 0 ? "" : "; ") +
                        waiters_for_word_text(all[i], told.insert(updates.pes).second, !are_roots);
                senders.insert(updates.pes.begin(), updates.pes.end());
            } else {
                unshown.insert(unshown.end(), all[i].pes.begin(), all[i].pes.end());
            }
            pes.insert(pes.end(), all[i].pes.begin(), all[i].pes.end());
        }
        std::sort(unshown.begin(), unshown.end());
        if (!unshown.empty())
            text += "; " + pe_text(unshown) + verb(unshown, " waits", " wait") + " for other words";
        std::erase_if(pes, [&](int pe) { return senders.contains(pe); });
        pes.insert(pes.begin(), senders.begin(), senders.end());
        return Cause{text + ", and every PE waits: none is left that could set it", pes};
    }

    const std::vector<PeDoing>& doing_;
    std::vector<std::vector<int>> targets_;  ///< by PE
    std::vector<int> waiting_;
};

}  // namespace

std::vector<int> awaited_by(const std::vector<PeDoing>& doing, int pe) {
    const int n_pes = static_cast<int>(doing.size());
    const common::WaitCopy& wait = doing[static_cast<std::size_t>(pe)].wait;
    std::vector<int> found;
    for (const int other : wait.missing) {
        if (other < 0) break;
        if (other < n_pes && other != pe) found.push_back(other);
    }
    // A kernel's wait lists none.
    if (found.empty() && wait.peer >= 0 && wait.peer < n_pes && wait.peer != pe) found.push_back(wait.peer);
    return found;
}

Cause find_cause(const std::vector<PeDoing>& doing) { return Finder(doing).find(); }

std::string report_of(const std::vector<PeDoing>& doing, const std::string& heading,
                      const std::string& begin) {
    const Cause cause = find_cause(doing);
    std::string report = cause.sentence.empty() ? "" : cause.sentence + ".\n" + begin;
    report += heading + ":\n" + common::table_of(doing, cause.pes);
    if (report.ends_with('\n')) report.pop_back();
    return report;
}

}  // namespace atl::core
