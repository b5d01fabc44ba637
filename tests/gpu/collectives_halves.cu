#include "gpu/collectives.cuh"

namespace atl::testing {

template void launch_collective<__half>(const Team&, Collective, Together, void*, const void*, std::uint64_t,
                                        int, std::uint64_t*);

}  // namespace atl::testing
