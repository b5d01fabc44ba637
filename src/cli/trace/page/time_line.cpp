#include "cli/trace/page/time_line.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/trace/summary.hpp"

namespace atl::cli {

using common::EventKind;
using common::LoggedEvent;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t most_steps = 60'000;  ///< limit for all rows: a step takes two characters
constexpr std::size_t most_calls = 12'000;  ///< limit for all PEs: a call takes about 35 characters
constexpr std::size_t heap_steps = 400;

/// Equal steps over the time of a trace.
struct Steps {
    std::uint64_t begin_ns, length_ns;
    std::size_t count;

    std::size_t at(std::uint64_t ns) const {
        const double share = static_cast<double>(ns - begin_ns) / static_cast<double>(length_ns);
        return std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
    }
    double step_ns() const { return static_cast<double>(length_ns) / static_cast<double>(count); }
};

Steps steps_of(const JobTrace& trace, std::size_t count) {
    const std::uint64_t begin_ns = trace.begin_ns();
    return {begin_ns, std::max<std::uint64_t>(trace.end_ns() - begin_ns, 1), count};
}

/// The time that PEs spend in one state, for each step of the time line.
class Shares {
  public:
    explicit Shares(const Steps& steps) : steps_(steps), ns_(steps.count) {}
    /// Spreads `ns` evenly over the steps between two times.
    void add(std::uint64_t began, std::uint64_t ended, double ns) {
        const std::size_t first = steps_.at(began), last = steps_.at(ended);
        if (first == last || ended <= began) {
            ns_[first] += ns;
            return;
        }
        const double length = static_cast<double>(ended - began);
        const auto begin_of = [&](std::size_t step) { return static_cast<double>(step) * steps_.step_ns(); };
        const double from = static_cast<double>(began - steps_.begin_ns);
        const double to = static_cast<double>(ended - steps_.begin_ns);
        for (std::size_t step = first; step <= last; ++step) {
            const double part = std::min(to, begin_of(step + 1)) - std::max(from, begin_of(step));
            ns_[step] += ns * std::max(part, 0.0) / length;
        }
    }
    /// The share of a step as one of 64 characters. The first is an empty share, the last a whole step.
    char digit(std::size_t step, int pes) const {
        static constexpr char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
        const double share = ns_[step] / (steps_.step_ns() * pes);
        return digits[std::lround(std::clamp(share, 0.0, 1.0) * 63)];
    }

  private:
    const Steps& steps_;
    std::vector<double> ns_;
};

Json shares_of(const JobTrace& trace, const PageRows& rows, const Steps& steps) {
    std::vector<Shares> waiting(rows.count(), Shares(steps)), moving = waiting;
    std::vector<int> pes(rows.count());
    for (const PeTrace& pe : trace.pes) {
        const std::size_t row = rows.row_of(pe.pe);
        ++pes[row];
        for (const LoggedEvent& event : pe.log.events) {
            if (!is_call(event) || event.thread != 0) continue;
            const std::uint64_t ns = event.ended - event.began, waited = std::min(event.waiting, ns);
            waiting[row].add(event.began, event.ended, static_cast<double>(waited));
            moving[row].add(event.began, event.ended, static_cast<double>(ns - waited));
        }
    }
    Json list = Json::array();
    for (std::size_t row = 0; row < rows.count(); ++row) {
        std::string text;
        for (std::size_t step = 0; step < steps.count; ++step) {
            text += waiting[row].digit(step, std::max(pes[row], 1));
            text += moving[row].digit(step, std::max(pes[row], 1));
        }
        list.push_back(std::move(text));
    }
    return list;
}

/// Numbers for texts, in the order of their first use.
class Names {
  public:
    std::size_t number_of(const std::string& text) {
        const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
        if (is_new) list_.push_back(text);
        return found->second;
    }
    Json list() const { return list_; }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::string> list_;
};

std::vector<EventId> longest_calls(const JobTrace& trace) {
    std::vector<EventId> calls;
    for (std::size_t p = 0; p < trace.pes.size(); ++p)
        for (std::size_t e = 0; e < trace.pes[p].log.events.size(); ++e)
            if (const LoggedEvent& event = trace.pes[p].log.events[e]; is_call(event) && event.thread == 0)
                calls.push_back({p, e});
    const auto length = [&](EventId id) { return trace.event(id).ended - trace.event(id).began; };
    if (calls.size() > most_calls) {
        std::nth_element(calls.begin(), calls.begin() + most_calls, calls.end(),
                         [&](EventId a, EventId b) { return length(a) > length(b); });
        calls.resize(most_calls);
    }
    std::sort(calls.begin(), calls.end(), [&](EventId a, EventId b) {
        return a.pe != b.pe ? a.pe < b.pe : trace.event(a).began < trace.event(b).began;
    });
    return calls;
}

/// Calls of each row, one after another in a flat list; begins are distances from the begin before.
Json calls_of(const JobTrace& trace, const PageRows& rows, std::uint64_t begin_ns, Names& names) {
    std::vector<Json> lists(rows.count(), Json::array());
    std::vector<std::uint64_t> last(rows.count(), begin_ns);
    if (rows.width() != 1) return lists;  // calls of several PEs overlap
    for (const EventId id : longest_calls(trace)) {
        const PeTrace& pe = trace.pes[id.pe];
        const LoggedEvent& event = pe.log.events[id.event];
        const std::size_t row = rows.row_of(pe.pe);
        for (const std::uint64_t number : {event.began - last[row], event.ended - event.began, event.waiting})
            lists[row].push_back(number);
        lists[row].push_back(names.number_of(pe.name_of(event)));
        lists[row].push_back(names.number_of(pe.text(event.site)));
        lists[row].push_back(event.peer);
        lists[row].push_back(event.bytes);
        last[row] = event.began;
    }
    return lists;
}

}  // namespace

