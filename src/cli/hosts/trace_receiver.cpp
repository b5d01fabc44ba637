#include "cli/hosts/trace_receiver.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "cli/hosts/agent_process.hpp"
#include "cli/hosts/trace_wire.hpp"
#include "common/clock.hpp"
#include "common/pe_ranges.hpp"
#include "common/recorder/host_clock.hpp"

namespace atl::cli {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(20);

}  // namespace

std::vector<TraceReceiver::Host> TraceReceiver::all_of(const std::vector<HostShare>& shares) {
    std::vector<Host> hosts;
    int first_pe = 0;
    for (const HostShare& share : shares) {
        Host& host = hosts.emplace_back();
        host.share = share;
        host.first_pe = first_pe;
        first_pe += share.n_pes;
    }
    return hosts;
}

TraceReceiver::TraceReceiver(const std::vector<HostShare>& hosts, std::uint64_t most_bytes,
                             std::chrono::milliseconds patience)
    : most_bytes_(most_bytes),
      patience_(patience),
      clock_(common::clock_identity()),
      hosts_(all_of(hosts)),
      thread_([this] { run(); }) {}

TraceReceiver::~TraceReceiver() {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    wake_.signal();
}

void TraceReceiver::take(int host, common::ProcessFd connection) {
    const std::lock_guard lock(mutex_);
    if (host < 0 || static_cast<std::size_t>(host) >= hosts_.size()) return;
    Host& taken = hosts_[static_cast<std::size_t>(host)];
    if (taken.has_come) return;
    taken.has_come = true;
    taken.last = Clock::now();
    taken.reader.set_limit(bootstrap::most_frame_bytes);
    taken.reader.append(bootstrap::greeting.data(), bootstrap::greeting.size());
    taken.connection = std::move(connection);
    wake_.signal();
}

void TraceReceiver::run() {
    std::unique_lock lock(mutex_);
    std::vector<pollfd> polled;
    polled.reserve(1 + hosts_.size());
    while (!is_stopping_) {
        polled.assign({{wake_.fd(), POLLIN, 0}});
        for (const Host& host : hosts_) polled.push_back({host.connection.get(), POLLIN, 0});
        lock.unlock();
        ::poll(polled.data(), polled.size(), -1);
        lock.lock();
        if (polled[0].revents != 0) wake_.clear();
        for (std::size_t i = 0; i < hosts_.size(); ++i)
            if (polled[i + 1].revents != 0) read_from(hosts_[i]);
    }
}

