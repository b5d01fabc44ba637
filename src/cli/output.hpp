// `--label`: what the PEs print, line by line and with their numbers.
#pragma once

#include <string>
#include <vector>

#include "cli/events.hpp"
#include "common/fd.hpp"

namespace atl::cli {

/// Cuts a byte stream into whole lines, each with a prefix.
class LineLabeller {
  public:
    explicit LineLabeller(int pe) : prefix_("[" + std::to_string(pe) + "] ") {}
    /// Appends to `lines` what `data` completes.
    void feed(const char* data, std::size_t size, std::string& lines);
    /// The last line, when it had no newline.
    void finish(std::string& lines);

  private:
    std::string prefix_;
    std::string partial_;
};

/// Reads the pipes of all PEs and writes to the launcher's stdout and stderr without ever waiting for their
/// reader; a reader that does not keep up slows the PEs down, not the launcher.
class LabelledOutput {
  public:
    /// `first_pe` is the number of the first.
    LabelledOutput(Poller& poller, int n_pes, int first_pe = 0);
    /// Makes the pipes for one PE's stdout and stderr; these are the ends it gets.
    void open(int pe, common::Fd& out, common::Fd& err);
    void on_readable(std::uint32_t stream);
    void on_writable(std::uint32_t sink);
    /// Of the launcher's own.
    void say(const std::string& text);
    /// Takes what is still in the pipes, ends unfinished lines, writes all out.
    void finish();

  private:
    struct Stream {
        common::Fd pipe;
        LineLabeller labeller;
        bool paused = false;
    };
    struct Sink {
        int fd;
        std::string pending;
        std::size_t done = 0;   ///< of `pending`, already written
        bool waitable = false;  ///< can be polled: a pipe, a terminal
        bool armed =
            false;  ///< is polled: only while there is something to write, as a broken pipe calls always
    };
    Sink& sink_of(std::uint32_t stream) { return sinks_[stream % 2]; }
    /// False when there was nothing to read.
    bool read_some(std::uint32_t stream);
    void close(std::uint32_t stream);
    void write_out(Sink& sink);
    static bool write_piece(Sink& sink, std::size_t most);
    void pause_or_resume(std::uint32_t sink);

    Poller& poller_;
    std::vector<Stream> streams_;  ///< 2 * pe is its stdout, 2 * pe + 1 its stderr
    Sink sinks_[2] = {{1, {}, 0, false, false}, {2, {}, 0, false, false}};
};

}  // namespace atl::cli