Json time_line_of(const JobTrace& trace, const PageRows& rows) {
    const Steps steps = steps_of(trace, std::clamp<std::size_t>(most_steps / rows.count(), 200, 6000));
    Names names;
    Json calls = calls_of(trace, rows, steps.begin_ns, names);
    return {{"steps", steps.count},
            {"shares", shares_of(trace, rows, steps)},
            {"calls", std::move(calls)},
            {"names", names.list()}};
}

Json sizes_of(const JobTrace& trace) {
    std::array<Traffic, 65> by_size{};
    for (const PeTrace& pe : trace.pes)
        for (const LoggedEvent& event : pe.log.events)
            if (event.kind == EventKind::move && event.peer >= 0 && event.bytes != 0)
                by_size[static_cast<std::size_t>(std::bit_width(event.bytes) - 1)].add({event.bytes, 1});
    Json list = Json::array();
    for (std::size_t size = 0; size < by_size.size(); ++size)
        if (by_size[size].calls != 0) list.push_back({size, by_size[size].calls, by_size[size].bytes});
    return list;
}

namespace {

/// Heap in use of one PE: in each step the most.
std::vector<std::uint64_t> heap_of_pe(const PeTrace& pe, const Steps& steps) {
    std::vector<std::uint64_t> most(steps.count);
    std::uint64_t used = 0;
    std::size_t reached = 0;
    each_heap_change(pe, [&](const LoggedEvent& event, std::uint64_t now_used) {
        const std::size_t step = steps.at(event.ended);
        for (; reached < step; ++reached) most[reached + 1] = used;
        used = now_used;
        most[step] = std::max(most[step], used);
    });
    for (; reached + 1 < steps.count; ++reached) most[reached + 1] = used;
    return most;
}

}  // namespace

Json heap_of(const JobTrace& trace) {
    const Steps steps = steps_of(trace, heap_steps);
    std::vector<std::uint64_t> least, most;
    std::uint64_t peak = 0;
    int peak_pe = -1;
    for (const PeTrace& pe : trace.pes) {
        const std::vector<std::uint64_t> used = heap_of_pe(pe, steps);
        if (least.empty()) least = most = used;
        for (std::size_t step = 0; step < steps.count; ++step) {
            least[step] = std::min(least[step], used[step]);
            most[step] = std::max(most[step], used[step]);
        }
        const std::uint64_t highest = *std::max_element(used.begin(), used.end());
        if (highest > peak) {
            peak = highest;
            peak_pe = pe.pe;
        }
    }
    return {{"least", least}, {"most", most}, {"peak", peak}, {"pe", peak_pe}};
}

}  // namespace atl::cli
