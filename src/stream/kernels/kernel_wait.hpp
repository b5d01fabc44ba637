// KernelWait: a wait of a kernel that runs on the host, once it no longer spins.
#pragma once

#include "atoll/detail/wait.hpp"
#include "atoll/device/control.hpp"

namespace atl::stream {

/// From construction to destruction the wait is one of the host's. The job board shows it, and its errors
/// name the array. It ends with the job, by the time limit or by Ctrl-C.
class KernelWait {
  public:
    /// `waiting` is copied. Its word must stay valid.
    KernelWait(const device::Watch& watch, const device::Report& waiting);
    KernelWait(const KernelWait&) = delete;
    KernelWait& operator=(const KernelWait&) = delete;

    /// Yields or sleeps between two polls. Throws Error: timeout, pe_died, interrupted, not_initialized, and
    /// collective_mismatch for a team whose members enqueued different calls on streams.
    void pause();

  private:
    core::JobState& job_;
    int team_;
    detail::WaitReason reason_;
    detail::SlowWait slow_;
};

}  // namespace atl::stream
