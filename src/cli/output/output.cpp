#include "cli/output/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/pe_ranges.hpp"

namespace atl::cli {
namespace {

// The output that may wait for our reader before PEs are blocked too.
constexpr std::size_t backlog_bytes = 1 << 20;
constexpr std::size_t longest_line_bytes = 1 << 20;
// More than a pipe holds, so that one read empties it.
constexpr std::size_t read_bytes = 256 * 1024;
// The silence after which an unfinished line is shown, and the time that other lines then wait for its end.
constexpr std::chrono::milliseconds traceback_patience(1000);
constexpr std::chrono::milliseconds terminal_quiet(20), terminal_patience(200);
constexpr std::chrono::milliseconds pipe_quiet(200), pipe_patience(1000);

/// The length of the complete lines at the beginning of `data`.
std::size_t whole_lines(std::string_view data) {
    const std::size_t last = data.rfind('\n');
    return last == std::string_view::npos ? 0 : last + 1;
}

}  // namespace

std::string label_text(int pe) { return "[" + std::to_string(pe) + "] "; }

Output::Output(Poller& poller, Style style, bool is_of_several)
    : poller_(poller),
      style_(style),
      is_of_several_(is_of_several),
      shared_(out_.is_same_as(err_)),
      buffer_(read_bytes) {}

Output::~Output() {
    for (const Stream& stream : streams_)
        if (stream.source) poller_.remove(stream.source.get());
    for (const std::uint32_t target : {out, err})
        if (line_of(target).is_armed) poller_.remove(sink_of(target).fd());
}

std::uint32_t Output::add(common::Fd source, Target target, int label, bool is_asking) {
    const auto number = static_cast<std::uint32_t>(streams_.size());
    Stream& stream = streams_.emplace_back();
    stream.source = std::move(source);
    stream.target = sink_index(target);
    stream.is_asking = is_asking;
    stream.is_terminal = isatty(stream.source.get()) != 0;
    if (style_ == Style::labels) stream.label = label_text(label);
    fcntl(stream.source.get(), F_SETFL, O_NONBLOCK);
    // Edge-triggered: streams are then read in the order in which they were written.
    poller_.add(stream.source.get(), {Source::output, number}, EPOLLIN | EPOLLET);
    return number;
}

void Output::on_readable(std::uint32_t number) {
    Stream& stream = streams_[number];
    if (!stream.source || stream.is_paused) return;
    read_up_to(1, number);
    pause_or_resume(number);
    settle(stream.target);
}

void Output::read_up_to(int times, std::uint32_t number) {
    const Stream& stream = streams_[number];
    while (times > 0 && stream.source && read_some(number)) --times;
    // Edge-triggered polling reports neither the remaining data nor an end of the stream that came with the
    // data, so it is armed again.
    if (stream.source) poller_.change(stream.source.get(), {Source::output, number}, EPOLLIN | EPOLLET);
}

/// False if there is no more to read for now, or the stream has ended.
bool Output::read_some(std::uint32_t number) {
    const ssize_t size = read(streams_[number].source.get(), buffer_.data(), buffer_.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
    if (size <= 0) {  // EIO: the last process has closed its terminal
        close(number);
        return false;
    }
    const auto bytes = static_cast<std::size_t>(size);
    take(number, {buffer_.data(), bytes});
    return bytes == buffer_.size() || streams_[number].is_terminal;  // a terminal gives a part at a time
}

void Output::take(std::uint32_t number, std::string_view data) {
    Stream& stream = streams_[number];
    std::optional<TracebackReader>& tracebacks = stream.tracebacks;
    if (!tracebacks) return take_lines(number, data);
    std::string passed;
    tracebacks->feed(data, passed);
    if (stream.withholds()) stream.since = Clock::now();
    if (!tracebacks->text().empty() && show_at_ == never) show_at_ = Clock::now() + traceback_patience;
    if (!passed.empty()) take_lines(number, passed);
}

void Output::take_lines(std::uint32_t number, std::string_view data) {
    Stream& stream = streams_[number];
    if (style_ == Style::raw) return sink_of(stream.target).write(data);
    Line& line = line_of(stream.target);
    if (line.owner == number) return take_owned(number, data);
    if (line.owner != no_owner && !streams_[line.owner].source)
        break_line(stream.target);  // the stream has ended
    if (line.owner != no_owner) return wait_for_line(number, data);
    if (const std::size_t whole = whole_lines(data); whole > 0) {
        put(number, stream.held, data.substr(0, whole));
        stream.held.clear();
        data.remove_prefix(whole);
    }
    if (data.empty()) return;
    stream.held.append(data);
    stream.since = Clock::now();
    if (stream.held.size() <= longest_line_bytes) return;
    put(number, stream.held);
    stream.held.clear();
    line.owner = number;
}

/// Passes on data that continues the open line.
void Output::take_owned(std::uint32_t number, std::string_view data) {
    Stream& stream = streams_[number];
    const std::size_t whole = whole_lines(data);
    put(number, whole == 0 ? data : data.substr(0, whole));
    if (whole == 0) return;
    stream.held.assign(data.substr(whole));
    stream.since = Clock::now();
    line_of(stream.target).owner = no_owner;
    release_waiting(stream.target);
}

void Output::wait_for_line(std::uint32_t number, std::string_view data) {
    Stream& stream = streams_[number];
    stream.held.append(data);
    if (stream.waits) return;
    stream.since = Clock::now();
    stream.waits = whole_lines(data) > 0 || stream.held.size() > longest_line_bytes;
}

void Output::close(std::uint32_t number) {
    Stream& stream = streams_[number];
    if (!stream.is_paused) poller_.remove(stream.source.get());
    stream.source = common::Fd();
    std::string passed;
    if (stream.tracebacks) stream.tracebacks->finish(passed);
    if (!passed.empty()) take_lines(number, passed);
    if (!stream.waits) leave_rest(number);
}

/// Passes on an unfinished last line.
void Output::leave_rest(std::uint32_t number) {
    Stream& stream = streams_[number];
    Line& line = line_of(stream.target);
    if (!stream.held.empty() && line.owner != no_owner && line.owner != number) {
        if (streams_[line.owner].source) {
            stream.waits = true;
            stream.since = Clock::now();
            return;
        }
        break_line(stream.target);
    }
    if (!stream.held.empty()) {
        put(number, stream.held);
        stream.held.clear();
        line.owner = number;
    }
    if (line.owner == number && style_ == Style::labels) break_line(stream.target);
    if (line.owner == number) release_waiting(stream.target);
}

void Output::put(std::uint32_t number, std::string_view first, std::string_view second) {
    Stream& stream = streams_[number];
    Sink& sink = sink_of(stream.target);
    if (style_ != Style::labels) return sink.write(first, second);
    std::string labelled;
    for (std::string_view rest : {first, second}) {
        while (!rest.empty()) {
            const std::size_t size = std::min(rest.find('\n'), rest.size() - 1) + 1;
            if (stream.is_at_line_start) labelled += stream.label;
            labelled += rest.substr(0, size);
            stream.is_at_line_start = labelled.back() == '\n';
            rest.remove_prefix(size);
        }
    }
    sink.write(labelled);
}

/// Ends the open line of another stream.
void Output::break_line(std::uint32_t target) {
    Line& line = line_of(target);
    if (line.owner == no_owner) return;
    streams_[line.owner].is_at_line_start = true;
    line.owner = no_owner;
    sink_of(target).write("\n");
}

void Output::release_waiting(std::uint32_t target) {
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        Stream& stream = streams_[number];
        if (!stream.waits || stream.target != sink_index(target)) continue;
        stream.waits = false;
        const std::string all = std::move(stream.held);
        stream.held.clear();
        take_lines(number, all);
        if (!stream.source && !stream.waits) leave_rest(number);
        pause_or_resume(number);
    }
}

bool Output::may_show_unfinished(const Stream& stream) const {
    const Sink::Kind kind = sink_of(stream.target).kind();
    return kind == Sink::Kind::terminal || (kind == Sink::Kind::pipe && stream.is_asking);
}

std::chrono::milliseconds Output::patience(std::uint32_t target) const {
    return sink_of(target).kind() == Sink::Kind::terminal ? terminal_patience : pipe_patience;
}

/// The time at which on_time() has work for this stream.
Output::Clock::time_point Output::next_of(std::uint32_t number) const {
    const Stream& stream = streams_[number];
    if (stream.held.empty() && !stream.withholds()) return never;
    if (stream.waits) return stream.since + patience(stream.target);
    if (!may_show_unfinished(stream)) return never;
    const bool is_terminal = sink_of(stream.target).kind() == Sink::Kind::terminal;
    if (stream.withholds()) return stream.since + (is_terminal ? terminal_quiet : pipe_quiet);
    // A progress bar returns to the beginning of the open line, so it needs no new line.
    const bool fits = line_of(stream.target).owner == no_owner || (is_terminal && stream.held[0] == '\r');
    if (fits) return stream.since + (is_terminal ? terminal_quiet : pipe_quiet);
    return stream.since + patience(stream.target);
}

int Output::timeout_ms() const {
    Clock::time_point next = holds_ ? never : show_at_;
    for (std::uint32_t number = 0; number < streams_.size(); ++number) next = std::min(next, next_of(number));
    if (next == never) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Output::on_time() {
    if (!holds_ && show_at_ != never && show_at_ <= Clock::now()) show_tracebacks();
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        const Clock::time_point its = next_of(number);
        if (its != never && its <= Clock::now()) on_time_of(number);
    }
}

void Output::on_time_of(std::uint32_t number) {
    Stream& stream = streams_[number];
    Line& line = line_of(stream.target);
    if (stream.waits) {
        break_line(stream.target);
        release_waiting(stream.target);
    } else if (stream.withholds()) {
        const Clock::time_point since = stream.since;
        std::string passed;
        stream.tracebacks->finish(passed);
        take_lines(number, passed);
        stream.since = since;  // it has been quiet since then, and so is shown next
    } else {
        if (stream.held[0] == '\r') line.owner = no_owner;
        break_line(stream.target);
        put(number, stream.held);
        stream.held.clear();
        line.owner = number;
    }
    settle(stream.target);
}

/// Call after writing: polls for room, and blocks the PEs until there is some.
void Output::settle(std::uint32_t target) {
    Sink& sink = sink_of(target);
    Line& line = line_of(target);
    if (sink.error() != 0 && sink.error() != EPIPE) failed_ = true;
    const bool is_waiting = sink.backlog() > 0;
    if (is_waiting != line.is_armed) {
        if (is_waiting)
            line.is_armed = poller_.add(sink.fd(), {Source::sink, sink_index(target)}, EPOLLOUT);
        else
            poller_.remove(sink.fd());
        line.is_armed = line.is_armed && is_waiting;
    }
    const bool is_paused = sink.backlog() > backlog_bytes;
    const bool has_no_reader = sink.error() == EPIPE;
    if (is_paused == line.is_paused && !has_no_reader) return;
    line.is_paused = is_paused;
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        Stream& stream = streams_[number];
        if (stream.target != sink_index(target) || !stream.source) continue;
        if (!has_no_reader) {
            pause_or_resume(number);
            continue;
        }
        // The PE gets an error on its next write, as if it wrote to the closed pipe itself.
        if (!stream.is_paused) poller_.remove(stream.source.get());
        stream.source = common::Fd();
        stream.held.clear();
        stream.waits = false;
    }
}

