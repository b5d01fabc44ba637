// KernelWatch: connects the host and a PE's spinning kernels. Kernels learn that the job is over, and the
// host that a kernel's wait exceeded its bound.
#pragma once

#include "atoll/device/control.hpp"
#include "common/quiet_thread.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace atl::gpu {

class JobView;
struct JobFacts;

/// A thread that polls the job's abort word and the kernels' report a few times a second, and informs each
/// side of the other. It makes no CUDA calls: these may wait for the very kernel that spins.
class KernelWatch {
  public:
    explicit KernelWatch(JobView& job);
    ~KernelWatch() { stop_.signal(); }
    KernelWatch(const KernelWatch&) = delete;
    KernelWatch& operator=(const KernelWatch&) = delete;

    /// The words, in whole pages that the GPU can access.
    device::Watch& words() { return *words_; }
    static constexpr std::size_t bytes = 4096;
    /// Throws Error(kernel) if a kernel has left a report. The watch then does not end the job for it.
    void check();
    /// Implements Job::note_kernel. Any thread may call it.
    void started(std::string_view name, unsigned blocks, unsigned threads);

    /// Marks, for its lifetime, that the PE waits for a stream in a call of the library.
    class Finish {
      public:
        explicit Finish(KernelWatch* watch) : watch_(watch) {
            if (watch_) watch_->finishing_.fetch_add(1, std::memory_order_relaxed);
        }
        ~Finish() {
            if (watch_) watch_->finishing_.fetch_sub(1, std::memory_order_relaxed);
        }
        Finish(const Finish&) = delete;
        Finish& operator=(const Finish&) = delete;

      private:
        KernelWatch* watch_;
    };

  private:
    void watch();
    void show_waiting();
    void show(const device::Report* waiting, bool awaited);
    void update(bool is_last = false);
    bool has_report() const;
    std::string error_text() const;
    void note_exited();
    std::string exited_text() const;
    std::string kernel_text() const;

    struct Start {
        std::string name;
        unsigned blocks = 0, threads = 0;
    };
    struct Unmap {
        void operator()(device::Watch* words) const;
    };
    JobView& view_;
    const JobFacts& job_;
    std::unique_ptr<device::Watch, Unmap> words_;
    mutable std::mutex starts_lock_;
    std::array<Start, 32> starts_;  ///< the latest launches, as a ring
    std::size_t n_starts_ = 0;
    bool is_reported_ = false;
    std::atomic<bool> is_raised_{false};
    std::atomic<int> finishing_{0};
    bool was_finishing_ = false;  ///< value at the last update
    std::uint64_t shown_since_ns_ = 0;
    std::string shown_;
    std::optional<std::chrono::steady_clock::time_point> seen_;  ///< when the report was first seen
    const common::Wake stop_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace atl::gpu
