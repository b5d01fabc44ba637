#include "cli/top/sample.hpp"

#include "common/board/beside_gpu.hpp"
#include "common/clock.hpp"
#include "common/pe_ranges.hpp"
#include "common/recorder/statistics.hpp"
#include "core/hang/wait_graph.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace atl::cli {
namespace {

using common::PeDoing;
using common::PeState;

constexpr std::string_view puts[] = {"put",    "put_nbi", "p",    "iput",        "put_signal",
                                     "put_at", "add_at",  "send", "mailbox post"};
constexpr std::string_view gets[] = {"get", "get_nbi", "g", "iget", "take", "recv", "mailbox receive"};

template <std::size_t n> bool contains(const std::string_view (&names)[n], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Moved moved_by(const common::PeCounters& counters) {
    Moved moved;
    for (const common::OperationStatistics& one : common::read_statistics(0, counters).operations) {
        const std::string_view name = common::operation_name(one.operation);
        if (contains(puts, name))
            moved.put += one.bytes;
        else if (contains(gets, name))
            moved.got += one.bytes;
        else if (common::is_sized(one.operation))
            moved.collective += one.bytes;
    }
    return moved;
}

/// Resident memory of a process; 0 if unknown.
std::uint64_t resident_bytes_of(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

const char* state_word(const PeDoing& doing) {
    if (doing.process == 'T' || doing.process == 't') return "stopped";
    if (doing.process == common::silent_process) return "elsewhere";
    switch (doing.state) {
        case PeState::absent:
            return "starting";
        case PeState::running:
            return doing.waits ? "waiting" : "running";
        case PeState::finalized:
            return "finalized";
        case PeState::left:
            return "left";
        case PeState::died:
            return "died";
    }
    return "unknown";
}

std::string text_of(const PeSample& one) {
    const PeDoing& doing = one.doing;
    if (doing.process != 'T' && doing.waits)
        return std::string(doing.text.starts_with(common::its_gpu) ? common::its_gpu : "") +
               common::wait_text(doing.wait, one.awaited);
    return doing.text == common::state_text(PeState::running) ? "in its own code" : doing.text;
}

/// Bytes a second, from a counter that does not fall.
double rate(std::uint64_t before, std::uint64_t now, double seconds) {
    return now > before && seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

std::optional<Rates> rates_of(const PeSample& before, const PeSample& now, double seconds) {
    if (!now.moved) return std::nullopt;
    const Moved was = before.moved.value_or(Moved{});
    return Rates{rate(was.put, now.moved->put, seconds), rate(was.got, now.moved->got, seconds),
                 rate(was.collective, now.moved->collective, seconds)};
}

double seconds_between(const JobSample& before, const JobSample& now) {
    return static_cast<double>(now.taken_ns - before.taken_ns) * 1e-9;
}

/// Empty for a PE that was another process before, or none.
std::optional<double> cpu_percent(const PeSample& before, const PeSample& now, double seconds) {
    if (!before.has_process() || !now.has_process() || before.doing.pid != now.doing.pid || seconds <= 0)
        return std::nullopt;
    return std::max(0.0, 100 * (now.doing.cpu_s - before.doing.cpu_s) / seconds);
}

/// Adds the figure of one row to a sum; rows without a figure do not count.
void add(std::optional<double>& sum, const std::optional<double>& one) {
    if (one) sum = sum.value_or(0) + *one;
}

/// The rows that are alike, added up.
struct Group {
    TopRow sum;
    double with_cpu = 0, with_memory = 0, with_heap = 0, with_rates = 0, with_gpu = 0;

    void take(const TopRow& row) {
        if (sum.pes.empty()) {
            sum.state = row.state;
            sum.text = row.text;
            sum.gpu = row.gpu;
            sum.pid = row.pid;
        } else {
            if (sum.gpu != row.gpu) sum.gpu = -1;
            sum.pid = 0;
        }
        sum.pes.push_back(row.pes[0]);
        sum.seconds = std::max(sum.seconds, row.seconds);
        add(sum.cpu_percent, row.cpu_percent);
        add(sum.resident_bytes, row.resident_bytes);
        add(sum.heap_bytes, row.heap_bytes);
        sum.gpu_bytes += row.gpu_bytes;
        with_cpu += row.cpu_percent.has_value();
        with_memory += row.resident_bytes.has_value();
        with_heap += row.heap_bytes.has_value();
        with_gpu += row.gpu_bytes > 0;
        if (!row.rates) return;
        Rates& all = sum.rates ? *sum.rates : sum.rates.emplace();
        all.put += row.rates->put;
        all.got += row.rates->got;
        all.collective += row.rates->collective;
        with_rates += 1;
    }
    TopRow mean() const {
        TopRow row = sum;
        if (row.cpu_percent) *row.cpu_percent /= with_cpu;
        if (row.resident_bytes) *row.resident_bytes /= with_memory;
        if (row.heap_bytes) *row.heap_bytes /= with_heap;
        if (with_gpu > 0) row.gpu_bytes /= with_gpu;
        if (row.rates)
            row.rates = Rates{row.rates->put / with_rates, row.rates->got / with_rates,
                              row.rates->collective / with_rates};
        return row;
    }
};

}  // namespace

JobSample take_sample(const common::BoardView& board) {
    JobSample sample;
    sample.taken_ns = common::now_ns();
    const std::vector<PeDoing> doing = board.all_doing(false);
    for (int pe = 0; pe < board.n_pes(); ++pe) {
        const common::BoardEntry& entry = board.entry(pe);
        PeSample& one = sample.pes.emplace_back();
        one.doing = doing[static_cast<std::size_t>(pe)];
        if (one.doing.waits) one.awaited = core::awaited_by(doing, pe);
        if (one.has_process()) one.resident_bytes = resident_bytes_of(one.doing.pid);
        one.heap_bytes = entry.heap_used_bytes.load(std::memory_order_relaxed);
        one.gpu = entry.gpu_number.load(std::memory_order_relaxed);
        one.gpu_bytes = entry.gpu_used_bytes.load(std::memory_order_relaxed);
        if (board.counters(pe).is_on.load(std::memory_order_acquire) != 0)
            one.moved = moved_by(board.counters(pe));
    }
    return sample;
}

std::vector<TopRow> rows_of(const JobSample& before, const JobSample& now) {
    std::vector<TopRow> rows;
    const double seconds = seconds_between(before, now);
    for (std::size_t pe = 0; pe < now.pes.size(); ++pe) {
        const PeSample& one = now.pes[pe];
        TopRow& row = rows.emplace_back();
        row.pes = {static_cast<int>(pe)};
        row.state = state_word(one.doing);
        row.text = text_of(one);
        if (one.doing.waits) row.seconds = one.doing.seconds;
        if (one.doing.state != PeState::running || one.doing.process == common::silent_process) continue;
        row.pid = one.doing.pid;
        row.cpu_percent = cpu_percent(before.pes[pe], one, seconds);
        if (one.resident_bytes != 0) row.resident_bytes = static_cast<double>(one.resident_bytes);
        row.heap_bytes = static_cast<double>(one.heap_bytes);
        row.gpu = one.gpu;
        row.gpu_bytes = static_cast<double>(one.gpu_bytes);
        row.rates = rates_of(before.pes[pe], one, seconds);
    }
    return rows;
}

std::vector<TopRow> folded(const std::vector<TopRow>& rows) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> group_of;
    for (const TopRow& row : rows) {
        const auto [at, is_new] = group_of.try_emplace(row.state + "\n" + row.text, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].take(row);
    }
    std::vector<TopRow> means;
    for (const Group& group : groups) means.push_back(group.mean());
    return means;
}

double cpu_percent_of(const JobSample& before, const JobSample& now) {
    double sum = 0;
    for (std::size_t pe = 0; pe < now.pes.size(); ++pe)
        sum += cpu_percent(before.pes[pe], now.pes[pe], seconds_between(before, now)).value_or(0);
    return sum;
}

std::string end_text(const common::BoardView& board) {
    std::map<PeState, std::vector<int>> by_state;
    for (int pe = 0; pe < board.n_pes(); ++pe) by_state[board.state(pe)].push_back(pe);
    if (by_state[PeState::finalized].size() == static_cast<std::size_t>(board.n_pes()))
        return "every PE has finalized";
    std::string text;
    for (const PeState state :
         {PeState::died, PeState::left, PeState::absent, PeState::running, PeState::finalized})
        if (const std::vector<int>& pes = by_state[state]; !pes.empty())
            text += std::string(text.empty() ? "" : "; ") + "PE " + common::pe_ranges(pes) + " " +
                    (state == PeState::running ? "was running" : common::state_text(state));
    return text;
}

}  // namespace atl::cli
