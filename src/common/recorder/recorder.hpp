// Flight recorder: the last events of every PE, in a ring in the job board's memory. The launcher and other
// PEs read it, even after the PE was killed. The events are a table, api/events.toml.
//
// An event costs some stores to a cache line that only its PE writes, and no clock
// (docs/measurements/2026-11-24-flight-recorder.md). A wait that has to sleep is a separate event, with times
// and a call site, in a second line (EventDelay).
#pragma once

#include "common/recorder/event_log.hpp"
#include "common/recorder/event_types.hpp"
#include "common/recorder/update_notes.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace atl::common {

struct alignas(64) Event {
    /// 2 * the event's number; odd while its owner writes the event.
    std::atomic<std::uint64_t> number;
    std::atomic<std::uint64_t> what;  ///< EventKind, EventState, operation, team: see packed
    std::atomic<std::uint64_t> call;  ///< number of the call; above it the peer + 1
    std::atomic<std::uint64_t> words[event_words];
    std::atomic<std::uint64_t> spare;

    static constexpr std::uint64_t packed(EventKind kind, EventState state, std::uint16_t operation,
                                          std::uint32_t team) {
        return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(state) << 8 |
               static_cast<std::uint64_t>(operation) << 16 | static_cast<std::uint64_t>(team) << 32;
    }
    static constexpr std::uint64_t with_state(std::uint64_t what, EventState state) {
        return (what & ~std::uint64_t{0xff00}) | static_cast<std::uint64_t>(state) << 8;
    }
};
static_assert(sizeof(Event) == 64);

inline constexpr std::size_t site_bytes = 104;

/// Times and call site of a wait. Valid if `number` is its event's.
struct alignas(64) EventDelay {
    std::atomic<std::uint64_t> number;
    std::atomic<std::uint64_t> began_ns, ended_ns;
    std::atomic<char> site[site_bytes];
};
static_assert(sizeof(EventDelay) == 128);

struct EventRing {
    static constexpr std::size_t length = 128;
    Event events[length];
    EventDelay delays[length];
};

/// The events of a PE. Zeroed memory is a valid empty recorder.
struct PeEvents {
    UpdateNotes signals;  ///< by signal operations
    UpdateNotes writes;   ///< by puts and atomic operations of the Python front
    EventRing own;        ///< events of the thread that called init
    EventRing others;     ///< events of all other threads
    alignas(64) std::atomic<std::uint64_t> next_of_others;
};

/// The values of an event at one moment.
struct EventCopy {
    std::uint64_t number = 0;
    bool is_of_others = false;
    EventKind kind = EventKind::none;
    EventState state = EventState::begun;
    std::uint16_t operation = 0;
    std::uint32_t team = 0;
    std::uint32_t call = 0;
    std::int32_t peer = -1;
    std::uint64_t words[event_words] = {};
    std::uint64_t began_ns = 0, ended_ns = 0;
    std::string site;
};

/// The readable events of a PE, the oldest first, those of its first thread before the others'. Any process
/// may call it at any moment.
std::vector<EventCopy> read_events(const PeEvents& events);
/// The identity of a team other than the world team, from a hash that all members compute alike. `number` is
/// the team's on all members; 0: they have different ones.
constexpr std::uint32_t team_identity(std::uint32_t hash, int number) {
    constexpr int shift = 2, most = 1 << 10;
    const std::uint32_t kept = number > 0 && number < most ? static_cast<std::uint32_t>(number) : 0;
    return hash << 12 | kept << shift | 2;
}
/// "the world team", "team 3". "another team" for one without a number that all members have.
std::string team_text(std::uint32_t identity);
/// The name that a program calls an operation by: "sum_reduce" for "reduce", of which `words` have the
/// operator. Null `words`: the arguments are not known.
std::string called_name(std::uint16_t operation, const std::uint64_t* words);
/// The same for an event.
inline std::string called_name(const EventCopy& event) {
    return called_name(event.operation, event.state == EventState::begun ? nullptr : event.words);
}
/// One line of text, such as "collective reduce, call 17 of the world team: ended".
std::string event_text(const EventCopy& event);
/// One line of JSON, without a newline.
std::string event_json(int pe, const EventCopy& event);

