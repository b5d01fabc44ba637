#include "gpu/collectives.cuh"

#ifdef ATOLL_TEST_ALL_TYPES
namespace atl::testing {

template void launch_collective<__nv_bfloat16>(const Team&, Collective, Together, void*, const void*,
                                               std::uint64_t, int, std::uint64_t*);
template void launch_collective<signed char>(const Team&, Collective, Together, void*, const void*,
                                             std::uint64_t, int, std::uint64_t*);

}  // namespace atl::testing
#endif
