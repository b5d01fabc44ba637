#include "common/board/board.hpp"
#include "common/board/beside_gpu.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <sched.h>
#include <sstream>
#include <unistd.h>
#include <vector>

#include "common/able_time.hpp"
#include "common/clock.hpp"
#include "common/futex.hpp"
#include "common/kernel_identity.hpp"
#include "common/machine.hpp"
#include "common/pe_ranges.hpp"

namespace atl::common {

const char* compare_sign(std::uint32_t compare) {
    constexpr const char* signs[] = {"==", "!=", ">", ">=", "<", "<="};
    return compare < std::size(signs) ? signs[compare] : "?";
}

std::string offset_text(std::uint64_t offset) {
    const char* base = (offset & offset_in_statics) != 0  ? "static data+"
                       : (offset & absolute_address) != 0 ? ""
                                                          : "heap+";
    char text[40];
    std::snprintf(text, sizeof text, "%s0x%llx", base,
                  static_cast<unsigned long long>(offset & ~(offset_in_statics | absolute_address)));
    return text;
}

namespace {

/// More time than any PE needs between claiming an abort and having written it, on an overloaded machine.
constexpr std::uint64_t claim_ns = 1'000'000'000;

// Acquire, so that the following load of the sequence stays after it. No fence: ThreadSanitizer does not
// model them.
template <class T> T peek(const T& field) {
    T value;
    __atomic_load(&field, &value, __ATOMIC_ACQUIRE);
    return value;
}

template <class T> void poke(T& field, T value) { __atomic_store(&field, &value, __ATOMIC_RELEASE); }

/// Calls `body` with each field of a record and the same field of a copy, texts letter by letter.
template <class Record, class Copy, class Body> void each_field(Record& wait, Copy& copy, const Body& body) {
    for (std::size_t i = 0; i < sizeof copy.operation; ++i) body(wait.operation[i], copy.operation[i]);
    for (std::size_t i = 0; i < sizeof copy.name; ++i) body(wait.name[i], copy.name[i]);
    body(wait.team, copy.team);
    body(wait.peer, copy.peer);
    body(wait.offset, copy.offset);
    body(wait.block_begin, copy.block_begin);
    body(wait.block_bytes, copy.block_bytes);
    body(wait.expected, copy.expected);
    body(wait.found, copy.found);
    body(wait.compare, copy.compare);
    body(wait.word_bytes, copy.word_bytes);
    body(wait.since_ns, copy.since_ns);
    body(wait.polled_ns, copy.polled_ns);
    body(wait.team_id, copy.team_id);
    body(wait.call, copy.call);
    for (int i = 0; i < WaitRecord::most_missing; ++i) body(wait.missing[i], copy.missing[i]);
    for (std::size_t i = 0; i < sizeof copy.site; ++i) body(wait.site[i], copy.site[i]);
    body(wait.word_pe, copy.word_pe);
    for (std::size_t i = 0; i < sizeof copy.group; ++i) body(wait.group[i], copy.group[i]);
    body(wait.tag, copy.tag);
    body(wait.other.from, copy.other.from);
    body(wait.other.tag, copy.other.tag);
    body(wait.other.bytes, copy.other.bytes);
}

// The owner may write at any moment. So fields are read atomically and used only if the sequence did not
// change. A PE may have been killed half way through writing: no endless retry.
std::optional<WaitCopy> copy_wait(const WaitRecord& wait) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const std::uint32_t before = wait.sequence.load(std::memory_order_acquire);
        if (before & 1u) continue;
        WaitCopy copy;
        copy.active = wait.active.load(std::memory_order_acquire);
        if (copy.active == 0) return std::nullopt;
        each_field(wait, copy, [](const auto& field, auto& value) { value = peek(field); });
        copy.operation[sizeof copy.operation - 1] = '\0';
        copy.name[sizeof copy.name - 1] = '\0';
        copy.group[sizeof copy.group - 1] = '\0';
        if (wait.sequence.load(std::memory_order_relaxed) == before) return copy;
    }
    return std::nullopt;
}

std::string describe(const WaitCopy& wait) {
    return wait_text(wait, wait.peer >= 0 ? std::vector{static_cast<int>(wait.peer)} : std::vector<int>{});
}

/// A polling PE counts as waiting for this long after the last test that it wrote.
constexpr double poll_lasts_s = 1;

