#include "cli/output/sink.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/output/events.hpp"

namespace atl::cli {
namespace {

// The bytes that a pipe takes without blocking once it polls as writable.
constexpr std::size_t sure_bytes = 4096;

bool is_retried(int error) { return error == EAGAIN || error == EINTR; }

Sink::Kind kind_of(int fd, const struct stat& status) {
    if (isatty(fd)) return Sink::Kind::terminal;
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return Sink::Kind::pipe;
    return Sink::Kind::file;
}

}  // namespace

Sink::Sink(int fd) : fd_(fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return;
    kind_ = kind_of(fd, status);
    is_socket_ = S_ISSOCK(status.st_mode);
    // O_NONBLOCK on the descriptor itself would affect every process that shares it, such as a shell.
    if (kind_ != Kind::file && !is_socket_)
        own_ = common::Fd(open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                               O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

bool Sink::is_same_as(const Sink& other) const {
    struct stat mine {};
    struct stat its {};
    return fstat(fd_, &mine) == 0 && fstat(other.fd_, &its) == 0 && mine.st_dev == its.st_dev &&
           mine.st_ino == its.st_ino;
}

void Sink::write(std::string_view first, std::string_view second) {
    if (error_ != 0) return;
    if (backlog() == 0) {
        const std::size_t written = write_some(first, second);
        const std::size_t of_first = std::min(written, first.size());
        first.remove_prefix(of_first);
        second.remove_prefix(written - of_first);
        if (error_ != 0) return;
    }
    pending_.append(first).append(second);
}

void Sink::go_on() {
    if (backlog() == 0) return;
    constexpr std::size_t most_done = 1 << 20;
    done_ += write_some(std::string_view(pending_).substr(done_), {});
    if (error_ != 0 || backlog() == 0) {
        pending_.clear();
        done_ = 0;
    } else if (done_ > most_done) {
        pending_.erase(0, done_);
        done_ = 0;
    }
}

void Sink::finish(const LastSignals& signals) {
    while (backlog() > 0) {
        pollfd ready[] = {{fd(), POLLOUT, 0}, {signals.fd(), POLLIN, 0}};
        poll(ready, std::size(ready), -1);
        if (ready[0].revents != 0) {
            signals.discard();
            go_on();
        } else if (ready[1].revents != 0) {
            signals.obey();
        }
    }
}

bool Sink::has_room() const {
    if (kind_ == Kind::file || own_ || is_socket_) return true;
    pollfd room{fd_, POLLOUT, 0};
    return poll(&room, 1, 0) > 0;
}

std::size_t Sink::write_some(std::string_view first, std::string_view second) {
    std::size_t done = 0;
    const std::size_t all = first.size() + second.size();
    while (done < all && has_room()) {
        const std::size_t of_first = std::min(done, first.size());
        iovec parts[2] = {
            {const_cast<char*>(first.data()) + of_first, first.size() - of_first},
            {const_cast<char*>(second.data()) + (done - of_first), second.size() - (done - of_first)}};
        if (kind_ != Kind::file && !own_ && !is_socket_) {
            parts[0].iov_len = std::min(parts[0].iov_len, sure_bytes);
            if (parts[0].iov_len > 0) parts[1].iov_len = 0;
            parts[1].iov_len = std::min(parts[1].iov_len, sure_bytes);
        }
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        const ssize_t written =
            is_socket_ ? sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL) : writev(fd(), parts, 2);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            if (!is_retried(errno)) error_ = errno;
            break;
        }
        done += static_cast<std::size_t>(written);
    }
    return done;
}

}  // namespace atl::cli