/// Reads once, so that no host delays the answers to another for long: their time counts as error of its
/// clock.
void TraceReceiver::read_from(Host& host) try {
    static thread_local std::array<char, 65536> bytes;
    const ssize_t got = ::recv(host.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    bool is_good = got > 0;
    if (is_good) host.reader.append(bytes.data(), static_cast<std::size_t>(got));
    bool is_question = false;
    while (is_good) {
        std::optional<bootstrap::Frame> frame = host.reader.next();
        if (!frame) break;
        is_question = frame->type == 'P';
        is_good = handle(host, std::move(*frame));
    }
    // Before 'S', and by questions alone, no events come nearer.
    if (host.pes_ended && !is_question) host.last = Clock::now();
    if (!is_good || host.reader.broken()) host.connection.close();
} catch (const std::exception&) {  // no memory is left: the job matters more than its trace
    host.connection.close();
    host.reader = bootstrap::FrameReader();
    host.frames = {};
    host.had_no_room = true;
}

bool TraceReceiver::handle(Host& host, bootstrap::Frame frame) const {
    switch (frame.type) {
        case 'I':
            return answer(host, 'I', !clock_.empty() && frame.body == clock_ ? "1" : "0");
        case 'P':
            return answer(host, 'P', frame.body + Packer().number(common::now_ns()).bytes());
        case 'S':
            host.pes_ended = true;
            host.status = std::atoi(frame.body.c_str());
            return true;
        case 'C':
            host.clock_error_ns = Unpacker(frame.body).number<double>();
            return true;
        case 'N':
            host.without_room.insert(Unpacker(frame.body).number<int>());
            return host.without_room.size() <= static_cast<std::size_t>(host.share.n_pes);
        case 'Z':
            host.is_complete = true;
            return answer(host, 'Z', {});
        default:
            host.bytes += sizeof frame + frame.body.size();
            host.frames.push_back(std::move(frame));
            return host.bytes <= most_bytes_ * static_cast<std::uint64_t>(host.share.n_pes);
    }
}

/// The agent waits for each answer, so there is room for it.
bool TraceReceiver::answer(const Host& host, char type, const std::string& body) {
    const std::string frame = bootstrap::encode(type, body);
    return ::send(host.connection.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(frame.size());
}

bool TraceReceiver::is_coming(const Host& host) const {
    return !is_abandoned_ && host.connection && !host.is_complete && Clock::now() < host.last + patience_;
}

TraceReceiver::State TraceReceiver::state(int host) {
    const std::lock_guard lock(mutex_);
    const Host& one = hosts_[static_cast<std::size_t>(host)];
    return {one.pes_ended, one.status, one.pes_ended && is_coming(one)};
}

void TraceReceiver::abandon() {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
}

void TraceReceiver::wait(const std::function<bool()>& is_interrupted) {
    const auto one_is_coming = [this] {
        const std::lock_guard lock(mutex_);
        return std::any_of(hosts_.begin(), hosts_.end(),
                           [this](const Host& host) { return is_coming(host); });
    };
    {
        const std::lock_guard lock(mutex_);
        for (Host& host : hosts_) host.last = Clock::now();
    }
    while (one_is_coming() && !is_interrupted()) std::this_thread::sleep_for(poll_interval);
}

ReceivedTrace TraceReceiver::take_trace(const std::vector<bool>& came) {
    const std::lock_guard lock(mutex_);
    ReceivedTrace received;
    std::vector<double> errors(1);
    for (Host& host : hosts_) {
        host.connection.close();
        add_host(host, came, received);
        errors.push_back(host.clock_error_ns);
    }
    // Clocks are compared with the launcher's, so the errors of two hosts add up.
    std::partial_sort(errors.begin(), errors.begin() + 2, errors.end(), std::greater<>());
    received.trace.clock_error_us = std::ceil((errors[0] + errors[1]) / 1e3);
    return received;
}

std::vector<PeTrace> TraceReceiver::take_events(Host& host, bool& is_good) {
    std::vector<PeTrace> pes;
    is_good = true;
    for (bootstrap::Frame& frame : host.frames) {
        is_good = is_good && add_frame(frame.type, frame.body, pes);
        frame = {};
    }
    host.frames.clear();
    const auto is_foreign = [&](const PeTrace& pe) {
        return pe.pe < host.first_pe || pe.pe >= host.first_pe + host.share.n_pes;
    };
    if (std::erase_if(pes, is_foreign) != 0) is_good = false;
    return pes;
}

/// Adds the PEs of a host. Those that did not call init have no events.
void TraceReceiver::add_host(Host& host, const std::vector<bool>& came, ReceivedTrace& received) const {
    bool is_good = true;
    std::vector<PeTrace> pes = take_events(host, is_good);
    std::vector<int> without, without_room;
    for (int pe = host.first_pe; pe < host.first_pe + host.share.n_pes; ++pe) {
        if (std::any_of(pes.begin(), pes.end(), [&](const PeTrace& one) { return one.pe == pe; })) continue;
        if (came[static_cast<std::size_t>(pe)])
            (host.without_room.contains(pe) ? without_room : without).push_back(pe);
        pes.emplace_back().pe = pe;
        pes.back().log.texts.emplace_back();
    }
    std::sort(pes.begin(), pes.end(), [](const PeTrace& a, const PeTrace& b) { return a.pe < b.pe; });
    for (PeTrace& pe : pes) {
        pe.host = host.share.name;
        received.trace.pes.push_back(std::move(pe));
    }
    std::string why;
    if (!is_good)
        why = "they came in a form that this release does not read";
    else if (host.had_no_room)
        why = "this launcher has no memory left for them";
    else if (!host.has_come)
        why = "its agent did not connect to this launcher for them";
    else if (!host.is_complete && is_abandoned_)
        why = "a signal ended the wait for them";
    else if (!host.is_complete)
        why = "its agent ended, or was lost, before it had sent them";
    const auto add = [&](const std::string& of, const std::string& because) {
        received.missing.push_back("the trace lacks events of " + of + ": " + because);
    };
    const auto of_some = [&](const std::vector<int>& some) {
        return "PE " + common::pe_ranges(some) + " (host " + host.share.name + ")";
    };
    if (!why.empty()) return add(text_of(host.share, host.first_pe), why);
    if (!without_room.empty())
        add(of_some(without_room),
            "a host has no room for the logs of all PEs, whose size ATOLL_TRACE_EVENTS sets");
    if (!without.empty())
        add(of_some(without),
            "a program between `atoll run` and it closed its descriptors (in Python pass "
            "subprocess.run(..., close_fds=False))");
}

}  // namespace atl::cli