double seconds_since(std::uint64_t since_ns) {
    const std::uint64_t now = now_ns();
    return since_ns == 0 || now < since_ns ? 0 : static_cast<double>(now - since_ns) * 1e-9;
}

bool has_exited(PeState state) { return state >= PeState::finalized; }

/// The PEs of one line of the table, and how long they have been in that state.
struct Group {
    std::string text;
    std::vector<int> pes;
    bool waits = false;
    double shortest = 0, longest = 0;
};

std::string render(const Group& group) {
    std::string line = "  PE " + pe_ranges(group.pes) + ": " + group.text;
    if (group.waits) {
        char time[64];
        if (group.longest - group.shortest < 0.1) {
            std::snprintf(time, sizeof time, " (%.1f s)", group.longest);
        } else {
            std::snprintf(time, sizeof time, " (%.1f to %.1f s)", group.shortest, group.longest);
        }
        line += time;
    }
    return line + "\n";
}

}  // namespace

std::string value_text(const WaitCopy& wait) {
    // Signed: -1 is a more likely value of a flag than 2^64 - 1.
    std::string found = "found " + std::to_string(static_cast<std::int64_t>(wait.found));
    if (wait.compare == compared_by_program) return found;
    return found + ", waiting for " + compare_sign(wait.compare) + " " +
           std::to_string(static_cast<std::int64_t>(wait.expected));
}

int team_number(const std::string& group) {
    int number = 1;
    std::from_chars(group.data(), group.data() + group.size(), number);
    return number;
}

std::string team_text_of(const WaitCopy& wait) {
    if (wait.group[0] != '\0') return std::string(" of group ") + wait.group;
    return wait.team == 0 ? std::string() : " of team " + std::to_string(wait.team);
}

std::string wait_text(const WaitCopy& wait, const std::vector<int>& awaited) {
    std::string text = wait.operation;
    const bool names_team = std::string_view(wait.name).find(" of team ") != std::string_view::npos;
    if (!names_team) text += team_text_of(wait);
    if (wait.group[0] != '\0' && wait.name[0] != '\0')
        text += std::string(" (") + wait.name + ")";
    else if (wait.name[0] != '\0')
        text += std::string(" on ") + wait.name;
    else if (wait.word_bytes != 0 && wait.offset != ~std::uint64_t{0})
        text += " on " + offset_text(wait.offset);
    if (wait.word_pe >= 0) text += " of PE " + std::to_string(wait.word_pe);
    if (!awaited.empty()) text += ", for PE " + pe_ranges(awaited);
    if (wait.word_bytes != 0) text += ": " + value_text(wait);
    if (wait.site[0] != '\0') text += std::string(", at ") + wait.site;
    return text;
}

void FailureNote::set(Kind its_kind, const std::string& its_text) noexcept {
    kind.store(Kind::none, std::memory_order_release);
    text[its_text.copy(text, sizeof text - 1)] = '\0';
    kind.store(its_kind, std::memory_order_release);
}

void write_wait(WaitRecord& wait, const WaitCopy& values) {
    wait.sequence.fetch_add(1, std::memory_order_acq_rel);
    each_field(wait, values, [](auto& field, const auto& value) { poke(field, value); });
    wait.active.store(values.active, std::memory_order_release);
    wait.sequence.fetch_add(1, std::memory_order_release);
}

const char* exit_text(PeState state) {
    return state == PeState::died        ? "died"
           : state == PeState::finalized ? "has finalized"
                                         : "left the job without finalize";
}

const char* state_text(PeState state) {
    switch (state) {
        case PeState::absent:
            return "has not called init";
        case PeState::running:
            return "in its own code";
        case PeState::finalized:
            return "has finalized";
        case PeState::left:
            return "ended without finalize";
        case PeState::died:
            return "died";
    }
    return "in a state that this launcher does not know";
}

BoardView BoardView::create(void* memory, int n_pes) {
    BoardView board(new (memory) BoardHeader);
    board.header().n_pes = n_pes;
    board.header().usable_cpus = usable_cpus();
    for (int pe = 0; pe < n_pes; ++pe) new (&board.entry(pe)) BoardEntry;
    return board;
}

