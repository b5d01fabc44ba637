#include "common/recorder/event_log.hpp"

#include "common/elf/call_site.hpp"
#include "common/recorder/recorder.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace atl::common {

namespace {

constexpr unsigned waiting_shift = 6;  // 64 ticks

/// Records that get their memory by one call of the system, which costs less than a page fault for every 64.
constexpr std::uint64_t backed_at_once = 1024;

/// Populates the pages of the records from `first` on. If the system cannot, the first access to a page does
/// it.
[[gnu::noinline, gnu::cold]] void back_records(LogRecord* first, std::uint64_t count) noexcept {
    constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which old headers lack
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(first) / page * page;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(first + count);
    const int error = errno;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, populate_write);
    errno = error;
}

}  // namespace

LogWriter& EventLog::writer() noexcept {
    static thread_local LogWriter writer;
    return writer;
}

[[gnu::noinline]] void EventLog::begin(LogWriter& writer) noexcept {
    writer = {&memory_, static_cast<std::uint16_t>(memory_.threads.fetch_add(1, std::memory_order_relaxed))};
}

EventLog::EventLog(LogHeader& memory, std::uint64_t most_events) noexcept
    : memory_(memory),
      most_(most_events),
      uses_counter_(has_steady_counter()),
      site_ticks_(few_us_ticks(uses_counter_)) {
    const std::uint32_t texts = memory_.texts.count.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < texts; ++i)  // texts of this PE's earlier job
        numbers_[memory_.texts.texts[i]] = static_cast<std::uint16_t>(i + 1);
    if (memory_.began_ns.load(std::memory_order_relaxed) != 0) return;
    const ClockPair began = ClockPair::now(uses_counter_);
    memory_.uses_counter.store(uses_counter_ ? 1 : 0, std::memory_order_relaxed);
    memory_.began_ticks.store(began.ticks, std::memory_order_relaxed);
    memory_.began_ns.store(began.ns, std::memory_order_release);
    begin(writer());  // the thread that calls init has number 0
}

