// Waiting for many descriptors at once.
#pragma once

#include <cerrno>
#include <cstdint>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

#include "common/descriptors/fd.hpp"

namespace atl::cli {

enum class Source : std::uint32_t { signals, socket, lifeline, output, sink, terminal, terminal_pipe };

/// Identifies the descriptor of an event: its kind, and the PE or the number of the stream.
struct Tag {
    Source source;
    std::uint32_t index;
};

class Poller {
  public:
    Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (!epoll_) throw std::system_error(errno, std::generic_category(), "epoll");
    }
    /// False if the descriptor cannot be polled. A regular file cannot; it is always ready.
    bool add(int fd, Tag tag, std::uint32_t events = EPOLLIN) {
        return control(EPOLL_CTL_ADD, fd, tag, events);
    }
    void change(int fd, Tag tag, std::uint32_t events) { control(EPOLL_CTL_MOD, fd, tag, events); }
    /// Call before closing the descriptor: a copy in another process would continue to deliver its events.
    void remove(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

    template <class Handle> void wait(int timeout_ms, Handle handle) {
        epoll_event events[64];
        const int count = epoll_wait(epoll_.get(), events, 64, timeout_ms);
        for (int i = 0; i < count; ++i) {
            const std::uint64_t data = events[i].data.u64;
            handle(Tag{static_cast<Source>(data >> 32), static_cast<std::uint32_t>(data)}, events[i].events);
        }
    }

  private:
    bool control(int what, int fd, Tag tag, std::uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.u64 = static_cast<std::uint64_t>(tag.source) << 32 | tag.index;
        return epoll_ctl(epoll_.get(), what, fd, &event) == 0;
    }

    common::Fd epoll_;
};

/// Signals to a launcher whose job has ended. They remain blocked, and act only while the reader of its
/// output does not read: the job's status is still to be returned.
class LastSignals {
  public:
    /// Discards earlier signals. `signals` is a non-blocking signalfd, `before` the mask before they were
    /// blocked.
    LastSignals(const common::Fd& signals, const sigset_t& before)
        : signals_(signals.get()), before_(before) {
        discard();
    }
    int fd() const { return signals_; }
    void discard() const {
        while (next() != 0) {
        }
    }
    /// Lets a pending signal do what it would do to a process that does not handle it.
    void obey() const {
        const int number = next();
        if (number == 0) return;
        sigset_t now;
        sigprocmask(SIG_SETMASK, &before_, &now);
        raise(number);
        sigprocmask(SIG_SETMASK, &now, nullptr);
    }

  private:
    int next() const {
        signalfd_siginfo info{};
        return read(signals_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
    }

    int signals_;
    const sigset_t& before_;
};

}  // namespace atl::cli
