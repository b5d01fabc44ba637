// The kernels of tests/gpu/collectives.cu: one collective per launch, complete on return.
#pragma once

#include "gpu/kernels.hpp"

namespace atl::testing {

enum class Collective { broadcast, fcollect, alltoall, collect, sum, max, sum_scatter };
/// Types from bfloat16 on only with ATOLL_TEST_ALL_TYPES: they take nvcc longer than the others together.
enum class Element {
    byte,
    int32,
    float32,
    float64,
    half,
    bfloat16,
    int8,
    int16,
    uint16,
    uint32,
    int64,
    uint64
};

/// `scope` is warp, block or grid. `result` gets the result of collect.
void run_collective(const device::Team& team, Collective which, Element type, Together scope, void* dst,
                    const void* src, std::uint64_t count, int root, std::uint64_t* result);

}  // namespace atl::testing
