#include "gpu/kernel_watch.hpp"

#include "common/clock.hpp"
#include "common/log.hpp"
#include "gpu/job_view.hpp"
#include "gpu/report_text.hpp"

#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace atl::gpu {

namespace {

constexpr int interval_ms = 100;
/// Time for a program to make a call that throws a kernel's error as an exception. The kernel has
/// trapped, so the program's next GPU call returns at once.
constexpr std::chrono::seconds report_timeout{5};

static_assert(sizeof(device::Watch) <= KernelWatch::bytes);

device::Watch* new_page() {
    void* page =
        ::mmap(nullptr, KernelWatch::bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return new (page) device::Watch{};
}

}  // namespace

void KernelWatch::Unmap::operator()(device::Watch* words) const { ::munmap(words, bytes); }

KernelWatch::KernelWatch(JobView& job)
    : view_(job), job_(job.facts()), words_(new_page()), thread_([this] { watch(); }) {
    // For device functions that run on the host, with host memory as the GPU's.
    view_.set_host_check(*words_);
}

void KernelWatch::watch() {
    pollfd stop{stop_.fd(), POLLIN, 0};
    while (::poll(&stop, 1, interval_ms) <= 0) update();
    update(true);  // a kernel may have trapped just before the program gave up
}

/// Tells waiting kernels which PEs have ended, so that they stop and name them.
void KernelWatch::note_exited() {
    const common::BoardView& board = job_.board;
    if (board.header().exited.load(std::memory_order_acquire) == 0) return;
    // Without a launcher PE 0 detects deaths, until it ends.
    if (board.state(0) >= common::PeState::finalized) board.mark_dead();
    int others = 0;
    for (int pe = 0; pe < job_.n_pes; ++pe) {
        if (pe == job_.pe || board.state(pe) < common::PeState::finalized) continue;
        ++others;
        const auto number = static_cast<unsigned>(pe);
        if (number < device::Watch::most_exited)
            __atomic_fetch_or(&words_->exited_pes[number / 32], 1u << (number % 32), __ATOMIC_RELEASE);
    }
    if (others != 0) __atomic_store_n(&words_->exited, others == job_.n_pes - 1 ? 2u : 1u, __ATOMIC_RELEASE);
}

/// Shows on the board, for the table of PEs, the wait of a kernel that answered since the last check.
/// Otherwise shows that this PE waits for its stream, if that takes longer than one interval.
void KernelWatch::show_waiting() {
    const bool finishing = finishing_.load(std::memory_order_relaxed) > 0;
    unsigned& asked = words_->asked;
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) == 3) {
        const device::Report answer = words_->waiting;
        show(&answer, finishing);
    } else {
        show(nullptr, finishing && was_finishing_);
    }
    was_finishing_ = finishing;
    // 2: a kernel is writing, or was stopped while writing.
    if (__atomic_load_n(&asked, __ATOMIC_RELAXED) != 2) __atomic_store_n(&asked, 1u, __ATOMIC_RELEASE);
}

void KernelWatch::show(const device::Report* waiting, bool awaited) {
    std::string operation = waiting ? operation_text(*waiting) : awaited ? "its stream" : "";
    if (waiting && waiting->team != 0 && waiting->peer >= 0)
        operation += ", for team PE " + std::to_string(waiting->peer);
    if (operation != shown_) shown_since_ns_ = common::now_ns();
    if (operation.empty() && shown_.empty()) return;
    shown_ = operation;
    common::WaitCopy record;
    std::snprintf(record.operation, sizeof record.operation, "%s", operation.c_str());
    if (waiting) std::snprintf(record.site, sizeof record.site, "%s", thread_text(*waiting).c_str());
    record.team = waiting ? waiting->team : 0;
    record.peer = waiting && waiting->team == 0 ? waiting->peer : -1;
    record.word_bytes = waiting && waiting->subject == device::Subject::word ? 8 : 0;
    if (record.word_bytes != 0) {
        record.offset = common::absolute_address | waiting->address;
        record.compare = static_cast<std::uint32_t>(waiting->compare);
        record.expected = waiting->expected;
        record.found = waiting->found;
    }
    record.since_ns = shown_since_ns_;
    const auto how = operation.empty() ? common::GpuWait::none
                     : awaited         ? common::GpuWait::awaited
                                       : common::GpuWait::beside;
    record.active = static_cast<std::uint32_t>(how);
    common::write_wait(job_.board.entry(job_.pe).gpu, record);
}

