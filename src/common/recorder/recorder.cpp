#include "common/recorder/recorder.hpp"

#include "common/recorder/operation_names.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl::common {

void Recorder::note(EventKind kind, std::uint64_t a, std::uint64_t b) noexcept {
    const Entry entry = begin(kind, 0, 0, 0);
    set_arguments(entry, a, b, 0, 0);
    set_state(entry, EventState::ended);
    if (log == nullptr) return;
    LoggedEvent event;
    event.kind = kind;
    event.began = event.ended = log->now();
    const std::string_view first = event_word_names[static_cast<std::size_t>(kind)][0];
    if (first == "bytes") {
        event.bytes = a;
        event.offset = b;
    } else {
        event.offset = first == "place" ? a : 0;
    }
    log->add(event);
}

void Recorder::set_delay(const Entry& entry, std::uint64_t began_ns, std::uint64_t ended_ns,
                         const char* site) noexcept {
    if (!entry.is_kept()) return;
    EventRing& ring =
        entry.event >= memory_.own.events && entry.event < memory_.own.events + EventRing::length
            ? memory_.own
            : memory_.others;
    EventDelay& delay = ring.delays[entry.event - ring.events];
    delay.number.store(0, std::memory_order_release);
    delay.began_ns.store(began_ns, std::memory_order_release);
    delay.ended_ns.store(ended_ns, std::memory_order_relaxed);
    std::size_t i = 0;
    for (; i + 1 < site_bytes && site[i] != '\0'; ++i)
        delay.site[i].store(site[i], std::memory_order_relaxed);
    delay.site[i].store('\0', std::memory_order_relaxed);
    delay.number.store(entry.number, std::memory_order_release);
}

Recorder::Call Recorder::current_call() const noexcept {
    if (owner_ != __builtin_thread_pointer() || call_.event == nullptr || !call_.is_kept()) return {};
    const std::uint64_t what = call_.event->what.load(std::memory_order_relaxed);
    if (static_cast<EventState>(what >> 8 & 0xff) >= EventState::ended) return {};
    return {static_cast<std::uint32_t>(what >> 32),
            static_cast<std::uint32_t>(call_.event->call.load(std::memory_order_relaxed))};
}

std::string Recorder::called_name(const char* operation) const {
    if (current_call().call == 0) return operation;
    const std::uint64_t what = call_.event->what.load(std::memory_order_relaxed);
    const auto number = static_cast<std::uint16_t>(what >> 16);
    const bool is_reported = static_cast<EventState>(what >> 8 & 0xff) != EventState::begun;
    if (!is_reported || operation_name(number) != operation) return operation;
    std::uint64_t words[event_words];
    for (int w = 0; w < event_words; ++w) words[w] = call_.event->words[w].load(std::memory_order_relaxed);
    return common::called_name(number, words);
}

std::uint64_t Recorder::last_number(const EventRing& ring) noexcept {
    std::uint64_t last = 0;
    for (const Event& event : ring.events)
        last = std::max(last, (event.number.load(std::memory_order_relaxed) + 1) / 2);
    return last;
}

Recorder::Entry Recorder::begin_of_other(EventKind kind, std::uint16_t operation, std::uint32_t team,
                                         std::uint32_t call, int peer) noexcept {
    const std::uint64_t n = memory_.next_of_others.fetch_add(1, std::memory_order_relaxed) + 1;
    return write(memory_.others.events[n % EventRing::length], n,
                 Event::packed(kind, EventState::begun, operation, team),
                 static_cast<std::uint64_t>(call) | static_cast<std::uint64_t>(peer + 1) << 32);
}

