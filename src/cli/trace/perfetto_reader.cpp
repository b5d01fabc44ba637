#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "cli/command/command.hpp"
#include "cli/trace/perfetto.hpp"
#include "cli/trace/perfetto_format.hpp"
#include "cli/trace/protobuf.hpp"

namespace atl::cli {
namespace {

using namespace perfetto;

using common::EventKind;
using common::LoggedEvent;

class Reader {
  public:
    Reader(std::string_view bytes, const std::string& path) : path_(path), packets_(bytes) {}

    JobTrace read() {
        while (const std::optional<ProtoField> packet = packets_.next())
            if (packet->number == field::packet) read_packet(packet->bytes);
        if (!is_known_)
            throw UsageError(path_ +
                             " is no trace of Atoll; expected a file of `atoll run --trace` or --record");
        if (packets_.is_cut() || is_cut_ || !has_end_)
            throw UsageError(path_ + " is cut short: its end is missing; copy it or record it again");
        for (PeTrace& pe : trace_.pes) {
            pe.log.dropped = dropped_[pe.pe];
            pe.kernels.dropped = kernels_dropped_[pe.pe];
            std::stable_sort(pe.log.events.begin(), pe.log.events.end(),
                             [](const LoggedEvent& a, const LoggedEvent& b) { return a.ended < b.ended; });
        }
        return std::move(trace_);
    }

  private:
    /// Calls `body` with each field of a message.
    template <class Body> void each(std::string_view message, Body&& body) {
        ProtoReader fields(message);
        while (const std::optional<ProtoField> one = fields.next()) body(*one);
        is_cut_ = is_cut_ || fields.is_cut();
    }

    void read_packet(std::string_view bytes) {
        std::uint64_t time_ns = 0;
        std::string_view event, descriptor;
        each(bytes, [&](const ProtoField& one) {
            if (one.number == field::of_packet::timestamp) time_ns = one.value;
            if (one.number == field::of_packet::interned) read_names(one.bytes);
            if (one.number == field::of_packet::track_event) event = one.bytes;
            if (one.number == field::of_packet::track_descriptor) descriptor = one.bytes;
        });
        if (!descriptor.empty()) read_descriptor(descriptor);
        if (!event.empty()) read_event(event, time_ns);
    }

    void read_names(std::string_view bytes) {
        each(bytes, [&](const ProtoField& entry) {
            if (entry.number != field::of_interned::event_name) return;
            std::uint64_t number = 0;
            std::string_view name;
            each(entry.bytes, [&](const ProtoField& one) {
                if (one.number == field::of_interned::number) number = one.value;
                if (one.number == field::of_interned::name) name = one.bytes;
            });
            names_[number] = std::string(name);
        });
    }

    void read_descriptor(std::string_view bytes) {
        std::uint64_t uuid = 0, pid = 0;
        bool is_process = false;
        std::string_view name, title;
        each(bytes, [&](const ProtoField& one) {
            if (one.number == field::of_descriptor::uuid) uuid = one.value;
            if (one.number == field::of_descriptor::name) name = one.bytes;
            if (one.number != field::of_descriptor::process) return;
            is_process = true;
            each(one.bytes, [&](const ProtoField& inner) {
                if (inner.number == field::of_descriptor::pid) pid = inner.value;
                if (inner.number == field::of_descriptor::process_name) title = inner.bytes;
            });
        });
        if (const auto pe = by_pe_.find(pe_of(uuid)); pe != by_pe_.end() && is_kernel_track(uuid))
            trace_.pes[pe->second].kernels.titles.emplace_back(name);
        if (!is_process || pe_of(uuid) < 0) return;
        PeTrace& pe = trace_.pes.emplace_back();
        pe.pe = pe_of(uuid);
        pe.pid = static_cast<int>(pid);
        pe.host = host_in(title);
        pe.log.texts.emplace_back();
        by_pe_[pe.pe] = trace_.pes.size() - 1;
    }

    /// The host in PeTrace::title().
    static std::string host_in(std::string_view title) {
        constexpr std::string_view before = " (host ";
        const std::size_t at = title.find(before);
        if (at == std::string_view::npos) return {};
        return std::string(title.substr(at + before.size(), title.size() - at - before.size() - 1));
    }

