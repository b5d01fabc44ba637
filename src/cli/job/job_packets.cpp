// Packets from PEs to the launcher, as in bootstrap/launcher/launch_protocol.hpp.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bootstrap/launcher/launch_protocol.hpp"
#include "cli/hosts/trace_sender.hpp"
#include "cli/job/job.hpp"
#include "common/able_time.hpp"
#include "common/descriptors/fd_passing.hpp"

namespace atl::cli {
namespace {

/// Returns the first descriptor that came with a message and closes the others.
common::Fd take_descriptor(msghdr& message) {
    common::Fd first;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            common::Fd taken(fd);
            if (!first) first = std::move(taken);
        }
    }
    return first;
}

/// True if the process still runs a program. A process that exits has lost its program when its descriptors
/// close. One that calls exec has a program then.
bool is_running_program(pid_t pid) {
    char unused;
    return pid > 0 && readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), &unused, 1) >= 0;
}

}  // namespace

void Job::on_socket(int pe, std::uint32_t events) {
    if (events & EPOLLOUT) send_outgoing(pe);
    // A few packets at a time, so that one busy PE does not delay the others.
    for (int i = 0; i < 16 && receive(pe); ++i) {
    }
}

/// Receives one packet; false if none has arrived.
bool Job::receive(int pe) {
    Pe& sender = pes_[static_cast<std::size_t>(pe)];
    if (!sender.socket) return false;
    static std::array<char, bootstrap::max_packet_bytes + 1> buffer;
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    iovec part{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(sender.socket.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
    if (size <= 0) {  // the last process of this PE has closed its end
        close_socket(pe);
        return false;
    }
    common::Fd descriptor = take_descriptor(message);
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        if (options_.join) return true;  // a trace changes no result
        end(pe, 1, "PE " + std::to_string(pe) + " sent more than the launcher takes in one piece");
        return true;
    }
    handle(pe, buffer[0], std::string(buffer.data() + 1, static_cast<std::size_t>(size) - 1),
           std::move(descriptor));
    return true;
}

void Job::handle(int pe, char type, const std::string& body, common::Fd descriptor) {
    const std::size_t nul = body.find('\0');
    const std::string head = body.substr(0, nul);
    const std::string rest = nul == std::string::npos ? "" : body.substr(nul + 1);
    switch (type) {
        case 'H':
            return hello(pe, std::move(descriptor));
        case 'T':
            return begin_watch();
        case 'P':
            return store_.put(head, rest);
        case 'G':
            store_.get(pe, body);
            return check_never_joined();
        case 'F':
            store_.fence(pe);
            return check_never_joined();
        case 'C':
            store_.collect(pe, body);
            return check_never_joined();
        case 'B':
            pes_[static_cast<std::size_t>(pe)].goodbye = body.empty() ? 'l' : body[0];
            return;
        case 'R':
            return rejoin(pe);
        case 'A':
            return on_abort(pe, std::atoi(head.c_str()), rest);
        case 'J':
            if (options_.trace_sender) options_.trace_sender->add_board(options_.first_pe + pe, descriptor);
            return;
        default:
            end(pe, 1,
                "PE " + std::to_string(pe) +
                    " speaks another protocol than this launcher: library and `atoll` are of different "
                    "versions");
    }
}

/// PEs may wait from now on.
void Job::begin_watch() {
    if (!has_joined_) stall_.restart(now());
    has_joined_ = true;
}

void Job::hello(int pe, common::Fd lifeline) {
    Pe& sender = pes_[static_cast<std::size_t>(pe)];
    begin_watch();
    sender.has_joined = true;
    sender.goodbye = 0;
    sender.has_run_on = false;
    if (!lifeline) return;
    close_lifeline(pe);  // finalized, and calls init again
    ucred creator{};
    socklen_t size = sizeof creator;
    getsockopt(lifeline.get(), SOL_SOCKET, SO_PEERCRED, &creator, &size);
    sender.member = creator.pid;
    sender.lifeline = std::move(lifeline);
    ++lifelines_;
    poller_.add(sender.lifeline.get(), {Source::lifeline, static_cast<std::uint32_t>(pe)});
}

/// Sends a new heap for the next job, once all PEs have asked. Before that, some may still use the old one.
void Job::rejoin(int pe) {
    pes_[static_cast<std::size_t>(pe)].goodbye = 0;
    pes_[static_cast<std::size_t>(pe)].rejoins = true;
    if (!std::all_of(pes_.begin(), pes_.end(), [](const Pe& other) { return other.rejoins; }))
        return check_never_rejoined();
    store_.forget();
    board_.header().layout_state.store(0, std::memory_order_relaxed);  // so that the current settings apply
    heap_fd_ = common::Fd(memfd_create("atoll-heap", MFD_CLOEXEC));
    const int passed = heap_fd_.get();
    for (Pe& other : pes_) {
        other.rejoins = false;
        // The socket has room: the PE has no other packet to read.
        if (!heap_fd_ || common::send_with_fds(other.socket.get(), "R", 1, {&passed, 1}, MSG_DONTWAIT) != 1)
            return end(pe, 1, "the launcher could not hand out memory for the job's next init");
    }
}

void Job::answer(int pe, const std::string& packet) {
    Pe& receiver = pes_[static_cast<std::size_t>(pe)];
    if (!receiver.socket) return;
    receiver.outgoing.push_back(packet);
    if (receiver.outgoing.size() == 1) send_outgoing(pe);
}

void Job::send_outgoing(int pe) {
    Pe& receiver = pes_[static_cast<std::size_t>(pe)];
    const bool was_full = receiver.waits_for_room;
    receiver.waits_for_room = false;
    while (receiver.socket && !receiver.outgoing.empty()) {
        const std::string& packet = receiver.outgoing.front();
        if (send(receiver.socket.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            if (errno == EINTR) continue;
            receiver.waits_for_room = errno == EAGAIN;
            if (errno != EAGAIN) receiver.outgoing.clear();  // the PE has ended; its end of file follows
            break;
        }
        receiver.outgoing.pop_front();
    }
    if (receiver.socket && receiver.waits_for_room != was_full) {
        poller_.change(receiver.socket.get(), {Source::socket, static_cast<std::uint32_t>(pe)},
                       receiver.waits_for_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
}

void Job::close_socket(int pe) {
    Pe& sender = pes_[static_cast<std::size_t>(pe)];
    poller_.remove(sender.socket.get());
    sender.socket = common::Fd();
    check_never_joined();
}

void Job::on_lifeline(int pe) {
    Pe& lost = pes_[static_cast<std::size_t>(pe)];
    char unused;
    if (!lost.lifeline) return;
    const ssize_t size = recv(lost.lifeline.get(), &unused, 1, MSG_DONTWAIT);
    if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) return;
    while (receive(pe)) {
    }  // a goodbye that arrived just before
    close_lifeline(pe);
    if (lost.goodbye == 0) {
        lost.lost_at = now();
        lost.decided_at = lost.lost_at + lost_grace_s;
        lost.able_at_loss_s = common::able_seconds(lost.pid);
        lost.has_run_on = is_running_program(lost.member);
    } else if (lost.reaped || lost.goodbye == 'l') {
        settle(pe);
    }
}

void Job::close_lifeline(int pe) {
    Pe& lost = pes_[static_cast<std::size_t>(pe)];
    if (!lost.lifeline) return;
    poller_.remove(lost.lifeline.get());
    lost.lifeline = common::Fd();
    --lifelines_;
}

}  // namespace atl::cli
