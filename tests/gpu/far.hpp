// The kernels of tests/gpu/far.cu, launched on the legacy stream and complete on return.
#pragma once

#include "atoll/device/team.hpp"

#include <cstdint>

namespace atl::testing {

/// Every thread of `blocks` blocks of 64 adds to counts[0] and counts[1] of `pe`, fetching and not. It stores
/// its number in x[its number] there, followed by quiet. errors[0] counts fetched values that did not
/// increase.
void far_crowd(const device::Team& team, std::uint64_t* counts, int* x, int* errors, int blocks, int pe);

/// One block repeats `rounds` times: fill src, put it with a signal to `pe`, wait for its own signal, and
/// check the received data. The source is shared memory, global memory, and a put without waiting, in turn.
/// `seed` is this PE's, `theirs` is that of the PE that sends here.
void far_exchange(const device::Team& team, int* dst, int* src, std::uint64_t* signal, int n, int rounds,
                  int seed, int theirs, int pe, int* errors);

/// One thread checks p, g of all sizes, put and get of its own stack, strided forms, and atomics. No other PE
/// uses `pe` meanwhile. ptr() must be null if `far`.
void far_forms(const device::Team& team, std::uint64_t* words, int* x, int pe, bool far, int* errors);

/// `rounds` barriers of one block, after puts of each PE to all.
void far_meet(const device::Team& team, int* x, int rounds, int* errors);

}  // namespace atl::testing