void Output::pause_or_resume(std::uint32_t number) {
    Stream& stream = streams_[number];
    if (!stream.source) return;
    const bool pause =
        line_of(stream.target).is_paused || (stream.waits && stream.held.size() > longest_line_bytes);
    if (pause == stream.is_paused) return;
    stream.is_paused = pause;
    if (pause)
        poller_.remove(stream.source.get());
    else
        poller_.add(stream.source.get(), {Source::output, number}, EPOLLIN | EPOLLET);
}

void Output::on_room(std::uint32_t target) {
    if (!line_of(target).is_armed) return;
    sink_of(target).go_on();
    settle(target);
}

void Output::follow_window() {
    winsize size{};
    for (const Stream& stream : streams_) {
        if (!stream.source || !stream.is_terminal) continue;
        if (ioctl(sink_of(stream.target).fd(), TIOCGWINSZ, &size) == 0)
            ioctl(stream.source.get(), TIOCSWINSZ, &size);
    }
}

void Output::catch_up() {
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        constexpr int most_reads = 16;
        const Stream& stream = streams_[number];
        if (stream.source && !stream.is_paused) read_up_to(most_reads, number);
    }
}

void Output::merge_tracebacks(std::uint32_t stream, int pe) {
    if (style_ != Style::raw) streams_[stream].tracebacks.emplace(pe);
}