    struct Annotations {
        std::array<std::uint64_t, annotations.size() + 1> numbers{};
        std::array<bool, annotations.size() + 1> is_set{};
        std::string_view site;
        std::uint64_t operator[](std::string_view name) const { return numbers[number_of(name)]; }
        bool has(std::string_view name) const { return is_set[number_of(name)]; }
    };
    Annotations annotations_of(const std::vector<std::string_view>& messages) {
        Annotations found;
        for (const std::string_view message : messages) {
            std::uint64_t name = 0, number = 0;
            std::string_view text;
            each(message, [&](const ProtoField& one) {
                if (one.number == field::of_annotation::name_number) name = one.value;
                if (one.number == field::of_annotation::number) number = one.value;
                if (one.number == field::of_annotation::text) text = one.bytes;
            });
            if (name == 0 || name > annotations.size()) continue;
            found.numbers[name] = number;
            found.is_set[name] = true;
            if (name == number_of("site")) found.site = text;
        }
        return found;
    }

    /// The PE of a track; -1 for none.
    static int pe_of(std::uint64_t track) {
        const std::uint64_t number = track >> 20;
        return number == 0 || number > INT_MAX ? -1 : static_cast<int>(number) - 1;
    }

    static bool is_kernel_track(std::uint64_t track) {
        const std::uint64_t number = track % (std::uint64_t{1} << 20);
        return number >= first_kernel && number < first_counter;
    }

    void read_event(std::string_view bytes, std::uint64_t time_ns) {
        std::uint64_t type = 0, track = 0, name = 0;
        std::vector<std::string_view> messages;
        each(bytes, [&](const ProtoField& one) {
            if (one.number == field::of_event::type) type = one.value;
            if (one.number == field::of_event::track) track = one.value;
            if (one.number == field::of_event::name_number) name = one.value;
            if (one.number == field::of_event::annotation) messages.push_back(one.bytes);
        });
        if (track == job_track) return read_job(annotations_of(messages));
        const auto pe = by_pe_.find(pe_of(track));
        if (pe == by_pe_.end()) return;
        if (is_kernel_track(track)) {
            if (type == slice_begin)
                begin_kernel(trace_.pes[pe->second], track, name, annotations_of(messages), time_ns);
            if (type == slice_end) end_kernel(trace_.pes[pe->second], track, time_ns);
            return;
        }
        if (type == slice_begin)
            begin(trace_.pes[pe->second], track, name, annotations_of(messages), time_ns);
        if (type == slice_end) end(trace_.pes[pe->second], track, time_ns);
    }

    void read_job(const Annotations& notes) {
        has_end_ = has_end_ || notes.has("end");
        if (notes.has("dropped events of kernels")) {
            const auto pe = static_cast<int>(notes["PE"]);
            kernels_dropped_[pe] = notes["dropped events of kernels"];
        } else if (notes.has("PE")) {
            dropped_[static_cast<int>(notes["PE"])] = notes["dropped events"];
        }
        if (!notes.has("version")) return;
        if (notes["version"] != trace_version)
            throw UsageError(path_ + " has version " + std::to_string(notes["version"]) +
                             ", this atoll reads version " + std::to_string(trace_version) +
                             ": use the release that wrote it");
        is_known_ = true;
        trace_.clock_error_us = static_cast<double>(notes["clock error (us)"]);
    }

