#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "atoll/version.hpp"
#include "cli/trace/in_flight.hpp"
#include "cli/trace/perfetto.hpp"
#include "cli/trace/perfetto_format.hpp"
#include "cli/trace/protobuf.hpp"
#include "cli/trace/word_flows.hpp"

namespace atl::cli {
namespace {

using namespace perfetto;

using common::EventKind;
using common::LoggedEvent;

/// A number of the kernel's for a thread or lane that no other track has. `pid` is that of the process.
int thread_id(const PeTrace& pe, int pid, unsigned thread) {
    return thread == 0 ? pid : static_cast<int>(0x40000000U + (static_cast<unsigned>(pe.pe) << 16) + thread);
}

std::string title_of(unsigned thread) {
    if (thread >= first_lane) return "requests " + std::to_string(thread - first_lane + 1);
    return thread == 0 ? "main" : "thread " + std::to_string(thread);
}

/// Writes one trace, packet by packet.
class Writer {
  public:
    Writer(const JobTrace& trace, std::FILE* file)
        : trace_(trace), file_(file), meetings_(meetings_of(trace)) {
        for (const Flow& flow : messages_of(trace)) add_flow({flow.from, false}, {flow.to, false});
        for (const WordFlow& flow : word_flows_of(trace)) add_flow(flow.from, flow.to);
        for (const Meeting& meeting : meetings_)
            for (const EventId member : meeting.members) arrivals_[member] = &meeting;
    }

    /// Returns false if writing the file failed; errno has the reason.
    bool write() {
        clocks();
        job();
        const std::vector<int> numbers = trace_.process_numbers();
        for (std::size_t p = 0; p < trace_.pes.size() && is_good_; ++p) {
            tracks(trace_.pes[p], numbers[p]);
            slices(p);
            counters(trace_.pes[p]);
            kernel_slices(p);
        }
        end();
        flush();
        return is_good_ && std::fflush(file_) == 0;
    }

  private:
    struct Ending {
        std::uint64_t flow;
        int from;
    };
    using Endings = std::map<EventId, std::vector<Ending>>;

    void add_flow(const FlowEnd& from, const FlowEnd& to) {
        const std::uint64_t id = ++flows_;
        (from.in_kernel ? kernel_starts_ : starts_)[from.id].push_back(id);
        (to.in_kernel ? kernel_ends_ : ends_)[to.id].push_back({id, trace_.pes[from.id.pe].pe});
    }

