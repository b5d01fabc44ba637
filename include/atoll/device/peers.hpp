// Address of a symmetric object on another PE. With checks on (ATOLL_CHECK other than none), an invalid PE is
// reported with the operation. Then the kernel traps; on the host Error is thrown. Without checks the result
// is undefined. The same holds for addresses that are not symmetric, in sources compiled with
// -DATOLL_DEVICE_CHECK_ADDRESSES=1.
#pragma once

#include "atoll/device/detail/far.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

ATOLL_ANYWHERE inline Report wrong_pe_report(const Control* control, Operation operation, int pe, int n_pes) {
    Report what{};
    what.operation = operation;
    what.team = control->team;
    what.peer = pe;
    what.subject = Subject::wrong_pe;
    what.expected = static_cast<unsigned long long>(n_pes);
    return what;
}

#if defined(__CUDA_ARCH__)
__device__ __noinline__ inline void refuse_pe(const Control* control, Operation operation, int pe,
                                              int n_pes) {
#if defined(ATOLL_DEVICE_NO_TEAM)
    if (!control) ATOLL_DEVICE_NO_TEAM();
#endif
    if (control->watch && control->checks != 0)
        report_and_trap(const_cast<Watch*>(control->watch), wrong_pe_report(control, operation, pe, n_pes));
}
#else
inline void refuse_pe(const Control* control, Operation operation, int pe, int n_pes) {
    if (control->watch && control->watch->check && control->checks != 0)
        control->watch->check(*control->watch, wrong_pe_report(control, operation, pe, n_pes), 0);
}
#endif

/// One comparison if the number is valid. The report gets the team's fields, so that the team stays in
/// registers.
ATOLL_ANYWHERE inline void check_pe(const Team& team, Operation operation, int pe) {
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(team.n_pes))
        refuse_pe(team.control, operation, pe, team.n_pes);
}

/// The rare case: an invalid PE, or a team with a table.
ATOLL_APART int slot_asked(const Control* control, const int* table, Operation operation, int pe, int n_pes,
                           int regular) {
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(n_pes)) refuse_pe(control, operation, pe, n_pes);
    return table ? table[pe] : regular;
}

ATOLL_ANYWHERE inline Report wrong_address_report(const Control* control, Operation operation,
                                                  unsigned long long address, unsigned long long mine,
                                                  unsigned long long bytes) {
    Report what = wrong_pe_report(control, operation, -1, 0);
    what.subject = Subject::wrong_address;
    what.address = address;
    what.expected = mine;
    what.found = mine + bytes;
    return what;
}

#if defined(__CUDA_ARCH__)
__device__ __noinline__ inline void refuse_address(const Control* control, Operation operation,
                                                   unsigned long long address, unsigned long long mine,
                                                   unsigned long long bytes) {
    if (control->watch && control->checks != 0)
        report_and_trap(const_cast<Watch*>(control->watch),
                        wrong_address_report(control, operation, address, mine, bytes));
}
#else
inline void refuse_address(const Control* control, Operation operation, unsigned long long address,
                           unsigned long long mine, unsigned long long bytes) {
    if (control->watch && control->watch->check && control->checks != 0)
        control->watch->check(*control->watch, wrong_address_report(control, operation, address, mine, bytes),
                              0);
}
#endif

/// Checks that an address lies in this PE's slot. Other addresses have no counterpart at a peer's distance.
ATOLL_ANYWHERE inline void check_address(const Team& team, Operation operation, const void* symmetric) {
#if ATOLL_DEVICE_CHECK_ADDRESSES
    const auto address = reinterpret_cast<unsigned long long>(symmetric);
    const auto bytes = static_cast<unsigned long long>(team.stride);
    const auto mine = reinterpret_cast<unsigned long long>(team.window) +
                      static_cast<unsigned long long>(team.my_slot) * bytes;
    if (address - mine >= bytes) refuse_address(team.control, operation, address, mine, bytes);
#else
    static_cast<void>(team);
    static_cast<void>(operation);
    static_cast<void>(symmetric);
#endif
}

/// The route from this PE's addresses to another PE's.
struct Route {
    long long distance;  ///< distance to a near PE's slot
    int slot;            ///< negative for far PEs
    template <class T> ATOLL_ANYWHERE T* at(T* symmetric) const {
        return reinterpret_cast<T*>(reinterpret_cast<unsigned long long>(symmetric) +
                                    static_cast<unsigned long long>(distance));
    }
};
/// The route to a PE. For a valid number in a team without a table, it depends on the arguments alone. A loop
/// then computes it once, and keeps one test of a register. `hide` keeps compilers from seeing the test's
/// operands or the common part of both branches. They would move that code between the arrival of a word and
/// the next store.
ATOLL_ANYWHERE inline Route route_for(const Team& team, Operation operation, const void* symmetric, int pe) {
    check_address(team, operation, symmetric);
    const int regular = team.first + pe * team.step;
    const bool is_plain = (static_cast<unsigned>(pe) < static_cast<unsigned>(team.n_pes)) & !team.table;
    Route route{distance_to(team, regular), is_plain ? regular : -1};
    hide(route.slot);
    if (__builtin_expect(route.slot < 0, 0)) {
        route.slot = slot_asked(team.control, team.table, operation, pe, team.n_pes, regular);
        route.distance = distance_to(team, route.slot);
        hide(route.distance);
    }
    return route;
}
/// Address at a PE, for operations that need PEs in the window.
template <class T> ATOLL_ANYWHERE T* near_for(const Team& team, Operation operation, T* symmetric, int pe) {
    const Route route = route_for(team, operation, symmetric, pe);
    if (is_far(route.slot)) refuse_far(team.control, operation, route.slot);
    return route.at(symmetric);
}

}  // namespace detail

namespace detail {

template <class T>
ATOLL_ANYWHERE T* peer_or_null(const Team& team, Operation operation, T* symmetric, int pe) {
    const Route route = route_for(team, operation, symmetric, pe);
    return is_far(route.slot) ? nullptr : route.at(symmetric);
}

}  // namespace detail

/// Return PE `pe`'s copy of `symmetric`, in the form of `symmetric`: its loads and stores are remote.
/// `symmetric` is an address in this PE's own slot. The result is null if only a transport reaches the PE.
/// Memory order: loads and stores through the result have no order; quiet completes them.
template <class T> ATOLL_ANYWHERE T* peer(const Team& team, T* symmetric, int pe) {
    return detail::peer_or_null(team, Operation::peer, symmetric, pe);
}

/// Return the address of PE `pe`'s copy of `symmetric`. `symmetric` is an address in this PE's own slot. The
/// result is null if only a transport reaches the PE. Memory order: loads and stores through the result have
/// no order; quiet completes them.
template <class T> ATOLL_ANYWHERE T* ptr(const Team& team, T* symmetric, int pe) {
    return detail::peer_or_null(team, Operation::ptr, symmetric, pe);
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