/// Writes the events of a PE. Threads may call it at once.
class Recorder {
  public:
    /// The calling thread becomes the one whose events take no atomic operation.
    explicit Recorder(PeEvents& memory) noexcept
        : memory_(memory), owner_(__builtin_thread_pointer()), next_(last_number(memory.own)) {
        memory_.signals.clear();  // those of a job that this process has finalized
        memory_.writes.clear();
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// An event that its owner may still change: its place, and its number there.
    struct Entry {
        Event* event = nullptr;
        std::uint64_t number = 0;
        /// False once newer events have replaced it.
        bool is_kept() const { return event->number.load(std::memory_order_relaxed) == number; }
    };

    [[gnu::always_inline]] Entry begin(EventKind kind, std::uint16_t operation, std::uint32_t team,
                                       std::uint32_t call, int peer = -1) noexcept {
        if (owner_ != __builtin_thread_pointer()) [[unlikely]]
            return begin_of_other(kind, operation, team, call, peer);
        const std::uint64_t n = ++next_;
        return write(memory_.own.events[n % EventRing::length], n,
                     Event::packed(kind, EventState::begun, operation, team),
                     static_cast<std::uint64_t>(call) | static_cast<std::uint64_t>(peer + 1) << 32);
    }
    /// Marks the call of this thread in which waits take place.
    [[gnu::always_inline]] Entry begin_call(std::uint16_t operation, std::uint32_t team,
                                            std::uint32_t call) noexcept {
        const Entry entry = begin(EventKind::collective, operation, team, call);
        if (owner_ == __builtin_thread_pointer()) [[likely]]
            call_ = entry;
        return entry;
    }
    /// Adds the arguments of a call, once.
    [[gnu::always_inline]] static void set_arguments(const Entry& entry, std::uint64_t a, std::uint64_t b,
                                                     std::uint64_t c, std::uint64_t d) noexcept {
        Event& event = *entry.event;
        const auto state = event.what.load(std::memory_order_relaxed) >> 8 & 0xff;
        if (!entry.is_kept() || state != static_cast<std::uint64_t>(EventState::begun)) [[unlikely]]
            return;
        event.words[0].store(a, std::memory_order_relaxed);
        event.words[1].store(b, std::memory_order_relaxed);
        event.words[2].store(c, std::memory_order_relaxed);
        event.words[3].store(d, std::memory_order_relaxed);
        set_state(entry, EventState::met);
    }
    [[gnu::always_inline]] static void set_state(const Entry& entry, EventState state) noexcept {
        if (!entry.is_kept()) [[unlikely]]
            return;
        entry.event->what.store(Event::with_state(entry.event->what.load(std::memory_order_relaxed), state),
                                std::memory_order_release);
    }
    /// Changes the PE that a wait waits for.
    static void set_peer(const Entry& entry, int peer) noexcept {
        if (!entry.is_kept()) return;
        const auto call = static_cast<std::uint32_t>(entry.event->call.load(std::memory_order_relaxed));
        entry.event->call.store(call | static_cast<std::uint64_t>(peer + 1) << 32, std::memory_order_relaxed);
    }
    /// A complete event.
    void note(EventKind kind, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
    /// Writes the second line of a wait's event.
    void set_delay(const Entry& entry, std::uint64_t began_ns, std::uint64_t ended_ns,
                   const char* site) noexcept;

    /// The current call of this thread, for threads that have begun one; else zeros.
    struct Call {
        std::uint32_t team = 0, call = 0;
    };
    Call current_call() const noexcept;
    /// The program's name of an operation, if the current call is of it and its arguments are known.
    std::string called_name(const char* operation) const;

    /// Gets the complete events, too. Null without a trace.
    EventLog* log = nullptr;

    /// Signals, and other updates. They are kept apart, since many of those would displace a signal.
    UpdateNotes& signals() const noexcept { return memory_.signals; }
    UpdateNotes& writes() const noexcept { return memory_.writes; }
    /// Forgets the updates of words from `begin` up to `end`, which get another meaning.
    void forget_updates(std::uint64_t begin, std::uint64_t end) noexcept {
        signals().forget(begin, end);
        writes().forget(begin, end);
    }

    /// The event of the wait that the job board shows. Written by the waiting thread.
    Entry shown_wait;

  private:
    static std::uint64_t last_number(const EventRing& ring) noexcept;
    Entry begin_of_other(EventKind kind, std::uint16_t operation, std::uint32_t team, std::uint32_t call,
                         int peer) noexcept;
    [[gnu::always_inline]] static Entry write(Event& event, std::uint64_t n, std::uint64_t what,
                                              std::uint64_t call) noexcept {
        event.number.store(2 * n - 1, std::memory_order_release);
        event.what.store(what, std::memory_order_release);
        event.call.store(call, std::memory_order_relaxed);
        event.number.store(2 * n, std::memory_order_release);
        return {&event, 2 * n};
    }

    PeEvents& memory_;
    const void* const owner_;
    std::uint64_t next_;
    Entry call_;
};

}  // namespace atl::common
