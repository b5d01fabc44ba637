#include "cli/output.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace atl::cli {
namespace {

// So much may wait for the reader of our output before PEs are kept waiting too.
constexpr std::size_t backlog_bytes = 1 << 20;
// A pipe that polls as writable takes this much without blocking.
constexpr std::size_t write_bytes = 4096;

}  // namespace

void LineLabeller::feed(const char* data, std::size_t size, std::string& lines) {
    const char* end = data + size;
    while (data < end) {
        const auto* newline =
            static_cast<const char*>(std::memchr(data, '\n', static_cast<std::size_t>(end - data)));
        if (!newline) break;
        lines += prefix_;
        lines += partial_;
        lines.append(data, newline + 1);
        partial_.clear();
        data = newline + 1;
    }
    partial_.append(data, end);
}

void LineLabeller::finish(std::string& lines) {
    if (partial_.empty()) return;
    lines += prefix_ + partial_ + "\n";
    partial_.clear();
}

LabelledOutput::LabelledOutput(Poller& poller, int n_pes, int first_pe) : poller_(poller) {
    for (int pe = 0; pe < n_pes; ++pe) {
        for (int i = 0; i < 2; ++i) streams_.push_back(Stream{common::Fd(), LineLabeller(first_pe + pe)});
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
        // Refused for regular files: writing to these never waits for anybody.
        sinks_[i].waitable = poller_.add(sinks_[i].fd, {Source::sink, i}, 0);
        if (sinks_[i].waitable) poller_.remove(sinks_[i].fd);
    }
}

void LabelledOutput::open(int pe, common::Fd& out, common::Fd& err) {
    common::Fd* ends[2] = {&out, &err};
    for (int i = 0; i < 2; ++i) {
        int pipe_ends[2];
        if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
        const auto number = static_cast<std::uint32_t>(2 * pe + i);
        streams_[number].pipe = common::Fd(pipe_ends[0]);
        *ends[i] = common::Fd(pipe_ends[1]);
        fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);  // our end only: the other is an open file of its own
        poller_.add(pipe_ends[0], {Source::output, number});
    }
}

void LabelledOutput::on_readable(std::uint32_t stream) {
    if (streams_[stream].pipe && !streams_[stream].paused) read_some(stream);
    write_out(sink_of(stream));
    pause_or_resume(stream % 2);
}

bool LabelledOutput::read_some(std::uint32_t stream) {
    char buffer[64 * 1024];
    const ssize_t size = read(streams_[stream].pipe.get(), buffer, sizeof buffer);
    if (size == 0) close(stream);
    if (size <= 0) return false;
    streams_[stream].labeller.feed(buffer, static_cast<std::size_t>(size), sink_of(stream).pending);
    return true;
}

void LabelledOutput::close(std::uint32_t stream) {
    streams_[stream].labeller.finish(sink_of(stream).pending);
    if (!streams_[stream].paused) poller_.remove(streams_[stream].pipe.get());
    streams_[stream].pipe = common::Fd();
}

void LabelledOutput::on_writable(std::uint32_t sink) {
    Sink& target = sinks_[sink];
    if (!target.armed) return;
    if (!write_piece(target, write_bytes)) {
        poller_.remove(target.fd);
        target.armed = false;
    }
    pause_or_resume(sink);
}

/// False when all is written.
bool LabelledOutput::write_piece(Sink& sink, std::size_t most) {
    const std::size_t size = std::min(sink.pending.size() - sink.done, most);
    const ssize_t written = write(sink.fd, sink.pending.data() + sink.done, size);
    if (written > 0) sink.done += static_cast<std::size_t>(written);
    const bool broken =
        written < 0 && errno != EAGAIN && errno != EINTR;  // nobody reads any more; PEs may run on
    if (broken || sink.done == sink.pending.size()) {
        sink.pending.clear();
        sink.done = 0;
    } else if (sink.done > backlog_bytes) {
        sink.pending.erase(0, sink.done);
        sink.done = 0;
    }
    return !sink.pending.empty();
}

void LabelledOutput::write_out(Sink& sink) {
    if (sink.pending.empty() || sink.armed) return;
    if (sink.waitable) {
        sink.armed =
            poller_.add(sink.fd, {Source::sink, static_cast<std::uint32_t>(&sink - sinks_)}, EPOLLOUT);
        return;
    }
    while (write_piece(sink, sink.pending.size())) {
    }
}

void LabelledOutput::pause_or_resume(std::uint32_t sink) {
    const bool pause = sinks_[sink].pending.size() - sinks_[sink].done > backlog_bytes;
    for (std::uint32_t i = sink; i < streams_.size(); i += 2) {
        Stream& stream = streams_[i];
        if (!stream.pipe || stream.paused == pause) continue;
        stream.paused = pause;
        if (pause) poller_.remove(stream.pipe.get());
        if (!pause) poller_.add(stream.pipe.get(), {Source::output, i});
    }
}

void LabelledOutput::say(const std::string& text) {
    sinks_[1].pending += text;
    write_out(sinks_[1]);
}

void LabelledOutput::finish() {
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        // A process that escaped may hold the pipe open and fill it for ever: a pipe's worth and no more.
        for (int reads = 0; streams_[i].pipe && reads < 64; ++reads) {
            if (!read_some(i)) break;
        }
        if (streams_[i].pipe) close(i);
    }
    for (Sink& sink : sinks_) {
        if (sink.armed) poller_.remove(sink.fd);
        sink.armed = sink.waitable = false;
        write_out(sink);
    }
}

}  // namespace atl::cli
