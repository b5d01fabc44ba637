// Threads of the library. They handle no signals (handlers run on the program's threads), and can be woken to
// stop.
#pragma once

#include <csignal>
#include <cstdint>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <thread>
#include <utility>

#include "common/descriptors/fd.hpp"

namespace atl::common {

/// An event descriptor: readable from a signal until `clear`.
class Wake {
  public:
    Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    int fd() const noexcept { return fd_.get(); }
    void signal() const noexcept {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(fd_.get(), &one, sizeof one));
    }
    void clear() const noexcept {
        std::uint64_t count = 0;
        static_cast<void>(!::read(fd_.get(), &count, sizeof count));
    }

  private:
    Fd fd_;
};

class QuietThread {
  public:
    template <class Body> explicit QuietThread(Body body) : owner_(::getpid()) {
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread(std::move(body));
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    QuietThread(const QuietThread&) = delete;
    QuietThread& operator=(const QuietThread&) = delete;
    /// Joins the thread; its owner has told it to stop. In a forked child the thread does not exist, and this
    /// returns at once.
    ~QuietThread() {
        if (::getpid() == owner_) {
            thread_.join();
        } else {
            thread_.detach();
        }
    }

  private:
    pid_t owner_;
    std::thread thread_;
};

}  // namespace atl::common