    void put(ProtoMessage& packet) {
        packet.number(field::of_packet::sequence, 1);
        ProtoMessage framed;
        framed.message(field::packet, packet);
        buffer_ += framed.bytes();
        constexpr std::size_t enough = 1 << 20;
        if (buffer_.size() > enough) flush();
    }
    void flush() {
        if (is_good_ && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
            is_good_ = false;
        buffer_.clear();
    }

    void clocks() {
        ProtoMessage snapshot, packet;
        for (const auto& [id, clock] : {std::pair{boottime, CLOCK_BOOTTIME},
                                        {monotonic, CLOCK_MONOTONIC},
                                        {realtime, CLOCK_REALTIME}}) {
            timespec now{};
            clock_gettime(clock, &now);
            ProtoMessage one;
            one.number(field::of_snapshot::id, id);
            one.number(field::of_snapshot::time, static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                                     static_cast<std::uint64_t>(now.tv_nsec));
            snapshot.message(field::of_snapshot::clock, one);
        }
        packet.message(field::of_packet::clock_snapshot, snapshot);
        ProtoMessage interned;
        for (std::size_t i = 0; i < annotations.size(); ++i)
            interned.message(field::of_interned::annotation_name, named(i + 1, annotations[i]));
        packet.message(field::of_packet::interned, interned);
        packet.number(field::of_packet::sequence_flags, state_cleared);
        put(packet);
    }

    static ProtoMessage named(std::uint64_t number, std::string_view name) {
        ProtoMessage message;
        message.number(field::of_interned::number, number).text(field::of_interned::name, name);
        return message;
    }

    /// The job's own track: an instant with what a reader needs to know.
    void job() {
        ProtoMessage descriptor, packet;
        descriptor.number(field::of_descriptor::uuid, job_track).text(field::of_descriptor::name, "Atoll");
        packet.message(field::of_packet::track_descriptor, descriptor);
        put(packet);
        ProtoMessage event = event_of(instant, job_track);
        event.text(field::of_event::name, "job");
        annotate(event, "version", trace_version);
        annotate(event, "PEs", trace_.pes.size());
        annotate(event, "dropped events", trace_.dropped());
        annotate(event, "clock error (us)", static_cast<std::uint64_t>(trace_.clock_error_us));
        annotate(event, "release", std::string_view(ATOLL_VERSION));
        put_event(event, trace_.begin_ns());
        for (const PeTrace& pe : trace_.pes) {
            kernel_notes(pe);
            if (pe.log.dropped == 0) continue;
            ProtoMessage of_pe = event_of(instant, job_track);
            of_pe.text(field::of_event::name,
                       "the log of PE " + std::to_string(pe.pe) + " was full: later events are missing");
            annotate(of_pe, "PE", static_cast<std::uint64_t>(pe.pe));
            annotate(of_pe, "dropped events", pe.log.dropped);
            put_event(of_pe, pe.log.events.empty() ? trace_.begin_ns() : pe.log.events.back().ended);
        }
    }

    /// By this last packet a reader knows that the file is whole.
    void end() {
        ProtoMessage event = event_of(instant, job_track);
        event.text(field::of_event::name, "end");
        annotate(event, "end", 1);
        put_event(event, trace_.end_ns());
    }

    static ProtoMessage event_of(EventType type, std::uint64_t track) {
        ProtoMessage event;
        event.number(field::of_event::type, type).number(field::of_event::track, track);
        return event;
    }
    void put_event(const ProtoMessage& event, std::uint64_t time_ns, std::string_view new_name = {}) {
        ProtoMessage packet;
        packet.number(field::of_packet::timestamp, time_ns);
        packet.number(field::of_packet::clock_id, monotonic);
        packet.number(field::of_packet::sequence_flags, needs_state);
        if (!new_name.empty()) {
            ProtoMessage interned;
            interned.message(field::of_interned::event_name, named(names_.size(), new_name));
            packet.message(field::of_packet::interned, interned);
        }
        packet.message(field::of_packet::track_event, event);
        put(packet);
    }
    static void annotate(ProtoMessage& event, std::string_view name, std::uint64_t value) {
        ProtoMessage one;
        one.number(field::of_annotation::name_number, number_of(name));
        one.number(field::of_annotation::number, value);
        event.message(field::of_event::annotation, one);
    }
    static void annotate(ProtoMessage& event, std::string_view name, std::string_view value) {
        ProtoMessage one;
        one.number(field::of_annotation::name_number, number_of(name));
        one.text(field::of_annotation::text, value);
        event.message(field::of_event::annotation, one);
    }

    void tracks(const PeTrace& pe, int process_number) {
        using namespace field::of_descriptor;
        ProtoMessage its_process, its_descriptor, packet;
        its_process.number(pid, static_cast<std::uint64_t>(process_number)).text(process_name, pe.title());
        its_descriptor.number(uuid, process_track(pe.pe)).message(process, its_process);
        packet.message(field::of_packet::track_descriptor, its_descriptor);
        put(packet);
        std::set<unsigned> threads = {0};
        for (const LoggedEvent& event : pe.log.events) threads.insert(event.thread);
        for (const unsigned t : threads) {
            ProtoMessage its_thread, descriptor, one;
            its_thread.number(pid, static_cast<std::uint64_t>(process_number))
                .number(tid, static_cast<std::uint64_t>(thread_id(pe, process_number, t)))
                .text(thread_name, title_of(t));
            descriptor.number(uuid, thread_track(pe.pe, t))
                .number(parent, process_track(pe.pe))
                .message(thread, its_thread);
            one.message(field::of_packet::track_descriptor, descriptor);
            put(one);
        }
        counter_track(pe, bytes_track(pe.pe), "bytes moved");
        counter_track(pe, heap_track(pe.pe), "heap in use");
        counter_track(pe, flight_track(pe.pe), "bytes in flight");
    }
    void counter_track(const PeTrace& pe, std::uint64_t track, std::string_view title) {
        using namespace field::of_descriptor;
        ProtoMessage its_counter, descriptor, packet;
        its_counter.number(unit, size_in_bytes);
        descriptor.number(uuid, track)
            .text(name, title)
            .number(parent, process_track(pe.pe))
            .message(field::of_descriptor::counter, its_counter);
        packet.message(field::of_packet::track_descriptor, descriptor);
        put(packet);
    }

    /// The events of a PE in the order of their begins. An event that contains another comes before it.
    static std::vector<std::size_t> ordered(const std::vector<LoggedEvent>& events) {
        std::vector<std::size_t> order(events.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            const LoggedEvent &x = events[a], &y = events[b];
            if (x.thread != y.thread) return x.thread < y.thread;
            if (x.began != y.began) return x.began < y.began;
            return x.ended != y.ended ? x.ended > y.ended : a > b;
        });
        return order;
    }

    struct Open {
        EventId id;
        std::uint64_t ended = 0;
    };