void BoardView::abort(int pe, int status, const std::string& text) const {
    BoardHeader& board = header();
    if (board.abort_claim.exchange(1, std::memory_order_acq_rel) != 0) {
        // The first claimer may have been killed before it set `abort`; the end must not be missed for that.
        const std::uint64_t latest = now_ns() + claim_ns;
        while (board.abort.load(std::memory_order_acquire) == 0 && now_ns() < latest) ::sched_yield();
        if (board.abort.load(std::memory_order_acquire) != 0) return;
    }
    board.abort_pe.store(pe, std::memory_order_relaxed);
    board.abort_status.store(status, std::memory_order_relaxed);
    const std::size_t length = std::min(text.size(), sizeof board.abort_text - 1);
    std::memcpy(board.abort_text, text.data(), length);
    board.abort_text[length] = '\0';
    board.abort.store(1, std::memory_order_release);
    futex_wake_all(board.abort);
}

void BoardView::set_state(int pe, PeState state) const {
    BoardHeader& board = header();
    const auto before = static_cast<PeState>(
        entry(pe).state.exchange(static_cast<std::uint32_t>(state), std::memory_order_acq_rel));
    // Differences, so that both the launcher and the PE may report it, and a PE may return by a second init.
    // `left` first: a PE that sees the final `exited` must also see the final `left`.
    const auto without_finalize = [](PeState s) {
        return static_cast<std::uint32_t>(s > PeState::finalized);
    };
    board.left.fetch_add(without_finalize(state) - without_finalize(before), std::memory_order_acq_rel);
    board.exited.fetch_add(
        static_cast<std::uint32_t>(has_exited(state)) - static_cast<std::uint32_t>(has_exited(before)),
        std::memory_order_acq_rel);
    if (has_exited(state)) futex_wake_all(board.exited);
}

void BoardView::sign_in(int pe) const noexcept {
    if (entry(pe).pid.load(std::memory_order_relaxed) != ::getpid())
        entry(pe).group.active.store(0,
                                     std::memory_order_relaxed);  // the previous process may have left it set
    entry(pe).is_guest.store(0, std::memory_order_relaxed);
    entry(pe).failure.kind.store(FailureNote::Kind::none, std::memory_order_relaxed);
    entry(pe).pid_namespace.store(own_pid_namespace(), std::memory_order_relaxed);
    entry(pe).pid.store(::getpid(), std::memory_order_release);
}

bool BoardView::process_ended(int pe) const noexcept {
    const std::int32_t pid = entry(pe).pid.load(std::memory_order_acquire);
    if (pid <= 0 || entry(pe).pid_namespace.load(std::memory_order_relaxed) != own_pid_namespace())
        return false;
    return ::kill(pid, 0) != 0 && errno == ESRCH;
}

void BoardView::mark_dead() const {
    for (int pe = 0; pe < n_pes(); ++pe) {
        const bool is_guest = entry(pe).is_guest.load(std::memory_order_relaxed) != 0;
        if (state(pe) == PeState::running && process_ended(pe))
            set_state(pe, is_guest ? PeState::left : PeState::died);
    }
}

bool BoardView::process_works(int pe) const {
    if (entry(pe).pid_namespace.load(std::memory_order_relaxed) != own_pid_namespace()) return false;
    const char state = process_figures(entry(pe).pid.load(std::memory_order_acquire)).state;
    return state == 'R' || state == 'D';
}

std::string BoardView::wait_text(int pe) const {
    std::optional<WaitCopy> wait = copy_wait(entry(pe).wait);
    if (!wait) wait = copy_wait(entry(pe).group);
    if (!wait) return {};
    char time[32];
    std::snprintf(time, sizeof time, " (%.1f s)", seconds_since(wait->since_ns));
    return describe(*wait) + time;
}

