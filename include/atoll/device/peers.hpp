// Where a symmetric object stands on another PE. With checks on (ATOLL_CHECK other than none) a PE that the
// team has not is reported, with the operation, and the kernel traps; on the host Error is thrown. Else
// nothing is said of what happens.
#pragma once

#include "atoll/device/far.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_WAYS {

namespace detail {

ATOLL_ANYWHERE inline Report wrong_pe_report(const Control* control, Operation operation, int pe, int n_pes) {
    Report what{};
    what.operation = static_cast<int>(operation);
    what.team = control->team;
    what.peer = pe;
    what.compare = wrong_pe;
    what.expected = static_cast<unsigned long long>(n_pes);
    return what;
}

#if defined(__CUDA_ARCH__)
__device__ __noinline__ inline void refuse_pe(const Control* control, Operation operation, int pe,
                                              int n_pes) {
    if (control->watch && control->checks != 0)
        report_and_trap(const_cast<Watch*>(control->watch), wrong_pe_report(control, operation, pe, n_pes));
}
#else
inline void refuse_pe(const Control* control, Operation operation, int pe, int n_pes) {
    if (control->watch && control->watch->look && control->checks != 0)
        control->watch->look(*control->watch, wrong_pe_report(control, operation, pe, n_pes), 0);
}
#endif

/// One comparison where the number is right. The team goes by its parts, so that it stays in registers.
ATOLL_ANYWHERE inline void check_pe(const Team& team, Operation operation, int pe) {
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(team.n_pes))
        refuse_pe(team.control, operation, pe, team.n_pes);
}

/// Negative of far PEs.
ATOLL_ANYWHERE inline int slot_for(const Team& team, Operation operation, int pe) {
    check_pe(team, operation, pe);
    return slot_of(team, pe);
}
/// For operations that reach PEs in the window only.
template <class T> ATOLL_ANYWHERE T* near_for(const Team& team, Operation operation, T* symmetric, int pe) {
    const int slot = slot_for(team, operation, pe);
    if (is_far(slot)) refuse_far(team.control, operation, slot);
    return at_slot(team, symmetric, slot);
}

}  // namespace detail

namespace detail {

template <class T>
ATOLL_ANYWHERE T* peer_or_null(const Team& team, Operation operation, T* symmetric, int pe) {
    const int slot = slot_for(team, operation, pe);
    return is_far(slot) ? nullptr : at_slot(team, symmetric, slot);
}

}  // namespace detail

/// The same object on a PE of the team, null where only a transport reaches it. `symmetric` is an address in
/// this PE's own slot.
template <class T> ATOLL_ANYWHERE T* peer(const Team& team, T* symmetric, int pe) {
    return detail::peer_or_null(team, Operation::peer, symmetric, pe);
}

/// OpenSHMEM's name of `peer`.
template <class T> ATOLL_ANYWHERE T* ptr(const Team& team, T* symmetric, int pe) {
    return detail::peer_or_null(team, Operation::ptr, symmetric, pe);
}

}  // namespace ATOLL_DEVICE_WAYS
}  // namespace atl::device
