// The kernels of tests/gpu/kernels.cu, launched on the legacy stream and complete on return.
#pragma once

#include "atoll/device/team.hpp"

#include <cstdint>

namespace atl::testing {

enum class Together { thread, warp, block, grid };

/// Every PE stores 100 * its number + theirs into x[its number] of each PE.
void store_to_all(const device::Team& team, double* x);
/// sum[0] = the sum of x[0 … n_pes) of each PE, read by one thread.
void load_from_all(const device::Team& team, const double* x, double* sum);
void put_bytes(const device::Team& team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes,
               int pe, Together scope);
void get_bytes(const device::Team& team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes,
               int pe, Together scope);
/// Repeats `rounds` times: put_signal of `n` ints to the right neighbour, a wait for the left one's, a check,
/// and the credit. Counts wrong values in errors[0].
void ring(const device::Team& team, int* data, std::uint64_t* signal, std::uint64_t* credit, int n,
          int rounds, int* errors);

}  // namespace atl::testing
