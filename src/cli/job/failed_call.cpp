#include "cli/job/failed_call.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

#include "cli/job/last_events.hpp"
#include "common/pe_ranges.hpp"
#include "common/text.hpp"
#include "core/calls/call_text.hpp"
#include "core/sync/exited_pes.hpp"

namespace atl::cli {
namespace {

using common::EventCopy;
using common::EventKind;
using common::EventState;

constexpr std::string_view pe_begin = "PE ", called = " called ", site_begin = " at ";

/// The calls of a PE's program, the oldest first.
std::vector<EventCopy> calls_of(const common::BoardView& board, int pe) {
    std::vector<EventCopy> calls = since_init(common::read_events(board.events(pe)));
    std::erase_if(calls, [](const EventCopy& event) {
        return event.kind != EventKind::collective && event.kind != EventKind::request;
    });
    return calls;
}

bool is_same_call(const EventCopy& a, const EventCopy& b) {
    return a.kind == b.kind && a.team == b.team && a.call == b.call;
}

bool differ(const EventCopy& a, const EventCopy& b) {
    if (a.operation != b.operation) return true;
    if (a.state == EventState::begun || b.state == EventState::begun) return false;
    // Members of a non-blocking fcollect may have different sizes, as those of PyTorch's all_gather.
    if (a.kind == EventKind::request && common::operation_name(a.operation) == "fcollect") return false;
    // An operation without arguments leaves the words of an earlier event, which call_of does not show.
    return call_of(a) != call_of(b);
}

/// True if a text such as "sum_reduce(bytes=24)" may be of the call.
bool is_named(std::string_view text, const EventCopy& call) {
    const std::string_view operation = common::operation_name(call.operation);
    return text.starts_with(operation) ||
           text.substr(0, text.find('(')).ends_with("_" + std::string(operation));
}

/// A number at the beginning of a text; -1 without one.
int number_at(std::string_view text) {
    int number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The place that an error tells of a PE's call: "x.py:8" of "PE 3 called barrier() at /home/x.py:8, PE 1 …".
std::string site_in(std::string_view error, int pe) {
    const std::string begin = std::string(pe_begin) + std::to_string(pe) + std::string(called);
    const std::size_t at = error.find(begin);
    if (at == std::string_view::npos) return {};
    std::string_view rest = error.substr(at + begin.size());
    rest = rest.substr(0, std::min({rest.find(", PE "), rest.find("; ")}));
    const auto [call, site] = core::split_site(rest);
    return std::string(common::file_name(site));
}

/// PEs that made the same call.
struct EqualCalls {
    EventCopy call;
    std::vector<int> pes;
};

/// The calls of each PE.
using Calls = std::vector<std::vector<EventCopy>>;

Calls all_calls(const common::BoardView& board) {
    Calls calls;
    for (int pe = 0; pe < board.n_pes(); ++pe) calls.push_back(calls_of(board, pe));
    return calls;
}

/// The PEs that made the call that `one` is, by what they called, the largest group first.
std::vector<EqualCalls> grouped(const Calls& all, const EventCopy& one) {
    std::vector<EqualCalls> groups;
    // Calls that have only begun come last: their arguments are unknown, so they join a group.
    for (const bool is_begun : {false, true}) {
        for (std::size_t pe = 0; pe < all.size(); ++pe) {
            // The newest: a team that is made again with the same members counts from 1 again.
            const auto call = std::find_if(all[pe].rbegin(), all[pe].rend(),
                                           [&](const EventCopy& each) { return is_same_call(each, one); });
            if (call == all[pe].rend() || (call->state == EventState::begun) != is_begun) continue;
            const auto group = std::find_if(groups.begin(), groups.end(), [&](const EqualCalls& equal_calls) {
                return !differ(equal_calls.call, *call);
            });
            if (group == groups.end())
                groups.push_back({*call, {static_cast<int>(pe)}});
            else
                group->pes.push_back(static_cast<int>(pe));
        }
    }
    for (EqualCalls& group : groups) std::sort(group.pes.begin(), group.pes.end());
    std::stable_sort(groups.begin(), groups.end(),
                     [](const EqualCalls& a, const EqualCalls& b) { return a.pes.size() > b.pes.size(); });
    return groups;
}

/// The place of a call on a PE; empty if it is not known.
using SiteOf = std::function<std::string(const EventCopy& call, int pe)>;

/// The places that an error tells. The call that failed on PE `failed` is at `site`, if the error does not
/// tell.
SiteOf sites_in(std::string_view error, int failed, const std::string& site) {
    return [error, failed, &site](const EventCopy& call, int pe) {
        std::string found = site_in(error, pe);
        return found.empty() && pe == failed && call.state == EventState::failed ? site : found;
    };
}

std::string text_of(const EqualCalls& equal_calls, const SiteOf& site_of) {
    std::string site;
    for (const int pe : equal_calls.pes) {
        site = site_of(equal_calls.call, pe);
        if (!site.empty()) break;
    }
    return std::string(pe_begin) + common::pe_ranges(equal_calls.pes) + std::string(called) +
           core::with_site(call_of(equal_calls.call), site);
}

/// Empty if all PEs made the same call.
std::string difference(const Calls& all, const EventCopy& one, const SiteOf& site_of) {
    const std::vector<EqualCalls> groups = grouped(all, one);
    if (groups.size() < 2) return {};
    std::string text;
    for (auto odd = groups.rbegin(); odd + 1 != groups.rend(); ++odd)
        text += (text.empty() ? text_of(*odd, site_of) + " as " + call_number_text(odd->call)
                              : ", " + text_of(*odd, site_of));
    return text + ", where " + text_of(groups.front(), site_of) + std::string(core::calls_differ);
}

/// The first non-blocking call of that team that differs: a team that is out of step stays so.
std::string first_difference(const Calls& all, const std::vector<EventCopy>& calls, const EventCopy& one,
                             const SiteOf& site_of) {
    for (const EventCopy& call : calls)
        if (call.kind == EventKind::request && call.team == one.team)
            if (std::string text = difference(all, call, site_of); !text.empty()) return text;
    return {};
}

/// The calls that a CollectiveMismatch of Python's own tells: "PE 3 called …, where PE 0-2 called …: the
/// calls differ".
std::string calls_in_python_error(std::string_view error) {
    constexpr std::string_view begin = "CollectiveMismatch: PE ";
    const std::size_t at = error.find(begin), end = error.find(core::calls_differ);
    if (at == std::string_view::npos || end == std::string_view::npos || end < at) return {};
    const std::size_t from = at + begin.size() - pe_begin.size();
    return std::string(error.substr(from, end + core::calls_differ.size() - from));
}

/// Returns a text such as "PE 0 called split(…) at x.py:8, …: the calls differ",
/// of an error whose first call begins `first`. For calls without arguments in their records.
std::string named_calls(std::string_view first) {
    const std::size_t end = first.find("; ");
    return end == std::string_view::npos
               ? std::string()
               : std::string(first.substr(0, end)) + std::string(core::calls_differ);
}

}  // namespace

std::string differing_calls(const common::BoardView& board, int pe, std::string_view error,
                            const std::string& site) {
    const std::size_t begin = error.find(core::differently);
    if (begin == std::string_view::npos) return calls_in_python_error(error);
    std::string as_named = named_calls(error.substr(begin + core::differently.size()));
    std::string_view first = error.substr(begin + core::differently.size());
    if (!first.starts_with(pe_begin)) return {};
    const int named = number_at(first.substr(pe_begin.size()));
    const std::size_t call_at = first.find(called);
    if (named < 0 || named >= board.n_pes() || call_at == std::string_view::npos) return {};
    first.remove_prefix(call_at + called.size());
    const std::string named_call = core::split_site(first.substr(0, first.find(", PE "))).first;
    const Calls all = all_calls(board);
    const std::vector<EventCopy>& calls = all[static_cast<std::size_t>(named)];
    // An earlier error of such a call may have been caught.
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        if (!is_named(named_call, *call)) continue;
        const SiteOf site_of = sites_in(error, pe, site);
        std::string text = call->kind == EventKind::request ? first_difference(all, calls, *call, site_of)
                                                            : difference(all, *call, site_of);
        if (!text.empty()) return text;
    }
    return as_named;
}

std::string handled_text(const common::BoardView& board) {
    std::string text;
    for (int pe = 0; pe < board.n_pes(); ++pe)
        if (const std::string handled = board.stacks(pe).handled.read(); !handled.empty())
            text += "; PE " + std::to_string(pe) + " handled " + handled;
    return text;
}

std::string differing_last_call(const common::BoardView& board, int pe) {
    const Calls all = all_calls(board);
    const std::vector<EventCopy>& calls = all[static_cast<std::size_t>(pe)];
    if (calls.empty() || calls.back().state == EventState::ended) return {};
    const SiteOf site_of = [&](const EventCopy& call, int other) {
        for (const EventCopy& event : common::read_events(board.events(other)))
            if ((event.kind == EventKind::wait ||
                 (event.kind == EventKind::request && is_same_call(event, call))) &&
                event.team == call.team && event.call == call.call && !event.site.empty())
                return std::string(common::file_name(event.site));
        return std::string();
    };
    // The program may have caught the error of an earlier call, after which the team was out of step.
    for (const EventCopy& call : calls)
        if (call.team == calls.back().team &&
            (call.state == EventState::failed || is_same_call(call, calls.back())))
            if (std::string text = difference(all, call, site_of); !text.empty()) return text;
    return {};
}

namespace {

/// Returns a part of a sentence on calls that differ, such as " as call 6 of group 0, where "; else empty.
std::string_view call_number_in(std::string_view sentence) {
    constexpr std::string_view end = ", where ";
    const std::size_t from = sentence.find(" as call "), to = sentence.find(end);
    return from == std::string_view::npos || to < from ? std::string_view()
                                                       : sentence.substr(from, to + end.size() - from);
}

}  // namespace

std::string failed_group(const common::BoardView& board, int pe) {
    using Kind = common::FailureNote::Kind;
    const auto kind_of = [&](int of) { return board.entry(of).failure.kind.load(std::memory_order_acquire); };
    if (kind_of(pe) == Kind::none) return {};
    std::string text = board.entry(pe).failure.text;
    bool is_own = kind_of(pe) == Kind::own;
    for (int other = 0; other < board.n_pes(); ++other) {
        if (kind_of(other) != Kind::own) continue;
        const std::string_view theirs = board.entry(other).failure.text;
        // A PE that found the failure later knows of more PEs in the same calls.
        const bool is_same = !call_number_in(text).empty() && call_number_in(text) == call_number_in(theirs);
        if (is_own && !(is_same && theirs.size() > text.size())) continue;
        text = theirs;
        is_own = true;
    }
    return text;
}

std::optional<EndedPe> ended_pe_of(std::string_view error) {
    for (const common::PeState state : {common::PeState::left, common::PeState::finalized}) {
        // In a collective call the error does not name finalize.
        const std::string how = state == common::PeState::left ? std::string(core::left_job)
                                                               : std::string(" ") + common::exit_text(state);
        const std::size_t end = error.find(how);
        const std::size_t begin = error.substr(0, end).rfind(pe_begin);
        const std::size_t call = error.find(core::cannot_end);
        if (call == std::string_view::npos) return std::nullopt;
        if (end == std::string_view::npos || begin == std::string_view::npos || call < end) continue;
        EndedPe ended{
            number_at(error.substr(begin + pe_begin.size())), state == common::PeState::finalized, {}};
        if (ended.pe < 0) continue;
        std::string_view name = error.substr(call + core::cannot_end.size());
        name = name.substr(0, std::min(name.find(", "), name.find(". ")));
        ended.call = name.substr(0, name.find_last_not_of(".\n") + 1);
        return ended;
    }
    return std::nullopt;
}

std::string ended_text(const common::BoardView& board, const EndedPe& ended, const std::string& how, int pe,
                       const std::string& site) {
    if (ended.has_finalized) {
        const Calls all = all_calls(board);
        const std::vector<EventCopy>& calls = all[static_cast<std::size_t>(ended.pe)];
        if (!calls.empty())
            if (std::string text = difference(all, calls.back(), sites_in({}, pe, site)); !text.empty())
                return text;
    }
    std::string text = std::string(pe_begin) + std::to_string(ended.pe) + " " + how;
    const std::string last = ended.has_finalized ? std::string() : last_call_text(board, ended.pe);
    if (!last.empty()) text += " (" + last + ")";
    return text + ", and " + std::string(pe_begin) + std::to_string(pe) + " waited for it" +
           (ended.call.empty() ? std::string(site.empty() ? "" : site_begin) + site
                               : " in " + core::with_site(ended.call, site));
}

std::string last_call_text(const common::BoardView& board, int pe) {
    const std::vector<EventCopy> calls = calls_of(board, pe);
    return calls.empty() ? std::string() : "its last collective call was " + call_of(calls.back());
}

}  // namespace atl::cli
