// `atoll agent`: the part of `atoll run --hosts` that runs on each host. It reads its order from standard
// input, starts the PEs as `atoll run` does, and ends when that input ends.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "bootstrap/host/host_identity.hpp"
#include "bootstrap/store/wire.hpp"
#include "cli/hosts.hpp"
#include "cli/hosts/trace_sender.hpp"
#include "cli/run.hpp"
#include "common/quiet_thread.hpp"

namespace atl::cli {
namespace {

/// Reads the next frame; empty at the end of the input.
std::optional<bootstrap::Frame> next_frame(int fd, bootstrap::FrameReader& reader) {
    for (;;) {
        if (std::optional<bootstrap::Frame> frame = reader.next()) return frame;
        char bytes[16384];
        const ssize_t got = ::read(fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || reader.broken()) return std::nullopt;
        reader.append(bytes, static_cast<std::size_t>(got));
    }
}

/// Ends the PEs as a user does who presses Ctrl-C twice. Returns unless their events are sent then.
void end_pes(const TraceSender& sender) {
    // Signals of one process that are closer together count as one (Job::interrupt).
    constexpr auto apart = std::chrono::milliseconds(600), patience = std::chrono::milliseconds(3000);
    constexpr auto longest = std::chrono::minutes(10);
    for (int i = 0; i < 2 && !sender.is_sending(); ++i) {
        ::kill(::getpid(), SIGTERM);
        std::this_thread::sleep_for(apart);
    }
    if (!sender.is_sending()) std::this_thread::sleep_for(patience);
    if (sender.is_sending()) std::this_thread::sleep_for(longest);  // the main thread ends this process
}

/// Connects to the launcher, if it writes a trace. Without a connection the PEs run without one, and the
/// launcher reports it.
std::unique_ptr<TraceSender> sender_for(const AgentOrder& order, const bootstrap::Invitation& invitation) {
    constexpr double patience_s = 10;
    if (order.logs.events == 0) return nullptr;
    try {
        return std::make_unique<TraceSender>(invitation, order.number, patience_s);
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// Removes the variables of traces, of which PEs without a trace would warn.
void forget_traces(Arguments& environment) {
    for (const std::string name : {"ATOLL_TRACE", "ATOLL_RECORD"}) {
        unsetenv(name.c_str());
        std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    }
}

/// Raises the launcher's signals in this process. Ends this process when the launcher has ended; the guard of
/// the process group then ends the PEs.
[[noreturn]] void obey(int fd, bootstrap::FrameReader reader, std::atomic<bool>& is_quiet,
                       const TraceSender* sender) {
    while (const std::optional<bootstrap::Frame> frame = next_frame(fd, reader)) {
        if (frame->type == 'Q') is_quiet = true;
        if (frame->type == 'S') ::kill(::getpid(), std::atoi(frame->body.c_str()));
    }
    is_quiet = true;
    if (sender) end_pes(*sender);
    ::_exit(1);
}

/// Runs the job. Errors before a PE runs are printed here: an exception must not pass the thread that listens
/// to the launcher.
int run_order(const RunOptions& options) {
    const auto say = [](const std::exception& error) {
        std::fprintf(stderr, "atoll run: on host %s: %s\n", bootstrap::host_name().c_str(), error.what());
    };
    try {
        return run_job(options);
    } catch (const UsageError& error) {
        say(error);
        return error.status();
    } catch (const std::exception& error) {
        say(error);
        return UsageError::bad_usage;
    }
}

}  // namespace

std::string encode_order(const AgentOrder& order) {
    std::vector<std::string> fields = {std::to_string(order.first_pe),
                                       std::to_string(order.n_pes),
                                       std::to_string(order.n_all),
                                       std::to_string(order.port),
                                       std::to_string(order.number),
                                       std::to_string(order.logs.events),
                                       order.logs.moves ? "1" : "0",
                                       order.label ? "1" : "0",
                                       order.raw ? "1" : "0",
                                       order.bind_core ? "1" : "0",
                                       order.secret,
                                       order.addresses,
                                       order.folder,
                                       order.output_folder,
                                       order.store.address,
                                       order.store.port,
                                       bootstrap::pack(order.environment),
                                       std::to_string(order.environment.size()),
                                       bootstrap::pack(order.command),
                                       std::to_string(order.command.size())};
    return bootstrap::pack(fields);
}

AgentOrder decode_order(const std::string& body) {
    constexpr int n_fields = 20;
    const std::vector<std::string> f = bootstrap::unpack(body, n_fields);
    AgentOrder order;
    order.first_pe = std::atoi(f[0].c_str());
    order.n_pes = std::atoi(f[1].c_str());
    order.n_all = std::atoi(f[2].c_str());
    order.port = std::atoi(f[3].c_str());
    order.number = std::atoi(f[4].c_str());
    order.logs.events = std::strtoull(f[5].c_str(), nullptr, 10);
    order.logs.moves = f[6] == "1";
    order.label = f[7] == "1";
    order.raw = f[8] == "1";
    order.bind_core = f[9] == "1";
    order.secret = f[10];
    order.addresses = f[11];
    order.folder = f[12];
    order.output_folder = f[13];
    order.store.address = f[14];
    order.store.port = f[15];
    order.environment = bootstrap::unpack(f[16], std::atoi(f[17].c_str()));
    order.command = bootstrap::unpack(f[18], std::atoi(f[19].c_str()));
    return order;
}

int agent_command(const Arguments&) {
    // The orders move to another descriptor, because standard input belongs to the PEs.
    const common::Fd orders(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    const common::Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ::dup2(nothing.get(), STDIN_FILENO);
    bootstrap::FrameReader reader;
    reader.set_limit(bootstrap::most_frame_bytes);
    reader.append(bootstrap::greeting.data(), bootstrap::greeting.size());
    const std::optional<bootstrap::Frame> first = next_frame(orders.get(), reader);
    if (!first || first->type != 'C')
        throw UsageError("this command is started by `atoll run --hosts`, which tells it what to do");
    const AgentOrder order = decode_order(first->body);
    if (::chdir(order.folder.c_str()) != 0)
        std::fprintf(stderr, "atoll agent: there is no folder %s on this host; the PEs start in %s\n",
                     order.folder.c_str(), std::getenv("HOME") ? std::getenv("HOME") : "/");
    RunOptions options;
    options.n_pes = order.n_pes;
    options.first_pe = order.first_pe;
    options.label = order.label;
    options.raw = order.raw;
    options.output_folder = order.output_folder;
    options.bind_core = order.bind_core;
    options.store = order.store;
    options.environment = order.environment;
    options.command = order.command;
    bootstrap::Invitation invitation{order.first_pe,  order.n_all, order.port, order.secret,
                                     order.addresses, {},          -1};
    for (const std::string& entry : order.environment) set_variable(entry);  // the sender reads settings, too
    const std::unique_ptr<TraceSender> sender = sender_for(order, invitation);
    if (sender)
        invitation.logs = order.logs;
    else
        forget_traces(options.environment);
    options.trace_sender = sender.get();
    options.join = invitation;
    ::signal(SIGXFSZ, SIG_IGN);  // same handling in run_command
    std::atomic<bool> is_quiet{false};
    options.is_quiet = &is_quiet;
    const common::QuietThread listener(
        [&, fd = orders.get()] { obey(fd, std::move(reader), is_quiet, sender.get()); });
    const int status = run_order(options);
    if (sender && !sender->is_sending()) sender->send(status);  // no PE has run
    std::fflush(nullptr);
    ::_exit(status);  // without destructors: the listener would block its join
}

}  // namespace atl::cli