    void begin(PeTrace& pe, std::uint64_t track, std::uint64_t name, const Annotations& notes,
               std::uint64_t time_ns) {
        LoggedEvent event;
        event.kind = static_cast<EventKind>(
            std::min<std::uint64_t>(notes["kind"], std::size(common::event_names) - 1));
        event.state = static_cast<common::EventState>(
            std::min<std::uint64_t>(notes["state"], std::size(common::event_state_names) - 1));
        event.operation = static_cast<std::uint16_t>(notes["operation"]);
        event.team = static_cast<std::uint32_t>(notes["team"]);
        event.call = static_cast<std::uint32_t>(notes["call"]);
        event.peer = notes.has("peer") ? static_cast<std::int32_t>(notes["peer"]) : -1;
        event.bytes = notes["bytes"];
        event.offset = notes["place"];
        event.value = notes["value"];
        event.waiting = notes["waiting_ns"];
        event.thread = static_cast<std::uint16_t>(track - thread_track(pe.pe, 0));
        event.began = event.ended = time_ns;
        if (!notes.site.empty()) event.site = number_in(pe, notes.site);
        if (event.kind == EventKind::range) event.value = number_in(pe, names_[name]);
        open_[track].push_back(event);
    }
    void end(PeTrace& pe, std::uint64_t track, std::uint64_t time_ns) {
        std::vector<LoggedEvent>& open = open_[track];
        if (open.empty()) return;
        open.back().ended = std::max(time_ns, open.back().began);
        pe.log.events.push_back(open.back());
        open.pop_back();
    }
    void begin_kernel(PeTrace& pe, std::uint64_t track, std::uint64_t name, const Annotations& notes,
                      std::uint64_t time_ns) {
        KernelSlice slice;
        slice.name = names_[name];
        slice.operation = static_cast<std::uint16_t>(
            std::min<std::uint64_t>(notes["operation"], common::operation_count - 1));
        slice.peer = notes.has("peer") ? static_cast<std::int32_t>(notes["peer"]) : -1;
        slice.gpu = notes.has("GPU") ? static_cast<std::int32_t>(notes["GPU"]) : -1;
        slice.bytes = notes["bytes"];
        slice.offset = notes["place"];
        slice.value = notes["value"];
        slice.block = static_cast<std::uint32_t>(notes["block"]);
        slice.track = static_cast<std::uint32_t>(track - kernel_track(pe.pe, 0));
        slice.began = slice.ended = time_ns;
        open_kernels_[track].push_back(pe.kernels.slices.size());
        pe.kernels.slices.push_back(std::move(slice));
    }
    void end_kernel(PeTrace& pe, std::uint64_t track, std::uint64_t time_ns) {
        std::vector<std::size_t>& open = open_kernels_[track];
        if (open.empty()) return;
        KernelSlice& slice = pe.kernels.slices[open.back()];
        slice.ended = std::max(time_ns, slice.began);
        open.pop_back();
    }
    std::uint16_t number_in(PeTrace& pe, std::string_view text) {
        auto& numbers = texts_[pe.pe];
        const auto [known, is_new] =
            numbers.try_emplace(std::string(text), static_cast<std::uint16_t>(pe.log.texts.size()));
        if (is_new) pe.log.texts.emplace_back(text);
        return known->second;
    }

    const std::string& path_;
    ProtoReader packets_;
    JobTrace trace_;
    bool is_known_ = false, is_cut_ = false, has_end_ = false;
    std::map<int, std::uint64_t> dropped_, kernels_dropped_;  ///< by PE
    std::map<std::uint64_t, std::vector<std::size_t>> open_kernels_;
    std::map<int, std::size_t> by_pe_;
    std::map<std::uint64_t, std::string> names_;
    std::map<std::uint64_t, std::vector<LoggedEvent>> open_;
    std::map<int, std::map<std::string, std::uint16_t, std::less<>>> texts_;
};

std::string contents_of(const std::string& path) {
    const File file(std::fopen(path.c_str(), "re"));
    if (!file) throw UsageError(path + " cannot be read: " + std::strerror(errno));
    struct stat status {};
    // /dev/zero never ends.
    if (fstat(fileno(file.get()), &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
        throw UsageError(path + " is a device; expected a file of `atoll run --trace` or --record");
    std::string bytes;
    std::array<char, 1 << 16> part;
    for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), file.get())) > 0;)
        bytes.append(part.data(), n);
    if (std::ferror(file.get()) != 0) throw UsageError(path + " cannot be read: " + std::strerror(errno));
    return bytes;
}

}  // namespace

JobTrace read_perfetto(const std::string& path) {
    const std::string bytes = contents_of(path);
    return Reader(bytes, path).read();
}

}  // namespace atl::cli
