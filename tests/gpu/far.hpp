// The kernels of tests/gpu/far.cu, launched on the legacy stream and waited for.
#pragma once

#include "atoll/device/team.hpp"

#include <cstdint>

namespace atl::testing {

/// Every thread of `blocks` blocks of 64 adds to counts[0] and counts[1] of `pe`, fetching and not, and
/// stores its number in x[its number] there; then quiet. errors[0] counts fetched values that did not grow.
void far_crowd(const device::Team& team, std::uint64_t* counts, int* x, int* errors, int blocks, int pe);

/// `rounds` times, by one block: fills src, puts it with a signal to `pe`, waits for the own signal, and
/// checks what came; from shared memory, from global memory, and without waiting, in turns. `seed` is this
/// PE's, `theirs` of who sends here.
void far_exchange(const device::Team& team, int* dst, int* src, std::uint64_t* signal, int n, int rounds,
                  int seed, int theirs, int pe, int* errors);

/// One thread: p, g of all sizes, put and get by its own stack, strided forms, atomics, and their values
/// checked; `pe` is asked by nobody else meanwhile. ptr() is null where `far`.
void far_forms(const device::Team& team, std::uint64_t* words, int* x, int pe, bool far, int* errors);

/// `rounds` barriers of one block with what each PE put to all before.
void far_meet(const device::Team& team, int* x, int rounds, int* errors);

}  // namespace atl::testing