void KernelWatch::update(bool is_last) {
    note_exited();
    show_waiting();
    if (job_.board.header().abort.load(std::memory_order_acquire) != 0)
        __atomic_store_n(&words_->abort, 1u, __ATOMIC_RELEASE);
    if (is_reported_ || is_raised_.load() || !has_report()) return;
    const auto now = std::chrono::steady_clock::now();
    if (!seen_) seen_ = now;
    if (job_.settings.raise_kernel_errors && !is_last && now - *seen_ < report_timeout) return;
    is_reported_ = true;
    const std::string text = error_text() + " The job ends.";
    common::say(text);
    view_.abort(text);
}

bool KernelWatch::has_report() const { return __atomic_load_n(&words_->report.state, __ATOMIC_ACQUIRE) >= 2; }

void KernelWatch::check() {
    if (!has_report()) return;
    is_raised_.store(true);
    throw Error(ErrorCode::kernel, error_text());
}

std::string KernelWatch::error_text() const {
    const device::Report& report = words_->report;
    const std::string me = "PE " + std::to_string(job_.pe);
    const std::string where =
        report_text(report) + ". " + kernel_text() + " was stopped and this process's GPU context is lost.";
    if (report.state == 3)
        return exited_text() + ", so the wait of a kernel of " + me + " could not end, in " + where;
    if (report.state == 4 && report.operation == device::Operation::collect)
        return "A kernel of " + me + " was sent more bytes than its dst has, in " + where;
    if (report.state == 4 && report.operation == device::Operation::receive)
        return "A kernel of " + me + " was sent a message that " +
               (report.found > report.expected ? "does not fit its dst"
                                               : "is not a whole number of elements") +
               ", in " + where;
    if (report.state == 4)
        return "A kernel of " + me + " received a message of another size than it expected, in " + where;
    if (report.subject == device::Subject::wrong_pe)
        return me + " passed an invalid PE in a kernel, in " + where;
    if (report.subject == device::Subject::wrong_index)
        return me + " passed an invalid index in a kernel, in " + where;
    if (report.subject == device::Subject::wrong_address)
        return me + " passed an address that is not symmetric in a kernel, in " + where;
    if (report.subject == device::Subject::not_reached)
        return "A kernel of " + me + " cannot do that: " + where;
    return me + " timed out in a kernel, in " + where +
           (report.bound_ns != 0 ? " Give this wait more time" : " Raise ATOLL_WAIT_TIMEOUT") +
           ", or find out why the awaited update did not come.";
}

void KernelWatch::started(std::string_view name, unsigned blocks, unsigned threads) {
    const std::lock_guard lock(starts_lock_);
    Start& start = starts_[n_starts_++ % starts_.size()];
    start.name = name;
    start.blocks = blocks;
    start.threads = threads;
}

/// Returns a text such as "The kernel ring, 4 blocks of 256 threads,". The name is the kernel's own, or those
/// of recently launched kernels with the same grid.
std::string KernelWatch::kernel_text() const {
    const device::Report& report = words_->report;
    if (report.blocks == 0) return "The kernel";
    std::string names;
    if (words_->name[0] != 0) {
        names.assign(words_->name, ::strnlen(words_->name, sizeof words_->name)).insert(0, " ");
    } else {
        const std::lock_guard lock(starts_lock_);
        std::vector<std::string_view> seen;
        for (const Start& start : starts_) {
            const bool is_grid = start.blocks == report.blocks || start.blocks == 0;
            if (!is_grid || start.threads != report.threads) continue;
            if (std::find(seen.begin(), seen.end(), start.name) != seen.end()) continue;
            seen.push_back(start.name);
            names += (names.empty() ? " " : " or ") + start.name;
        }
    }
    return "The kernel" + names + ", " + std::to_string(report.blocks) +
           (report.blocks == 1 ? " block" : " blocks") + " of " + std::to_string(report.threads) +
           (report.threads == 1 ? " thread," : " threads,");
}

/// Returns a text such as "PE 1, PE 3 left the job without finalize".
std::string KernelWatch::exited_text() const {
    std::string who;
    for (int pe = 0; pe < job_.n_pes; ++pe)
        if (pe != job_.pe && job_.board.state(pe) >= common::PeState::finalized)
            who += (who.empty() ? "PE " : ", PE ") + std::to_string(pe);
    const bool finalized = job_.board.header().left.load() == 0;
    return who + " " + common::exit_text(finalized ? common::PeState::finalized : common::PeState::left);
}

}  // namespace atl::gpu
