// Context: an ordering domain for one-sided operations on the PEs of one team.
#pragma once

#include "atoll/waits.hpp"

namespace atl {

class Team;
class Job;

struct ContextOptions {
    bool private_to_thread = false;  ///< only the creating thread uses it
    bool serialized = false;         ///< used by several threads, never at once
    bool nostore = false;            ///< quiet and fence need not order this PE's plain stores
};

/// An ordering domain for one-sided operations. All operations are members: put, get, p, g, iput, ibput,
/// put_signal (rma.hpp), atomic_* (atomics.hpp), wait_until, test and their families (waits.hpp), fence,
/// quiet, pe_quiet. PE numbers are the team's. Thread-safe unless created private or serialized. A handle:
/// copies name the same context. Destroying the last copy destroys the context, after an implicit local
/// quiet. Source: OpenSHMEM 1.6, section 9.4.
class ATOLL_API Context : public detail::WaitOps {
  public:
    Context() = default;
    explicit Context(std::shared_ptr<core::ContextState> state);

    explicit operator bool() const noexcept { return state_ != nullptr; }
    friend bool operator==(const Context& a, const Context& b) noexcept { return a.state_ == b.state_; }

    /// The address at which this PE can load and store `symmetric` of `pe` (OpenSHMEM's shmem_ptr), or null.
    /// For device memory, the address is valid in kernels of this PE's GPU.
    template <class T> T* ptr(T* symmetric, int pe) const {
        route_any(symmetric, sizeof(T), pe);  // checks the arguments
        return static_cast<T*>(pointer(const_cast<std::remove_const_t<T>*>(symmetric), map_.slot(pe), pe));
    }

  private:
    void* pointer(void* symmetric, detail::Slot slot, int pe) const noexcept;
};

}  // namespace atl
