// How the lines of many PEs reach the launcher's stdout and stderr: whole, each by itself.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/events.hpp"
#include "cli/sink.hpp"
#include "cli/tracebacks.hpp"
#include "common/fd.hpp"

namespace atl::cli {

/// Reads what PEs print and passes it on in whole lines, without ever waiting for a reader: one that does not
/// keep up slows the PEs down. Memory is bounded: about 2 MiB for each stream, of which a line longer than
/// 1 MiB is passed on in parts that nobody else's lines come between.
///
/// An unfinished line is passed on at its stream's end. A terminal shows it after a short silence, since
/// people look at prompts and at progress bars; so does a pipe if the stream is that of a PE that can read
/// answers. While such a line is open, others wait for its end a little; then it is ended for them.
class Output {
  public:
    enum class Style {
        lines,
        labels,  ///< with the PE's number in front of each line
        raw,     ///< as it comes
    };
    enum Target : std::uint32_t { out, err };

    Output(Poller& poller, Style style);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Passes on what `source` gives, which may not block. `label` is for Style::labels. Returns the
    /// stream's number.
    std::uint32_t add(common::Fd source, Target target, int label = 0, bool is_asking = false);
    bool is_open(std::uint32_t stream) const { return bool(streams_[stream].source); }
    Sink::Kind kind(Target target) const { return sink_of(target).kind(); }
    /// Both targets lead to one terminal.
    bool is_one_terminal() const { return shared_ && kind(out) == Sink::Kind::terminal; }

    void on_readable(std::uint32_t stream);
    void on_room(std::uint32_t target);
    /// Milliseconds until on_time() has something to do; -1 = nothing.
    int timeout_ms() const;
    void on_time();

    /// The terminals of PEs become as large as the launcher's is now.
    void follow_window();

    /// Reads what PEs have printed so far.
    void catch_up();
    /// Tracebacks of this stream's PE appear once with the same ones of others, up to a second later.
    void merge_tracebacks(std::uint32_t stream, int pe);
    /// Some are to be shown. They then wait for show_tracebacks(): the job ends, and others may print them
    /// too.
    bool holds_tracebacks();
    void show_tracebacks();
    /// Whether PE `pe` has printed a traceback in which `text` appears.
    bool has_shown(int pe, const std::string& text) const;

    /// A line of the launcher's own, behind all that PEs have printed before.
    void say(const std::string& text);
    /// Takes what is still to be read and gives up all streams. Never waits.
    void close_all();
    /// Does the same and writes all out, which may wait for the reader.
    void finish();
    /// What could not be written and why, once; empty = nothing.
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
        std::string held;         ///< read, not passed on: an unfinished line; all that waits
        Clock::time_point since;  ///< when the last of `held` came, or when it began to wait
        /// Its traceback reader keeps an unfinished line that may become a traceback.
        bool withholds() const { return !waits && tracebacks && tracebacks->withholds(); }
    };
    static constexpr std::uint32_t nobody = ~0u;
    struct Line {
        std::uint32_t owner = nobody;  ///< the stream whose unfinished line was the last to be written
        bool is_paused = false;        ///< too much waits for the reader
        bool is_armed = false;         ///< its sink is polled for room
    };

    Sink& sink_of(std::uint32_t target) { return place(target) == err ? err_ : out_; }
    const Sink& sink_of(std::uint32_t target) const { return place(target) == err ? err_ : out_; }
    /// The sink that serves the target.
    std::uint32_t place(std::uint32_t target) const { return shared_ ? std::uint32_t{out} : target; }
    Line& line_of(std::uint32_t target) { return lines_[place(target)]; }
    const Line& line_of(std::uint32_t target) const { return lines_[place(target)]; }

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
    Sink out_{1}, err_{2};
    const bool shared_;
    std::array<Line, 2> lines_;
    std::vector<Stream> streams_;
    std::vector<char> buffer_;
    bool failed_ = false, told_ = false;
    Clock::time_point show_at_ = never;  ///< when tracebacks are shown that nobody waits for
    bool holds_ = false;
};

/// The number that a PE's lines begin with: "[3] ".
std::string label_text(int pe);

}  // namespace atl::cli