namespace {

/// The last collective calls of a PE.
std::vector<CallSeen> calls_of(const PeEvents& events) {
    std::vector<CallSeen> calls;
    for (const EventCopy& event : read_events(events)) {
        if (event.kind == EventKind::init) calls.clear();  // the program's own calls begin with number 1
        if (event.kind != EventKind::collective || event.is_of_others) continue;
        CallSeen& seen = calls.emplace_back();
        seen.team = event.team;
        seen.call = event.call;
        seen.operation = event.operation;
        seen.state = event.state;
        std::copy(std::begin(event.words), std::end(event.words), seen.arguments);
    }
    return calls;
}

/// Gives a wait the name by which the program called the operation: "sum_reduce" for "reduce".
void name_wait(PeDoing& one) {
    const std::string_view site = one.wait.site;
    // Within a call of a larger operation it is not the program's own; see with_site.
    const bool is_inner = site.ends_with(')') && site.find("+0x") == std::string_view::npos;
    if (!one.waits || one.wait.call == 0 || is_inner) return;
    const std::string before = one.wait.operation;
    for (const CallSeen& call : one.calls) {
        if (call.team != one.wait.team_id || call.call != one.wait.call || call.state == EventState::begun ||
            before != operation_name(call.operation))
            continue;
        const std::string name = called_name(call.operation, call.arguments);
        if (name == before || name.size() >= sizeof one.wait.operation) return;
        name.copy(one.wait.operation, name.size());
        one.wait.operation[name.size()] = '\0';
        if (const std::size_t at = one.text.find(before); at != std::string::npos)
            one.text.replace(at, before.size(), name);
        return;
    }
}

std::vector<HeldSeen> held_of(const HeldLocks& locks) {
    std::vector<HeldSeen> held;
    for (const HeldLocks::One& one : locks.all)
        if (const std::uint64_t offset = one.offset.load(std::memory_order_acquire); offset != 0) {
            HeldSeen seen{offset - 1, one.caller.load(std::memory_order_relaxed), one.site_text()};
            // The holder may have released the lock and acquired another one meanwhile.
            if (one.offset.load(std::memory_order_acquire) == offset) held.push_back(std::move(seen));
        }
    return held;
}

std::vector<UpdateSeen> updates_of(const UpdateNotes& notes) {
    std::vector<UpdateSeen> updates;
    for (const UpdateNote& note : notes.notes) {
        const std::uint64_t offset = note.offset.load(std::memory_order_relaxed);
        const std::uint64_t to = note.to.load(std::memory_order_relaxed);
        if (offset == 0) continue;
        const std::uint64_t count = note.count.load(std::memory_order_relaxed);
        const std::uint64_t at = note.site.load(std::memory_order_relaxed);
        UpdateSite site = notes.sites.site(at & ((1u << UpdateNote::site_shift) - 1));
        site.is_of_last = at >> UpdateNote::site_shift == count;
        updates.push_back({offset - 1, note.value.load(std::memory_order_relaxed),
                           static_cast<int>(UpdateNote::pe_of(to)), UpdateNote::kind_of(to), count, site});
    }
    return updates;
}

}  // namespace

ProcessFigures process_figures(int pid) {
    ProcessFigures figures;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (pid <= 0 || !std::getline(file, line)) return figures;
    const std::size_t name_end = line.rfind(')');  // a program's name may contain parentheses
    if (name_end == std::string::npos) return figures;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    fields >> figures.state;
    for (int field = 4; field < 14; ++field) fields >> skipped;
    double user = 0, system = 0, started = 0;
    fields >> user >> system;
    for (int field = 16; field < 22; ++field) fields >> skipped;
    fields >> started;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    figures.cpu_s = (user + system) / ticks;
    figures.started_s = started / ticks;
    return figures;
}

PeDoing BoardView::doing(int pe, bool with_calls) const {
    PeDoing one = activity(pe);
    if (entry(pe).pid.load(std::memory_order_acquire) == pid_elsewhere && !has_exited(one.state)) {
        PeDoing other = of_state(PeState::running, "is on another host");
        other.process = silent_process;
        return other;
    }
    if (with_calls) {
        one.calls = calls_of(events(pe));
        name_wait(one);
        one.held = held_of(stacks(pe).held);
        one.ignored = stacks(pe).ignored.read();
        one.handled = one.waits ? stacks(pe).handled.read() : "";
        one.signals = updates_of(events(pe).signals);
        one.writes = updates_of(events(pe).writes);
        one.signals_lost = events(pe).signals.has_lost.load(std::memory_order_relaxed) != 0;
        one.writes_lost = events(pe).writes.has_lost.load(std::memory_order_relaxed) != 0;
    }
    one.pid = entry(pe).pid.load(std::memory_order_acquire);
    const bool is_here = entry(pe).pid_namespace.load(std::memory_order_relaxed) == own_pid_namespace();
    if (one.state == PeState::running && is_here) {
        const ProcessFigures figures = process_figures(one.pid);
        one.process = figures.state;
        one.cpu_s = figures.cpu_s;
        one.coreless_s = coreless_seconds(one.pid);
    }
    if (one.process == 'T')
        one.text = "stopped (process " + std::to_string(one.pid) + ")" + (one.waits ? ", " + one.text : "");
    return one;
}