    /// Slices of each thread, properly nested: one that outlasts the slice around it is cut.
    void slices(std::size_t p) {
        const std::vector<LoggedEvent>& events = trace_.pes[p].log.events;
        std::vector<Open> open;
        unsigned thread = 0;
        for (const std::size_t e : ordered(events)) {
            const LoggedEvent& event = events[e];
            close(open, p, thread, event.thread == thread ? event.began : UINT64_MAX);
            thread = event.thread;
            const std::uint64_t limit = open.empty() ? UINT64_MAX : open.back().ended;
            begin_slice({p, e});
            open.push_back({{p, e}, std::min(event.ended, limit)});
        }
        close(open, p, thread, UINT64_MAX);
    }
    void close(std::vector<Open>& open, std::size_t p, unsigned thread, std::uint64_t until) {
        close(open, thread_track(trace_.pes[p].pe, thread), ends_, until);
    }
    void close(std::vector<Open>& open, std::uint64_t track, const Endings& endings, std::uint64_t until) {
        while (!open.empty() && open.back().ended <= until) {
            const Open one = open.back();
            open.pop_back();
            if (const auto found = endings.find(one.id); found != endings.end())
                for (const auto& [flow, from] : found->second) {
                    ProtoMessage woken = event_of(instant, track);
                    woken.text(field::of_event::name, "woken by PE " + std::to_string(from));
                    woken.fixed64(field::of_event::ending_flow, flow);
                    put_event(woken, one.ended);
                }
            put_event(event_of(slice_end, track), one.ended);
        }
    }

    /// An event of the job for a PE's kernels: dropped events, and the clock of its GPU.
    void kernel_notes(const PeTrace& pe) {
        const KernelTracks& kernels = pe.kernels;
        if (kernels.slices.empty() && kernels.dropped == 0) return;
        ProtoMessage event = event_of(instant, job_track);
        event.text(field::of_event::name, kernels.dropped == 0
                                              ? "kernels of PE " + std::to_string(pe.pe)
                                              : "the log of the kernels of PE " + std::to_string(pe.pe) +
                                                    " was full: later events are missing");
        annotate(event, "PE", static_cast<std::uint64_t>(pe.pe));
        annotate(event, "dropped events of kernels", kernels.dropped);
        if (kernels.gpu >= 0)
            annotate(event, "clock of the GPU",
                     kernels.clock_is_assumed
                         ? std::string_view("taken for the host's time of day, as it could not be read")
                         : std::string_view("compared with the host's at the start and the end"));
        if (kernels.gpu >= 0 && !kernels.clock_is_assumed)
            annotate(event, "error of that clock (ns)", kernels.clock_error_ns);
        put_event(event, trace_.begin_ns());
    }

    /// Slices of each block, properly nested as those of threads.
    void kernel_slices(std::size_t p) {
        const PeTrace& pe = trace_.pes[p];
        for (std::size_t t = 0; t < pe.kernels.titles.size(); ++t) kernel_descriptor(pe, t);
        std::vector<Open> open;
        std::uint64_t track = 0;
        for (std::size_t e = 0; e < pe.kernels.slices.size(); ++e) {
            const KernelSlice& slice = pe.kernels.slices[e];
            const std::uint64_t its_track = kernel_track(pe.pe, slice.track);
            close(open, track, kernel_ends_, its_track == track ? slice.began : UINT64_MAX);
            track = its_track;
            const std::uint64_t limit = open.empty() ? UINT64_MAX : open.back().ended;
            begin_kernel_slice({p, e}, slice, track);
            open.push_back({{p, e}, std::min(slice.ended, limit)});
        }
        close(open, track, kernel_ends_, UINT64_MAX);
    }

    void kernel_descriptor(const PeTrace& pe, std::size_t track) {
        using namespace field::of_descriptor;
        ProtoMessage descriptor, packet;
        descriptor.number(uuid, kernel_track(pe.pe, track))
            .text(name, pe.kernels.titles[track])
            .number(parent, process_track(pe.pe));
        packet.message(field::of_packet::track_descriptor, descriptor);
        put(packet);
    }

    void begin_kernel_slice(EventId id, const KernelSlice& slice, std::uint64_t track) {
        ProtoMessage message = event_of(slice_begin, track);
        const auto [known, is_new] = names_.try_emplace(slice.name, names_.size() + 1);
        message.number(field::of_event::name_number, known->second);
        message.text(field::of_event::category,
                     common::event_names[static_cast<std::size_t>(EventKind::kernel)]);
        annotate(message, "kind", static_cast<std::uint64_t>(EventKind::kernel));
        annotate(message, "state", static_cast<std::uint64_t>(common::EventState::ended));
        annotate(message, "operation", slice.operation);
        if (slice.peer >= 0) annotate(message, "peer", static_cast<std::uint64_t>(slice.peer));
        for (const auto& [what, value] : {std::pair<std::string_view, std::uint64_t>{"bytes", slice.bytes},
                                          {"place", slice.offset},
                                          {"value", slice.value}})
            if (value != 0) annotate(message, what, value);
        annotate(message, "block", slice.block);
        if (slice.gpu >= 0) annotate(message, "GPU", static_cast<std::uint64_t>(slice.gpu));
        if (const auto found = kernel_starts_.find(id); found != kernel_starts_.end())
            for (const std::uint64_t flow : found->second) message.fixed64(field::of_event::flow, flow);
        put_event(message, slice.began, is_new ? std::string_view(slice.name) : std::string_view());
    }

