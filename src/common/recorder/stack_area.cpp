#include "common/recorder/stack_area.hpp"

#include "common/elf/stack_walk.hpp"
#include "common/recorder/guarded_call.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace atl::common {

namespace {

// A signal has one handler in a process, and a process is one PE of a launcher.
std::atomic<StackArea*> offered{nullptr};
std::atomic<void (*)() noexcept> when_asked{nullptr};
static_assert(std::atomic<StackArea*>::is_always_lock_free);

/// Programs rarely use the last real-time signals.
int stack_signal() { return SIGRTMAX - 3; }

/// True if the signal was sent to this thread; false for the signal to the process, which precedes it.
bool is_for_thread(const siginfo_t* info) {
    return info != nullptr && info->si_code == SI_QUEUE && info->si_value.sival_int == one_thread;
}

void write_stack(const void* context, bool is_first) {
#if defined(__SANITIZE_THREAD__)  // its runtime calls handlers later, when the context no longer holds
    ucontext_t here;
    ::getcontext(&here);
    context = &here;
#endif
    if (StackArea* area = offered.load(std::memory_order_acquire)) {
        const auto asked = when_asked.load(std::memory_order_acquire);
        if (asked != nullptr && is_first) asked();
        const std::uint32_t index = area->next.fetch_add(1, std::memory_order_acq_rel);
        if (index < StackArea::most_threads) {
            StackArea::Thread& thread = area->threads[index];
            std::uintptr_t frames[StackArea::most_frames];
            const std::size_t n = walk_stack(context, frames, StackArea::most_frames);
            for (std::size_t i = 0; i < n; ++i)
                thread.addresses[i].store(frames[i], std::memory_order_relaxed);
            thread.id.store(static_cast<std::int32_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
            thread.frames.store(static_cast<std::uint32_t>(n), std::memory_order_release);
        }
        area->answers.fetch_add(1, std::memory_order_acq_rel);
    }
}

void answer(int, siginfo_t* info, void* context) {
    const int error = errno;
    write_stack(context, !is_for_thread(info));
    errno = error;
}

std::atomic<void (*)(int)> first_handler{nullptr};

void answer_after_first(int number, siginfo_t* info, void* context) {
    const int error = errno;
    const bool is_first = !is_for_thread(info);
    const auto first = first_handler.load(std::memory_order_acquire);
    if (first != nullptr && is_first) guarded_call(first, number);
    write_stack(context, is_first);
    errno = error;
}

bool install(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction ours {};
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_RESTART | SA_SIGINFO;
    ::sigemptyset(&ours.sa_mask);
    return ::sigaction(stack_signal(), &ours, nullptr) == 0;
}

}  // namespace

void NotedText::set(std::string_view from) noexcept {
    is_set.store(0, std::memory_order_release);
    const std::size_t bytes = std::min(from.size(), sizeof text - 1);
    from.copy(text, bytes);
    text[bytes] = '\0';
    is_set.store(bytes == 0 ? 0 : 1, std::memory_order_release);
}

void note_handled(std::string_view text) noexcept {
    StackArea* const area = offered.load(std::memory_order_acquire);
    if (area != nullptr && (!text.empty() || area->handled.is_set.load(std::memory_order_relaxed) != 0))
        area->handled.set(text);
}

void offer_stacks(StackArea& area) noexcept {
    static std::atomic<bool> installed{false};
    struct sigaction now {};
    if (::sigaction(stack_signal(), nullptr, &now) != 0) return;
    if (now.sa_handler != SIG_DFL && !installed.load(std::memory_order_relaxed)) return;
    offered.store(&area, std::memory_order_release);
    if (installed.exchange(
            true, std::memory_order_relaxed)) {  // another init; Python may have put its own before ours
        area.signal.store(stack_signal(), std::memory_order_release);
        return;
    }
    if (install(&answer)) area.signal.store(stack_signal(), std::memory_order_release);
}

void answer_after_current_handler(void (*instead)(int)) noexcept {
    struct sigaction now {};
    if (::sigaction(stack_signal(), nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0) return;
    if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;  // ours has SA_SIGINFO
    first_handler.store(instead != nullptr ? instead : now.sa_handler, std::memory_order_release);
    install(&answer_after_first);
}

void set_asked(void (*asked)() noexcept) noexcept { when_asked.store(asked, std::memory_order_release); }

void withdraw_stacks(const StackArea& area) noexcept {
    StackArea* mine = offered.load(std::memory_order_acquire);
    if (mine != &area) return;
    mine->signal.store(0, std::memory_order_release);
    offered.store(nullptr, std::memory_order_release);
}

StackArea* offered_stacks() noexcept { return offered.load(std::memory_order_acquire); }

}  // namespace atl::common
