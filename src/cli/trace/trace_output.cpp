#include "cli/trace/trace_output.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <string>

#include "cli/trace/perfetto.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {
namespace {

/// The path if it can be written, else nothing.
std::string usable(const std::string& path, const char* option, const TraceOutput::Say& say) {
    if (path.empty()) return path;
    if (const common::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666)); file)
        return path;
    say(std::string(option) + " " + path + " cannot be written: " + std::strerror(errno) +
        "; the program runs without it");
    return {};
}

}  // namespace

TraceOutput::TraceOutput(const common::Settings& settings, const Say& say)
    : trace_(usable(settings.trace, "--trace", say)),
      record_(usable(settings.record, "--record", say)),
      log_events_(settings.log_events) {}

void TraceOutput::write(const common::BoardView& board, const Say& say) const try {
    if (log_events() != 0) write(trace_of(board), say);
} catch (const std::exception& error) {  // no memory is left
    say(std::string("the trace could not be written: ") + error.what());
}

void TraceOutput::write(const JobTrace& trace, const Say& say) const try {
    for (const std::string& path : {trace_, record_}) {
        if (path.empty()) continue;
        const std::string reason = write_perfetto(trace, path);
        if (!reason.empty()) say(std::string(path).append(" is incomplete: ").append(reason));
    }
    if (const std::uint64_t dropped = trace.dropped(); dropped != 0)
        say(std::to_string(dropped) + " later events are not in the file: the log of a PE holds " +
            std::to_string(log_events_) + " (ATOLL_TRACE_EVENTS)");
} catch (const std::exception& error) {  // no memory is left
    say(std::string("the trace could not be written: ") + error.what());
}

}  // namespace atl::cli
