#include "common/descriptors/fork_guard.hpp"

#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <set>
#include <sys/eventfd.h>

namespace atl::common {
namespace {

// Fork handlers belong to the process, so this does too. Never destroyed: a fork may come after the end of
// main.
struct Guarded {
    std::mutex mutex;
    std::set<int> fds;
};
Guarded& guarded() {
    static Guarded& instance = *new Guarded;
    return instance;
}

void in_child() {
    const int nothing = ::eventfd(0, EFD_CLOEXEC);
    for (const int fd : guarded().fds) ::dup3(nothing, fd, O_CLOEXEC);
    ::close(nothing);
    guarded().mutex.unlock();
}

void install_once() {
    static const int installed =
        ::pthread_atfork([] { guarded().mutex.lock(); }, [] { guarded().mutex.unlock(); }, in_child);
    static_cast<void>(installed);
}

}  // namespace

void replace_after_fork(int fd) { NoFork().guard(fd); }

void close_guarded(Fd fd) noexcept {
    const std::lock_guard lock(guarded().mutex);
    guarded().fds.erase(fd.get());
    const Fd closing = std::move(fd);
}

NoFork::NoFork() {
    install_once();
    guarded().mutex.lock();
}
NoFork::~NoFork() { guarded().mutex.unlock(); }
void NoFork::guard(int fd) const { guarded().fds.insert(fd); }

}  // namespace atl::common
