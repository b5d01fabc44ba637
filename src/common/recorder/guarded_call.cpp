#include "common/recorder/guarded_call.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <sys/syscall.h>
#include <unistd.h>

namespace atl::common {

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS};
struct sigaction before[std::size(faults)];
sigjmp_buf after_fault;
std::atomic<long> guarded_thread{0};
std::atomic<int> guarded_process{0};  // a child that was forked meanwhile has no such thread

void on_fault(int number, siginfo_t* info, void*) {
    if (guarded_thread.load(std::memory_order_acquire) == ::syscall(SYS_gettid)) ::siglongjmp(after_fault, 1);
    // The fault of another thread repeats itself, and then gets the handler of the program. A signal that was
    // sent is sent again.
    ::sigaction(number, &before[number == SIGBUS ? 1 : 0], nullptr);
    if (info->si_code <= 0) ::raise(number);
}

void guard() {
    struct sigaction ours {};
    ours.sa_sigaction = &on_fault;
    ours.sa_flags = SA_SIGINFO;
    ::sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < std::size(faults); ++i) ::sigaction(faults[i], &ours, &before[i]);
}

}  // namespace

bool guarded_call(void (*function)(int), int argument) noexcept {
    if (guarded_process.exchange(::getpid(), std::memory_order_acq_rel) != ::getpid())
        guarded_thread.store(0, std::memory_order_release);
    long no_thread = 0;
    if (!guarded_thread.compare_exchange_strong(no_thread, ::syscall(SYS_gettid), std::memory_order_acq_rel))
        return false;
    guard();
    const bool is_first = sigsetjmp(after_fault, 1) == 0;
    if (is_first) function(argument);
    for (std::size_t i = 0; i < std::size(faults); ++i) ::sigaction(faults[i], &before[i], nullptr);
    guarded_thread.store(0, std::memory_order_release);
    return is_first;
}

}  // namespace atl::common
