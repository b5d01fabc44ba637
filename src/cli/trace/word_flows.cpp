#include "cli/trace/word_flows.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace atl::cli {

using common::EventKind;
using common::EventState;
using common::LoggedEvent;

namespace {

/// True for a wait for one word. Place 0 is the first word of the heap.
bool is_word_wait(const LoggedEvent& event) {
    const std::string_view name = common::operation_name(event.operation);
    return event.kind == EventKind::move && event.state == EventState::ended &&
           (name == "wait_until" || name == "signal_wait_until" || name == "signal_wait" ||
            name == "signal_consume");
}

/// True for an operation that changes the word at `offset` of its peer.
bool sets_word(const LoggedEvent& event) {
    const std::string_view name = common::operation_name(event.operation);
    if (event.kind != EventKind::move || event.peer < 0) return false;
    return name.starts_with("put_signal") || name == "signal_set" || name == "signal_add" || name == "p" ||
           (name.starts_with("put") && event.bytes <= sizeof(std::uint64_t)) ||
           (name.starts_with("atomic_") && name != "atomic_fetch");
}

/// An acquisition of a lock. A failed or timed-out acquisition has no matching release.
bool acquires_lock(const LoggedEvent& event) {
    const std::string_view name = common::operation_name(event.operation);
    return event.kind == EventKind::move && event.state == EventState::ended &&
           (name == "Lock.acquire" || name == "set_lock" || name == "Lock::lock");
}

/// An operation that sets a word, or a wait for it; for a lock, a release or an acquisition.
struct Access {
    FlowEnd end;
    std::uint64_t began = 0, ended = 0;
};
struct Word {
    std::vector<Access> setters, waits;
};
/// By PE and place. Places in the heaps of GPUs have the bit of LoggedEvent's.
using Words = std::map<std::pair<int, std::uint64_t>, Word>;

Words words_of(const JobTrace& trace) {
    Words words;
    for (std::size_t p = 0; p < trace.pes.size(); ++p) {
        const PeTrace& pe = trace.pes[p];
        for (std::size_t e = 0; e < pe.log.events.size(); ++e) {
            const LoggedEvent& event = pe.log.events[e];
            const Access access{{{p, e}, false}, event.began, event.ended};
            if (is_word_wait(event)) words[{pe.pe, event.offset}].waits.push_back(access);
            if (sets_word(event)) words[{event.peer, event.offset}].setters.push_back(access);
        }
        for (std::size_t e = 0; e < pe.kernels.slices.size(); ++e) {
            const KernelSlice& slice = pe.kernels.slices[e];
            const Access access{{{p, e}, true}, slice.began, slice.ended};
            const std::uint64_t offset = slice.offset | (slice.gpu >= 0 ? common::offset_on_device : 0);
            if (awaits_kernel_word(slice)) words[{pe.pe, offset}].waits.push_back(access);
            if (sets_kernel_word(slice)) words[{slice.peer, offset}].setters.push_back(access);
        }
    }
    return words;
}

/// By place.
using Locks = std::map<std::uint64_t, Word>;

Locks locks_of(const JobTrace& trace) {
    Locks locks;
    for (std::size_t p = 0; p < trace.pes.size(); ++p)
        for (std::size_t e = 0; e < trace.pes[p].log.events.size(); ++e) {
            const LoggedEvent& event = trace.event({p, e});
            const Access access{{{p, e}, false}, event.began, event.ended};
            if (acquires_lock(event)) locks[event.offset].waits.push_back(access);
            if (releases_lock(event)) locks[event.offset].setters.push_back(access);
        }
    return locks;
}

/// Bound of the error between the clocks of two events.
std::uint64_t clock_error_ns(const JobTrace& trace, const FlowEnd& a, const FlowEnd& b) {
    const auto of_gpu = [&](const FlowEnd& end) {
        const KernelTracks& kernels = trace.pes[end.id.pe].kernels;
        const bool is_on_gpu = end.in_kernel && kernels.slices[end.id.event].gpu >= 0;
        return is_on_gpu ? kernels.clock_error_ns : 0;
    };
    const bool is_one_clock = a.in_kernel == b.in_kernel && a.id.pe == b.id.pe;
    return trace.clock_error_ns(a.id.pe, b.id.pe) + (is_one_clock ? 0 : of_gpu(a) + of_gpu(b));
}

/// Finds the operation that ended each wait for a word: the last one that began before the wait ended. By
/// several clocks an operation may seem to begin a little later. So if the last one has ended the wait
/// before, the next one counts if it began within the clocks' error.
void add_waits(const JobTrace& trace, Word& word, std::vector<WordFlow>& flows) {
    std::stable_sort(word.setters.begin(), word.setters.end(),
                     [](const Access& a, const Access& b) { return a.began < b.began; });
    std::stable_sort(word.waits.begin(), word.waits.end(),
                     [](const Access& a, const Access& b) { return a.ended < b.ended; });
    std::size_t used = 0;  // setters up to the one that ended the wait before
    for (const Access& wait : word.waits) {
        const auto after =
            std::upper_bound(word.setters.begin(), word.setters.end(), wait.ended,
                             [](std::uint64_t time, const Access& setter) { return time < setter.began; });
        auto count = static_cast<std::size_t>(after - word.setters.begin());
        const bool may_be_late = after != word.setters.end() &&
                                 after->began <= wait.ended + clock_error_ns(trace, after->end, wait.end);
        if (count <= used && may_be_late) ++count;
        if (count == 0) continue;
        used = count;
        flows.push_back({word.setters[count - 1].end, wait.end});
    }
}

/// Finds the release that each acquisition waited for. No acquisition waited for a release before it.
void add_locks(const JobTrace& trace, std::vector<WordFlow>& flows) {
    std::vector<WordFlow> found;
    Locks locks = locks_of(trace);
    for (auto& [offset, lock] : locks) add_waits(trace, lock, found);
    for (const WordFlow& flow : found)
        if (flow.from.id.pe != flow.to.id.pe &&
            trace.event(flow.from.id).began >= trace.event(flow.to.id).began)
            flows.push_back(flow);
}

}  // namespace

bool releases_lock(const LoggedEvent& event) {
    const std::string_view name = common::operation_name(event.operation);
    return event.kind == EventKind::move && event.state == EventState::ended &&
           (name == "Lock.release" || name == "clear_lock" || name == "Lock::unlock");
}

std::vector<WordFlow> word_flows_of(const JobTrace& trace) {
    std::vector<WordFlow> flows;
    Words words = words_of(trace);
    for (auto& [key, word] : words) add_waits(trace, word, flows);
    add_locks(trace, flows);
    return flows;
}

}  // namespace atl::cli
