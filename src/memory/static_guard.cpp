#include "memory/static_guard.hpp"

#include "atoll/detail/memory_ops.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace atl::memory {

namespace {

// A signal handler sees only global state. It remains installed: a thread may enter it late, when the pages
// are writable again. It then only has to retry the store.
std::atomic<bool> moving{false};
std::atomic<std::uintptr_t> guarded_begin{0}, guarded_end{0};
struct sigaction previous;

void wait_for_the_move(int number, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (address >= guarded_begin.load() && address < guarded_end.load() && info->si_code == SEGV_ACCERR) {
        while (moving.load(std::memory_order_acquire)) detail::cpu_pause();
        return;
    }
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
    ::sigaction(number, &previous, nullptr);  // the fault repeats, and the previous handler gets it
}

int threads_of_this_process() {
    DIR* tasks = ::opendir("/proc/self/task");
    if (!tasks) return 2;
    int count = 0;
    while (const dirent* entry = ::readdir(tasks)) count += entry->d_name[0] != '.';
    ::closedir(tasks);
    return count;
}

}  // namespace

WriteGuard::WriteGuard(const StaticData& data) : data_(data) {
    if (threads_of_this_process() == 1) return;
    armed_ = true;
    guarded_begin = data.begin();
    guarded_end = data.begin() + data.bytes();
    moving = true;
    struct sigaction action {};
    action.sa_sigaction = wait_for_the_move;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    struct sigaction before {};
    ::sigaction(SIGSEGV, &action, &before);
    if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != wait_for_the_move) previous = before;
    for (const StaticData::Segment& segment : data.segments)
        ::syscall(SYS_mprotect, segment.begin, segment.end - segment.begin, PROT_READ);
}

WriteGuard::~WriteGuard() {
    if (!armed_) return;
    // If the move failed, the old pages are still mapped; the new ones are writable anyway.
    for (const StaticData::Segment& segment : data_.segments)
        ::syscall(SYS_mprotect, segment.begin, segment.end - segment.begin, segment.protection);
    moving.store(false, std::memory_order_release);
}

}  // namespace atl::memory