bool Output::holds_tracebacks() {
    holds_ = show_at_ != never;
    return holds_;
}

void Output::show_tracebacks() {
    show_at_ = never;
    holds_ = false;
    std::vector<Traceback> all;
    for (Stream& stream : streams_) {
        if (!stream.tracebacks || stream.tracebacks->text().empty()) continue;
        all.push_back({stream.tracebacks->pe(), stream.tracebacks->take()});
        stream.shown = all.back().text;
    }
    if (all.empty()) return;
    break_line(err);
    const bool names_each = is_of_several_ && style_ != Style::labels;  // labels name the PE already
    for (const MergedTraceback& merged : merge(all, names_each)) {
        std::string text = merged.text;
        if (style_ == Style::labels) {
            const std::string label = "[" + common::pe_ranges(merged.pes) + "] ";
            text = label;
            for (const char c : std::string_view(merged.text).substr(0, merged.text.size() - 1))
                text += c == '\n' ? "\n" + label : std::string(1, c);
            text += '\n';
        }
        sink_of(err).write(text);
    }
    release_waiting(err);
    settle(err);
}

bool Output::has_shown(int pe, const std::string& text) const {
    return std::any_of(streams_.begin(), streams_.end(), [&](const Stream& stream) {
        return stream.tracebacks && stream.tracebacks->pe() == pe &&
               (stream.tracebacks->text().find(text) != std::string::npos ||
                stream.shown.find(text) != std::string::npos);
    });
}

