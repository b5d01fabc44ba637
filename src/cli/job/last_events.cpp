#include "cli/job/last_events.hpp"

#include <algorithm>
#include <cstdio>

#include "common/clock.hpp"
#include "common/pe_ranges.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/cause.hpp"

namespace atl::cli {
namespace {

using common::EventCopy;
using common::EventKind;
using common::EventState;

constexpr std::size_t most_events = 4;  ///< events per PE
constexpr std::size_t most_groups = 4;

/// The range over several PEs of a time before the end.
struct Span {
    double least = -1, most = -1;  ///< seconds; -1: unknown
    void add(const Span& other) {
        if (other.least < 0) return;
        least = least < 0 ? other.least : std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

std::string text_of(const Span& span) {
    const auto number = [](double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", seconds);
        return std::string(text);
    };
    const std::string least = number(span.least), most = number(span.most);
    return (least == most ? "" : least + " to ") + most + " s";
}

/// One event of PEs that have the same: text, and times that may differ.
struct Line {
    std::string what, site;
    bool is_open = false;  ///< it had not ended
    Span lasted, before;   ///< duration; from its end to the end of the job
    bool is_like(const Line& other) const {
        return what == other.what && site == other.site && is_open == other.is_open;
    }
};

Span seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
    if (from_ns == 0 || to_ns < from_ns) return {};
    const double seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
    return {seconds, seconds};
}

bool is_open(const EventCopy& event) { return event.state < EventState::ended; }

/// The name of the operation of a wait: that of the call around it, if that is known.
std::string name_of_wait(const EventCopy& wait, const std::vector<EventCopy>& all) {
    for (const EventCopy& event : all)
        if (event.kind == EventKind::collective && event.call == wait.call && event.team == wait.team &&
            event.operation == wait.operation)
            return common::called_name(event);
    return std::string(common::operation_name(wait.operation));
}

Line line_of(const EventCopy& event, const std::vector<EventCopy>& all, std::uint64_t end_ns) {
    Line line;
    const std::string number = event.call == 0 ? std::string() : ", " + call_number_text(event);
    line.is_open = is_open(event);
    line.site = event.site;
    if (event.kind == EventKind::wait) {
        const std::string operation = name_of_wait(event, all);
        line.what = (operation == "other" ? "wait" : "wait in " + operation) +
                    (event.peer >= 0 ? " for PE " + std::to_string(event.peer) : "");
        line.lasted = seconds_between(event.began_ns, event.ended_ns != 0 ? event.ended_ns : end_ns);
        line.before = event.ended_ns != 0 ? seconds_between(event.ended_ns, end_ns) : Span{};
    } else if (event.kind == EventKind::collective || event.kind == EventKind::request) {
        line.what = call_of(event) + number;
    } else {
        line.what = common::event_text(event);
    }
    if (event.state == EventState::failed) line.what += ", ended by an error";
    return line;
}

std::string text_of(const Line& line) {
    std::string text = "    " + line.what;
    if (line.lasted.least >= 0) text += ", for " + text_of(line.lasted);
    if (line.before.least >= 0) text += " until " + text_of(line.before) + " before the end";
    if (!line.site.empty()) text += ", at " + line.site;
    return text + (line.is_open ? ": not ended\n" : "\n");
}

bool is_a_call(const EventCopy& event) {
    return event.kind == EventKind::collective || event.kind == EventKind::request ||
           event.kind == EventKind::wait;
}

/// The PEs with the same last events.
struct SameLines {
    std::vector<int> pes;
    std::vector<Line> lines;
};

void add_to(std::vector<SameLines>& groups, int pe, const std::vector<Line>& lines) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const SameLines& group) {
        return std::equal(lines.begin(), lines.end(), group.lines.begin(), group.lines.end(),
                          [](const Line& a, const Line& b) { return a.is_like(b); });
    });
    if (found == groups.end()) return groups.push_back({{pe}, lines});
    found->pes.push_back(pe);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        found->lines[i].lasted.add(lines[i].lasted);
        found->lines[i].before.add(lines[i].before);
    }
}

