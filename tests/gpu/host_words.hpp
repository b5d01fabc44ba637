// The kernels of tests/gpu/host_words.cu: they read words of the host heap that hosts write. They run on a
// separate stream, so that the host continues.
#pragma once

#include "atoll/device/team.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace atl::testing {

/// For each round r from 1 on, one block waits until `signal` is at least r. It counts the ints of `data`
/// that are not `expected` + r, and puts r into `answer` (in the device heap) of PE `to`.
struct HostWords {
    const std::uint64_t* signal;
    const int* data;
    int n, expected, rounds;
    std::uint64_t* answer;
    int to;
    unsigned long long* wrong;
};
void follow_host(const device::Team& team, const HostWords& words, cudaStream_t stream);
/// One thread: wait_until, wait_until_any and tests of 4-byte words; word 1 becomes 5, then word 0 becomes 7.
void wait_for_words(const device::Team& team, const std::int32_t* words, unsigned long long* wrong,
                    cudaStream_t stream);
/// One thread stores `value` into a pinned word of its own PE's host heap, for its host to see.
void store_for_host(std::uint64_t* word, std::uint64_t value, cudaStream_t stream);

}  // namespace atl::testing