namespace {

/// Reads the second line of an event. Leaves the copy as it is if that line is not the event's.
void read_delay(const EventDelay& delay, EventCopy& copy) {
    const std::uint64_t number = 2 * copy.number;
    if (delay.number.load(std::memory_order_acquire) != number) return;
    EventCopy read = copy;
    read.began_ns = delay.began_ns.load(std::memory_order_acquire);
    read.ended_ns = delay.ended_ns.load(std::memory_order_acquire);
    for (const std::atomic<char>& letter : delay.site) {
        const char c = letter.load(std::memory_order_acquire);
        if (c == '\0') break;
        read.site += c;
    }
    if (delay.number.load(std::memory_order_relaxed) == number) copy = std::move(read);
}

void read_ring(const EventRing& ring, bool is_of_others, std::vector<EventCopy>& all) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (std::size_t i = 0; i < EventRing::length; ++i) {
        const Event& event = ring.events[i];
        const std::uint64_t number = event.number.load(std::memory_order_acquire);
        if (number == 0 || (number & 1) != 0) continue;
        EventCopy copy;
        copy.number = number / 2;
        copy.is_of_others = is_of_others;
        const std::uint64_t what = event.what.load(std::memory_order_acquire);
        copy.kind = static_cast<EventKind>(what & 0xff);
        copy.state = static_cast<EventState>(what >> 8 & 0xff);
        copy.operation = static_cast<std::uint16_t>(what >> 16);
        copy.team = static_cast<std::uint32_t>(what >> 32);
        const std::uint64_t call = event.call.load(std::memory_order_acquire);
        copy.call = static_cast<std::uint32_t>(call);
        copy.peer = static_cast<std::int32_t>(call >> 32) - 1;
        // While the event is only begun, its words are still those of an earlier event.
        if (copy.state != EventState::begun)
            for (int w = 0; w < event_words; ++w)
                copy.words[w] = event.words[w].load(std::memory_order_acquire);
        read_delay(ring.delays[i], copy);
        const bool is_known = static_cast<std::size_t>(copy.kind) < std::size(event_names) &&
                              static_cast<std::size_t>(copy.state) < std::size(event_state_names);
        if (is_known && event.number.load(std::memory_order_relaxed) == number) all.push_back(copy);
    }
    std::sort(all.begin() + first, all.end(),
              [](const EventCopy& a, const EventCopy& b) { return a.number < b.number; });
}

std::string quoted(const std::string& text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') all += '\\';
        all += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return all + "\"";
}

}  // namespace

std::string team_text(std::uint32_t identity) {
    if (identity == 1) return "the world team";
    const std::uint32_t number = identity >> 2 & 0x3ff;
    return number == 0 ? "another team" : "team " + std::to_string(number);
}

std::string called_name(std::uint16_t operation, const std::uint64_t* words) {
    std::string name(operation_name(operation));
    constexpr int op_word = 3;
    const bool has_operator = name == "reduce" || name == "inscan" || name == "exscan";
    if (!has_operator || words == nullptr || words[op_word] >= std::size(reduce_op_names)) return name;
    return std::string(reduce_op_names[words[op_word]]) + "_" + name;
}

std::vector<EventCopy> read_events(const PeEvents& events) {
    std::vector<EventCopy> all;
    read_ring(events.own, false, all);
    read_ring(events.others, true, all);
    return all;
}

std::string event_text(const EventCopy& event) {
    const auto kind = static_cast<std::size_t>(event.kind);
    std::string text(event_names[kind]);
    if (event.operation != 0) text += " " + std::string(operation_name(event.operation));
    if (event.call != 0) text += ", call " + std::to_string(event.call) + " of " + team_text(event.team);
    if (event.peer >= 0) text += ", for PE " + std::to_string(event.peer);
    const bool lasts = event.kind == EventKind::collective || event.kind == EventKind::request ||
                       event.kind == EventKind::wait;
    if (!lasts)
        for (int w = 0; w < event_words; ++w)
            if (!event_word_names[kind][w].empty())
                text += ", " + std::string(event_word_names[kind][w]) + " " + std::to_string(event.words[w]);
    if (event.ended_ns > event.began_ns && event.began_ns != 0)
        text += ", " + std::to_string((event.ended_ns - event.began_ns) / 1'000'000) + " ms";
    if (!event.site.empty()) text += ", at " + event.site;
    const bool is_open = event.state < EventState::ended;
    if (lasts) text += is_open ? ": not ended" : event.state == EventState::failed ? ": failed" : ": ended";
    return text;
}

std::string event_json(int pe, const EventCopy& event) {
    const auto kind = static_cast<std::size_t>(event.kind);
    const auto number = [](const std::string& key, auto value) {
        return ", \"" + key + "\": " + std::to_string(value);
    };
    const auto text = [](const std::string& key, std::string_view value) {
        return ", \"" + key + "\": " + quoted(std::string(value));
    };
    std::string line = "{\"pe\": " + std::to_string(pe) + number("number", event.number) +
                       text("thread", event.is_of_others ? "other" : "main") +
                       text("event", event_names[kind]) +
                       text("state", event_state_names[static_cast<std::size_t>(event.state)]) +
                       text("operation", event.operation != 0 ? operation_name(event.operation) : "") +
                       number("team", event.team) + number("call", event.call) + number("peer", event.peer);
    for (int w = 0; w < event_words; ++w)
        if (!event_word_names[kind][w].empty())
            line += number(std::string(event_word_names[kind][w]), event.words[w]);
    if (event_waits[kind])
        line += number("began_ns", event.began_ns) + number("ended_ns", event.ended_ns) +
                text("site", event.site);
    return line + "}";
}

}  // namespace atl::common
