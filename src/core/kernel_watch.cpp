#include "core/kernel_watch.hpp"

#include "common/log.hpp"
#include "core/job_state.hpp"
#include "core/kernel_control.hpp"

#include <poll.h>
#include <sys/mman.h>

#include <new>

namespace atl::core {

namespace {

constexpr int interval_ms = 100;

device::Watch* new_page() {
    void* page =
        ::mmap(nullptr, KernelWatch::bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return new (page) device::Watch{};
}

}  // namespace

void KernelWatch::Unmap::operator()(device::Watch* words) const { ::munmap(words, bytes); }

KernelWatch::KernelWatch(JobState& job) : job_(job), words_(new_page()), thread_([this] { watch(); }) {}

void KernelWatch::watch() {
    pollfd stop{stop_.fd(), POLLIN, 0};
    while (::poll(&stop, 1, interval_ms) <= 0) look();
    look();  // a kernel may have trapped just before the program gave up
}

void KernelWatch::look() {
    if (job_.board().header().abort.load(std::memory_order_acquire) != 0)
        __atomic_store_n(&words_->abort, 1u, __ATOMIC_RELEASE);
    if (told_ || __atomic_load_n(&words_->report.state, __ATOMIC_ACQUIRE) != 2) return;
    told_ = true;
    const bool waited = words_->report.compare != device::wrong_pe;
    const std::string text =
        "PE " + std::to_string(job_.pe()) +
        (waited ? " timed out in a kernel, in " : " gave a number of no PE in a kernel, in ") +
        report_text(words_->report) +
        ". The kernel was stopped and this PE's GPU context is lost, so the job ends." +
        (waited ? " Raise ATOLL_WAIT_TIMEOUT, or see why nobody does what it waits for." : "");
    common::say(text);
    job_.board().abort(job_.pe(), 1, text);
    job_.bootstrap().abort(1, text);
}

}  // namespace atl::core