void Output::say(const std::string& text) {
    catch_up();
    break_line(err);
    sink_of(err).write(text);
    release_waiting(err);
    settle(out);
    settle(err);
}

void Output::close_all() {
    for (std::uint32_t number = 0; number < streams_.size(); ++number) {
        // An escaped process may hold the pipe open and fill it forever, so the number of reads is bounded.
        constexpr int most_reads = 64;
        for (int reads = 0; streams_[number].source && reads < most_reads; ++reads)
            if (!read_some(number)) break;
        if (streams_[number].source) close(number);
    }
}

void Output::finish(const LastSignals& signals) {
    close_all();
    show_tracebacks();
    for (const std::uint32_t target : {out, err}) {
        for (const Stream& stream : streams_)
            if (stream.waits) {
                break_line(target);
                release_waiting(target);
            }
        sink_of(target).finish(signals);
        settle(target);
    }
}

std::string Output::trouble() {
    if (!failed_ || is_reported_) return {};
    is_reported_ = true;
    for (const std::uint32_t target : {out, err}) {
        const int error = sink_of(target).error();
        if (error == 0 || error == EPIPE) continue;
        return std::string(target == out ? "standard output" : "standard error") +
               " cannot be written: " + std::strerror(error) + (error == EFBIG ? " (ulimit -f)" : "") +
               "; what the PEs print there is lost from here on, and the job will end with status 1";
    }
    return {};
}

}  // namespace atl::cli