PeDoing BoardView::activity(int pe) const {
    const PeState now = state(pe);
    if (now == PeState::left && entry(pe).is_guest.load(std::memory_order_relaxed) != 0)
        return of_state(now, "has ended");
    if (now != PeState::running) return of_state(now, state_text(now));
    std::optional<WaitCopy> wait = copy_wait(entry(pe).wait);
    if (!wait) wait = copy_wait(entry(pe).group);
    const bool polls = wait && wait->active == static_cast<std::uint32_t>(HostWait::polls);
    // A program that has left its loop of tests waits no longer.
    if (polls && seconds_since(wait->polled_ns) > poll_lasts_s) return of_state(now, state_text(now));
    std::string text = wait ? describe(*wait) : state_text(now);
    if (!wait && (wait = copy_wait(entry(pe).gpu))) {
        if (wait->active != static_cast<std::uint32_t>(GpuWait::awaited))
            return of_state(now, std::string(beside_gpu) + describe(*wait));
        text = std::string(its_gpu) + describe(*wait);
    }
    if (!wait) return of_state(now, text);
    const bool pends = wait->active == static_cast<std::uint32_t>(HostWait::pending);
    if (pends) text = "running, with a pending " + text;
    // Mixed, so that a growing value does not hide a falling one.
    std::uint64_t mark = entry(pe).waits.load(std::memory_order_relaxed);
    for (const std::uint64_t part : {wait->since_ns, wait->found, wait->expected, wait->offset}) {
        mark = (mark ^ part) * 0x9E3779B97F4A7C15u;
    }
    PeDoing one = of_state(now, text);
    one.waits = !pends;
    one.pends = pends;
    one.polls = polls;
    one.seconds = seconds_since(wait->since_ns);
    one.mark = mark;
    one.wait = *wait;
    return one;
}

bool BoardView::may_all_wait() const {
    for (int pe = 0; pe < n_pes(); ++pe) {
        const BoardEntry& one = entry(pe);
        const bool waits = one.wait.active.load(std::memory_order_relaxed) != 0 ||
                           one.group.active.load(std::memory_order_relaxed) != 0 ||
                           one.gpu.active.load(std::memory_order_relaxed) != 0;
        if (state(pe) == PeState::running && !waits) return false;
    }
    return true;
}

std::vector<PeDoing> BoardView::all_doing(bool with_calls) const {
    std::vector<PeDoing> all;
    for (int pe = 0; pe < n_pes(); ++pe) all.push_back(doing(pe, with_calls));
    return all;
}

namespace {

/// Returns a text such as ", at solver.py:61"; ", in main at solver.c:61" for a place in a function.
std::string site_text(const std::string& site) {
    if (site.empty()) return {};
    return (site.find(" at ") == site.npos ? ", at " : ", in ") + site;
}

/// The lines of the table. That of the PEs in `first` comes first.
std::vector<Group> groups_of(const std::vector<PeDoing>& doing, const std::vector<int>& first) {
    std::vector<Group> groups;
    for (std::size_t pe = 0; pe < doing.size(); ++pe) {
        const bool waits = doing[pe].waits;
        const double seconds = doing[pe].seconds;
        const std::string text =
            doing[pe].site == idle_in_pool ? doing[pe].site : doing[pe].text + site_text(doing[pe].site);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& g) { return g.text == text && g.waits == waits; });
        if (group == groups.end())
            group = groups.insert(groups.end(), Group{text, {}, waits, seconds, seconds});
        group->pes.push_back(static_cast<int>(pe));
        group->shortest = std::min(group->shortest, seconds);
        group->longest = std::max(group->longest, seconds);
    }
    std::stable_partition(groups.begin(), groups.end(), [&](const Group& group) {
        return std::find_first_of(first.begin(), first.end(), group.pes.begin(), group.pes.end()) !=
               first.end();
    });
    return groups;
}

}  // namespace

std::string table_of(const std::vector<PeDoing>& doing, const std::vector<int>& first) {
    std::string table;
    for (const Group& group : groups_of(doing, first)) table += render(group);
    return table;
}

std::vector<std::vector<int>> pes_by_site(const std::vector<PeDoing>& doing, const std::vector<int>& first) {
    std::vector<std::vector<int>> by_site;
    for (const Group& group : groups_of(doing, first)) by_site.push_back(group.pes);
    return by_site;
}

}  // namespace atl::common