    void begin_slice(EventId id) {
        const PeTrace& pe = trace_.pes[id.pe];
        const LoggedEvent& event = trace_.event(id);
        ProtoMessage message = event_of(slice_begin, thread_track(pe.pe, event.thread));
        const std::string name = pe.name_of(event);
        const auto [known, is_new] = names_.try_emplace(name, names_.size() + 1);
        message.number(field::of_event::name_number, known->second);
        message.text(field::of_event::category, common::event_names[static_cast<std::size_t>(event.kind)]);
        annotate(message, "kind", static_cast<std::uint64_t>(event.kind));
        annotate(message, "state", static_cast<std::uint64_t>(event.state));
        annotate(message, "operation", event.operation);
        const auto unless_zero = [&](std::string_view what, std::uint64_t value) {
            if (value != 0) annotate(message, what, value);
        };
        unless_zero("team", event.team);
        unless_zero("call", event.call);
        if (event.peer >= 0) annotate(message, "peer", static_cast<std::uint64_t>(event.peer));
        unless_zero("bytes", event.bytes);
        unless_zero("place", event.offset);
        if (event.kind != EventKind::range) unless_zero("value", event.value);
        unless_zero("waiting_ns", event.waiting);
        if (event.site != 0) annotate(message, "site", std::string_view(pe.text(event.site)));
        if (const auto found = arrivals_.find(id); found != arrivals_.end()) {
            const Meeting& meeting = *found->second;
            annotate(message, "last to arrive (PE)",
                     static_cast<std::uint64_t>(trace_.pes[meeting.last.pe].pe));
            annotate(message, "arrived after the first (ns)",
                     event.began - trace_.event(meeting.first).began);
            annotate(message, "skew (ns)", meeting.skew_ns);
        }
        if (const auto found = starts_.find(id); found != starts_.end())
            for (const std::uint64_t flow : found->second) message.fixed64(field::of_event::flow, flow);
        put_event(message, event.began, is_new ? std::string_view(name) : std::string_view());
    }

    void count(std::uint64_t track, std::uint64_t time_ns, std::uint64_t value) {
        ProtoMessage event = event_of(EventType::counter, track);
        event.number(field::of_event::counter_value, value);
        put_event(event, time_ns);
    }

    void counters(const PeTrace& pe) {
        std::vector<const LoggedEvent*> moves;
        for (const LoggedEvent& event : pe.log.events)
            if (event.kind == EventKind::move && event.bytes != 0) moves.push_back(&event);
        std::stable_sort(moves.begin(), moves.end(),
                         [](const LoggedEvent* a, const LoggedEvent* b) { return a->ended < b->ended; });
        std::uint64_t moved = 0;
        for (const LoggedEvent* move : moves) count(bytes_track(pe.pe), move->ended, moved += move->bytes);
        each_heap_change(pe, [&](const LoggedEvent& event, std::uint64_t used) {
            count(heap_track(pe.pe), event.ended, used);
        });
        for (const BytesInFlight& step : bytes_in_flight(pe))
            count(flight_track(pe.pe), step.time_ns, step.bytes);
    }

    const JobTrace& trace_;
    std::FILE* file_;
    std::vector<Meeting> meetings_;
    std::string buffer_;
    bool is_good_ = true;
    std::uint64_t flows_ = 0;
    std::map<EventId, std::vector<std::uint64_t>> starts_;
    Endings ends_, kernel_ends_;
    std::map<EventId, std::vector<std::uint64_t>> kernel_starts_;
    std::map<EventId, const Meeting*> arrivals_;
    std::unordered_map<std::string, std::uint64_t> names_;
};

}  // namespace

std::string write_perfetto(const JobTrace& trace, const std::string& path) {
    File file(std::fopen(path.c_str(), "we"));
    if (!file) return std::strerror(errno);
    errno = 0;
    if (!Writer(trace, file.get()).write()) return std::strerror(errno);
    return std::fclose(file.release()) == 0 ? "" : std::strerror(errno);
}

}  // namespace atl::cli