[[gnu::noinline]] bool EventLog::take_records(LogWriter& writer) noexcept {
    const std::uint64_t count = std::clamp<std::uint64_t>(writer.taken, 1, LogWriter::most_at_once);
    const std::uint64_t first = memory_.next.fetch_add(count, std::memory_order_relaxed);
    if (first >= most_) {
        memory_.dropped.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    writer.taken += count;
    writer.next = first;
    writer.end = std::min(first + count, most_);
    const std::uint64_t begin = (writer.end - 1) / backed_at_once * backed_at_once;
    if (first == 0 || begin >= first)  // the first of its part
        back_records(&memory_.records()[begin], std::min(backed_at_once, most_ - begin));
    return true;
}

void EventLog::add(const LoggedEvent& event, LogWriter& writer) noexcept {
    if (writer.log != &memory_) [[unlikely]]
        begin(writer);
    if (writer.next == writer.end && !take_records(writer)) [[unlikely]]
        return;
    LogRecord& record = memory_.records()[writer.next++];
    constexpr auto relaxed = std::memory_order_relaxed;
    record.began.store(event.began, relaxed);
    record.what.store(Event::packed(event.kind, event.state, event.operation, event.team), relaxed);
    record.call.store(
        static_cast<std::uint64_t>(event.call) | static_cast<std::uint64_t>(event.peer + 1) << 32, relaxed);
    record.bytes.store(event.bytes, relaxed);
    record.offset.store(event.offset, relaxed);
    record.value.store(event.value, relaxed);
    const std::uint64_t waiting = std::min<std::uint64_t>(event.waiting >> waiting_shift, UINT32_MAX);
    record.more.store(writer.number | std::uint64_t{event.site} << 16 | waiting << 32, relaxed);
    record.ended.store(std::max<std::uint64_t>(event.ended, 1), std::memory_order_release);
}

void EventLog::add_range(std::uint16_t name, std::uint64_t began) noexcept {
    LoggedEvent event;
    event.kind = EventKind::range;
    event.value = name;
    event.began = began;
    event.ended = now();
    add(event);
}

std::uint16_t EventLog::add_text(std::string_view text) noexcept {
    LogTexts& texts = memory_.texts;
    const std::uint32_t count = texts.count.load(std::memory_order_relaxed);
    if (count >= LogTexts::most) return 0;
    const std::string_view cut = text.substr(0, LogTexts::bytes - 1);
    std::memcpy(texts.texts[count], cut.data(), cut.size());
    texts.count.store(count + 1, std::memory_order_release);
    return static_cast<std::uint16_t>(count + 1);
}

std::uint16_t EventLog::number_of(const std::string& text) {
    const std::lock_guard guard(mutex_);
    std::string cut = text.substr(0, LogTexts::bytes - 1);  // add_text() cuts texts, too
    if (const auto known = numbers_.find(cut); known != numbers_.end()) return known->second;
    const std::uint16_t number = add_text(cut);
    if (number != 0) numbers_.emplace(std::move(cut), number);  // else the table is full
    return number;
}

std::uint16_t EventLog::number_of_site(const std::string& site) {
    return site.empty() ? std::uint16_t{0} : number_of(std::string(file_name(site)));
}

std::uint16_t EventLog::site_number() noexcept try {
    return number_of_site(CallSite::here().name());
} catch (...) {  // no memory is left
    return 0;
}

LogCopy read_log(const LogHeader& memory, std::uint64_t most_events) {
    LogCopy copy;
    const std::uint64_t kept = std::min(memory.next.load(std::memory_order_acquire), most_events);
    copy.dropped = memory.dropped.load(std::memory_order_relaxed);
    copy.texts.emplace_back();
    const std::uint32_t texts =
        std::min<std::uint32_t>(memory.texts.count.load(std::memory_order_acquire), LogTexts::most);
    for (std::uint32_t i = 0; i < texts; ++i)
        copy.texts.emplace_back(memory.texts.texts[i], strnlen(memory.texts.texts[i], LogTexts::bytes));
    const TickScale scale(
        {memory.began_ticks.load(std::memory_order_relaxed), memory.began_ns.load(std::memory_order_relaxed)},
        ClockPair::now(memory.uses_counter.load(std::memory_order_relaxed) != 0));
    copy.events.reserve(kept);
    for (std::uint64_t i = 0; i < kept; ++i) {
        const LogRecord& record = memory.records()[i];
        constexpr auto relaxed = std::memory_order_relaxed;
        const std::uint64_t ended = record.ended.load(std::memory_order_acquire);
        if (ended == 0) continue;  // free, or its writer was killed meanwhile
        LoggedEvent event;
        const std::uint64_t what = record.what.load(relaxed), call = record.call.load(relaxed),
                            more = record.more.load(relaxed);
        event.kind = static_cast<EventKind>(what & 0xff);
        event.state = static_cast<EventState>(what >> 8 & 0xff);
        event.operation = static_cast<std::uint16_t>(what >> 16);
        event.team = static_cast<std::uint32_t>(what >> 32);
        event.call = static_cast<std::uint32_t>(call);
        event.peer = static_cast<std::int32_t>(call >> 32) - 1;
        if (static_cast<std::size_t>(event.kind) >= std::size(event_names) ||
            static_cast<std::size_t>(event.state) >= std::size(event_state_names))
            continue;  // a stray store of the program
        event.began = scale.time_ns(record.began.load(relaxed));
        event.ended = std::max(event.began, scale.time_ns(ended));
        event.bytes = record.bytes.load(relaxed);
        event.offset = record.offset.load(relaxed);
        event.value = record.value.load(relaxed);
        event.thread = static_cast<std::uint16_t>(more);
        event.site = static_cast<std::uint16_t>(more >> 16);
        event.waiting = static_cast<std::uint64_t>(scale.ns_of((more >> 32) << waiting_shift));
        copy.events.push_back(event);
    }
    std::stable_sort(copy.events.begin(), copy.events.end(),
                     [](const LoggedEvent& a, const LoggedEvent& b) { return a.ended < b.ended; });
    return copy;
}

}  // namespace atl::common
