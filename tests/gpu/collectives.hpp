// The kernels of tests/gpu/collectives.cu: one collective a launch, waited for.
#pragma once

#include "gpu/kernels.hpp"

namespace atl::testing {

enum class Collective { broadcast, fcollect, alltoall, collect, sum, max, sum_scatter };
enum class Element { byte, int32, float32, float64, half };

/// `scope` is warp, block or grid. `result` gets what collect returns.
void run_collective(const device::Team& team, Collective which, Element type, Together scope, void* dst,
                    const void* src, std::uint64_t count, int root, std::uint64_t* result);

}  // namespace atl::testing
