// A team as a small value, passed to kernels as an argument: nothing is hidden, no symbol to fill. C++17 for
// nvcc, NVRTC, g++ and clang++; on the host the same code runs on the host heap.
#pragma once

#if defined(__CUDACC__)
#define ATOLL_ANYWHERE __host__ __device__
#else
#define ATOLL_ANYWHERE
#endif

namespace atl::device {

/// Made by `Team::device(Memory)`. New state goes behind `control`, so that no kernel's signature changes.
struct Team {
    int my_pe;         ///< within the team
    int n_pes;         ///< of the team
    char* window;      ///< slot 0
    long long stride;  ///< from slot to slot
    int my_slot;
    int first;  ///< team PE i has slot first + i * step,
    int step;
    const int* table;  ///< or table[i] where this is not null
    void* control;     ///< null in this release
};

ATOLL_ANYWHERE inline int slot_of(const Team& team, int pe) {
    return team.table ? team.table[pe] : team.first + pe * team.step;
}

/// The same object on a PE of the team. `symmetric` is an address in this PE's own slot.
template <class T> ATOLL_ANYWHERE T* peer(const Team& team, T* symmetric, int pe) {
    const long long distance = (slot_of(team, pe) - team.my_slot) * team.stride;
    return reinterpret_cast<T*>(reinterpret_cast<unsigned long long>(symmetric) +
                                static_cast<unsigned long long>(distance));
}

}  // namespace atl::device
