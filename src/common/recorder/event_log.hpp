// Log: all events of a PE since its init, for traces and `--record`. It is on the job board, so that events
// of a PE that was killed remain. When it is full, further events are counted and dropped.
#pragma once

#include "atoll/export.hpp"
#include "common/recorder/event_types.hpp"
#include "common/recorder/ticks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace atl::common {

/// Texts of a log, such as names of ranges and call sites. They are numbered from 1.
struct LogTexts {
    static constexpr std::size_t most = 1024, bytes = 96;
    std::atomic<std::uint32_t> count;
    char texts[most][bytes];  ///< complete once `count` includes them
};

struct alignas(64) LogRecord {
    std::atomic<std::uint64_t> began, ended;  ///< ticks; `ended` is written last, 0 until then
    std::atomic<std::uint64_t> what;          ///< value of Event::what
    std::atomic<std::uint64_t> call;          ///< value of Event::call
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> offset, value;
    std::atomic<std::uint64_t> more;  ///< thread (16 bits), site (16 bits), waiting in units of 64 ticks
};
static_assert(sizeof(LogRecord) == 64);

/// The log of a PE: this header, and behind it the records. Zeroed memory is a valid empty log.
struct alignas(64) LogHeader {
    std::atomic<std::uint64_t> next;  ///< records that threads have taken, written or not; may exceed the end
    std::atomic<std::uint64_t> dropped;
    std::atomic<std::uint64_t> uses_counter, began_ticks, began_ns;
    std::atomic<std::uint32_t> threads;  ///< numbers given to threads so far
    LogTexts texts;

    LogRecord* records() { return reinterpret_cast<LogRecord*>(this + 1); }
    const LogRecord* records() const { return reinterpret_cast<const LogRecord*>(this + 1); }
    static std::size_t bytes(std::uint64_t most_events) {
        return sizeof(LogHeader) + sizeof(LogRecord) * most_events;
    }
};

/// In a place: an offset in the heap of a PE's GPU.
inline constexpr std::uint64_t offset_on_device = std::uint64_t{1} << 61;

/// An event of a log.
struct LoggedEvent {
    EventKind kind = EventKind::none;
    EventState state = EventState::ended;
    std::uint16_t operation = 0;
    std::uint32_t team = 0, call = 0;
    std::int32_t peer = -1;
    std::uint64_t began = 0, ended = 0;  ///< ticks in the PE, ns of CLOCK_MONOTONIC for a reader
    std::uint64_t bytes = 0, offset = 0, value = 0, waiting = 0;
    std::uint16_t thread = 0, site = 0;
};

/// A thread's number in a log, from 0 in the order of their first events, and its records that are free. It
/// takes several at once: an atomic addition for each event would wait for the stores of the one before. The
/// first ones are few, since a thread that ends leaves some unused.
struct LogWriter {
    static constexpr std::uint64_t most_at_once = 32;
    const LogHeader* log = nullptr;
    std::uint16_t number = 0;
    std::uint64_t next = 0, end = 0, taken = 0;
};

/// Writes the log of a PE. Threads may call it at once.
class EventLog {
  public:
    EventLog(LogHeader& memory, std::uint64_t most_events) noexcept;
    TickClock clock() const noexcept { return {uses_counter_}; }
    std::uint64_t now() const noexcept { return clock().now(); }
    ATOLL_API void add(const LoggedEvent& event) noexcept { add(event, writer()); }
    /// `writer` is the calling thread's.
    ATOLL_API void add(const LoggedEvent& event, LogWriter& writer) noexcept;
    /// The calling thread's, for all logs. Its look-up in thread-local storage of a library is a call.
    ATOLL_API static LogWriter& writer() noexcept;
    /// A range of the program that ends now. `name` is a number of `number_of`.
    ATOLL_API void add_range(std::uint16_t name, std::uint64_t began) noexcept;
    /// The number of a text, which is cut if it is long; 0 if there are too many texts.
    ATOLL_API std::uint16_t number_of(const std::string& text);
    /// The number of a place in the program without its folder; 0 for an empty one.
    std::uint16_t number_of_site(const std::string& site);
    /// The number of the place in the program that called the library; 0 if it is unknown. Slow.
    std::uint16_t site_number() noexcept;
    /// Calls that last at least so long have a place in the program.
    std::uint64_t site_ticks() const noexcept { return site_ticks_; }

  private:
    void begin(LogWriter& writer) noexcept;
    bool take_records(LogWriter& writer) noexcept;
    std::uint16_t add_text(std::string_view text) noexcept;

    LogHeader& memory_;
    std::uint64_t most_;
    bool uses_counter_;
    std::uint64_t site_ticks_;
    std::mutex mutex_;  ///< guards the numbers below
    std::unordered_map<std::string, std::uint16_t> numbers_;
};

/// A copy of a log.
struct LogCopy {
    std::vector<LoggedEvent> events;  ///< in the order of their ends
    std::vector<std::string> texts;   ///< by number; the first is empty
    std::uint64_t dropped = 0;
};
/// Any process of the host may call it at any moment.
LogCopy read_log(const LogHeader& memory, std::uint64_t most_events);

}  // namespace atl::common
