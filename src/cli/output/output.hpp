// Copies the lines of many PEs to the launcher's stdout and stderr, each line in one piece.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/events.hpp"
#include "cli/output/sink.hpp"
#include "cli/output/tracebacks.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// Reads the output of PEs and passes it on in complete lines, without waiting for a reader: a slow reader
/// slows the PEs down. Memory is bounded to about 2 MiB for each stream. A line longer than 1 MiB is passed
/// on in parts, uninterrupted by other lines.
///
/// An unfinished line is passed on at the end of its stream. A terminal shows it after a short silence, for
/// prompts and progress bars. A pipe does the same if the PE can read answers. While such a line is open,
/// other
/// lines wait briefly for its end; then it is broken.
class Output {
  public:
    enum class Style {
        lines,
        labels,  ///< with the PE's number in front of each line
        raw,     ///< unchanged
    };
    enum Target : std::uint32_t { out, err };

    /// `is_of_several`: the job has other PEs, here or on other hosts.
    Output(Poller& poller, Style style, bool is_of_several);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Passes on the data of `source`, a non-blocking descriptor. `label` is for Style::labels. Returns the
    /// stream's number.
    std::uint32_t add(common::Fd source, Target target, int label = 0, bool is_asking = false);
    bool is_open(std::uint32_t stream) const { return bool(streams_[stream].source); }
    /// True if a reader of the launcher's output keeps this stream from being read.
    bool is_paused(std::uint32_t stream) const { return streams_[stream].is_paused; }
    Sink::Kind kind(Target target) const { return sink_of(target).kind(); }
    /// True if both targets lead to one terminal.
    bool is_one_terminal() const { return shared_ && kind(out) == Sink::Kind::terminal; }

    void on_readable(std::uint32_t stream);
    void on_room(std::uint32_t target);
    /// Milliseconds until on_time() has work; -1: none.
    int timeout_ms() const;
    void on_time();

    /// Sets the size of the PEs' terminals to that of the launcher's.
    void follow_window();

    /// Reads all output that PEs have written so far.
    void catch_up();
    /// Merges tracebacks of this stream's PE with equal ones of other PEs. They are shown up to a second
    /// later.
    void merge_tracebacks(std::uint32_t stream, int pe);
    /// True if tracebacks are held back. They then wait for show_tracebacks(): the job ends, and other PEs
    /// may print them too.
    bool holds_tracebacks();
    void show_tracebacks();
    /// True if PE `pe` has printed a traceback that contains `text`.
    bool has_shown(int pe, const std::string& text) const;

    /// Writes a line of the launcher itself, after all that PEs have written before.
    void say(const std::string& text);
    /// Reads what remains and closes all streams. Never blocks.
    void close_all();
    /// Does the same and writes everything, which may block on the reader.
    void finish(const LastSignals& signals);
    /// The reason of a failed write, returned once; empty: none.
    std::string trouble();
    bool has_failed() const { return failed_; }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::time_point never = Clock::time_point::max();

    struct Stream {
        common::Fd source;
        std::uint32_t target = 0;
        std::string label;
        std::optional<TracebackReader> tracebacks;
        std::string shown;         ///< the last tracebacks of its PE that were shown
        bool is_terminal = false;  ///< `source` is the other end of a PE's terminal
        bool is_asking = false;    ///< its PE can read answers
        bool is_at_line_start = true;
        bool is_paused = false;
        bool waits = false;       ///< has lines that wait for the end of another stream's
        std::string held;         ///< text read but not yet passed on: an unfinished line, or all if `waits`
        Clock::time_point since;  ///< time of the last read into `held`, or of the start of the wait
        /// True if the traceback reader keeps an unfinished line that may become a traceback.
        bool withholds() const { return !waits && tracebacks && tracebacks->withholds(); }
    };
    static constexpr std::uint32_t no_owner = ~0u;
    struct Line {
        std::uint32_t owner = no_owner;  ///< the stream whose unfinished line was the last to be written
        bool is_paused = false;          ///< reading is paused: too many unwritten bytes
        bool is_armed = false;           ///< its sink is polled for room
    };

    Sink& sink_of(std::uint32_t target) { return sink_index(target) == err ? err_ : out_; }
    const Sink& sink_of(std::uint32_t target) const { return sink_index(target) == err ? err_ : out_; }
    /// The sink of the target.
    std::uint32_t sink_index(std::uint32_t target) const { return shared_ ? std::uint32_t{out} : target; }
    Line& line_of(std::uint32_t target) { return lines_[sink_index(target)]; }
    const Line& line_of(std::uint32_t target) const { return lines_[sink_index(target)]; }

    void read_up_to(int times, std::uint32_t stream);
    bool read_some(std::uint32_t stream);
    void take(std::uint32_t stream, std::string_view data);
    void take_lines(std::uint32_t stream, std::string_view data);
    void take_owned(std::uint32_t stream, std::string_view data);
    void wait_for_line(std::uint32_t stream, std::string_view data);
    void close(std::uint32_t stream);
    void leave_rest(std::uint32_t stream);
    void put(std::uint32_t stream, std::string_view first, std::string_view second = {});
    void break_line(std::uint32_t target);
    void release_waiting(std::uint32_t target);
    bool may_show_unfinished(const Stream& stream) const;
    std::chrono::milliseconds patience(std::uint32_t target) const;
    Clock::time_point next_of(std::uint32_t stream) const;
    void on_time_of(std::uint32_t stream);
    void settle(std::uint32_t target);
    void pause_or_resume(std::uint32_t stream);

    Poller& poller_;
    const Style style_;
    const bool is_of_several_;
    Sink out_{1}, err_{2};
    const bool shared_;
    std::array<Line, 2> lines_;
    std::vector<Stream> streams_;
    std::vector<char> buffer_;
    bool failed_ = false, is_reported_ = false;
    Clock::time_point show_at_ = never;  ///< the time to show tracebacks for which no exit waits
    bool holds_ = false;
};

/// The label before a PE's lines: "[3] ".
std::string label_text(int pe);

}  // namespace atl::cli