/// The last events of a PE's first thread, and those of other threads that have not ended.
std::vector<EventCopy> shown(const std::vector<EventCopy>& all) {
    std::vector<EventCopy> some;
    for (const EventCopy& event : all)
        if (!event.is_of_others || is_open(event)) some.push_back(event);
    if (some.size() > most_events) some.erase(some.begin(), some.end() - most_events);
    return some;
}

}  // namespace

std::string call_of(const EventCopy& event) {
    std::string name(common::operation_name(event.operation));
    const auto& w = event.words;
    const core::CallRecord record = core::call_record(name.c_str(), w[0], w[1], w[2], w[3]);
    if (event.state == EventState::begun || !core::is_record(record)) return name;
    const std::string text = core::call_text(record);
    return text.ends_with("()") ? name : text;
}

std::string call_number_text(const EventCopy& event) {
    return (event.kind == EventKind::request ? "non-blocking call " : "call ") + std::to_string(event.call) +
           " of " + common::team_text(event.team);
}

std::vector<EventCopy> since_init(const std::vector<EventCopy>& all) {
    const auto init = std::find_if(all.rbegin(), all.rend(),
                                   [](const EventCopy& event) { return event.kind == EventKind::init; });
    return {init == all.rend() ? all.begin() : init.base(), all.end()};
}

std::string history_text(const std::vector<PeHistory>& histories, std::uint64_t end_ns) {
    const bool is_empty = std::none_of(histories.begin(), histories.end(), [](const PeHistory& one) {
        return std::any_of(one.events.begin(), one.events.end(), is_a_call);
    });
    if (is_empty) return {};
    std::vector<SameLines> groups;
    for (const PeHistory& one : histories) {
        std::vector<Line> lines;
        for (const EventCopy& event : shown(one.events)) lines.push_back(line_of(event, one.events, end_ns));
        if (!one.activity.empty()) lines.push_back({one.activity, "", false, {}, {}});
        add_to(groups, one.pe, lines);
    }
    std::string text = "the last events of the PEs, the newest last:\n";
    std::vector<int> others;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::sort(groups[i].pes.begin(), groups[i].pes.end());
        if (i >= most_groups) {
            others.insert(others.end(), groups[i].pes.begin(), groups[i].pes.end());
            continue;
        }
        text += "  PE " + common::pe_ranges(groups[i].pes) + ":\n";
        for (const Line& line : groups[i].lines) text += text_of(line);
    }
    std::sort(others.begin(), others.end());
    if (!others.empty())
        text += "  PE " + common::pe_ranges(others) + ": other events, not shown (the first " +
                std::to_string(most_groups) + " groups of PEs are)\n";
    return text;
}

std::string last_events(const common::BoardView& board, int guilty) {
    const std::uint64_t end_ns = common::now_ns();
    const std::vector<common::PeDoing> doing = board.all_doing();
    std::vector<int> first = core::find_cause(doing).pes;
    if (guilty >= 0 && guilty < board.n_pes()) first.insert(first.begin(), guilty);
    std::vector<PeHistory> histories;
    std::vector<bool> taken(doing.size());
    const auto take = [&](int pe) {
        const auto i = static_cast<std::size_t>(pe);
        if (i >= taken.size() || taken[i]) return;
        taken[i] = true;
        PeHistory& one = histories.emplace_back();
        one.pe = pe;
        one.events = since_init(common::read_events(board.events(pe)));
        const bool is_elsewhere =
            (doing[i].state == common::PeState::running || doing[i].state == common::PeState::died) &&
            !doing[i].waits && std::none_of(one.events.begin(), one.events.end(), is_open);
        one.activity = doing[i].state == common::PeState::absent ? "has not called init"
                       : is_elsewhere                            ? "in its own code"
                                                                 : "";
    };
    for (const int pe : first) take(pe);
    for (int pe = 0; pe < board.n_pes(); ++pe) take(pe);
    return history_text(histories, end_ns);
}

}  // namespace atl::cli
