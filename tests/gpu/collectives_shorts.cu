#include "gpu/collectives.cuh"

#ifdef ATOLL_TEST_ALL_TYPES
namespace atl::testing {

template void launch_collective<short>(const Team&, Collective, Together, void*, const void*, std::uint64_t,
                                       int, std::uint64_t*);
template void launch_collective<unsigned short>(const Team&, Collective, Together, void*, const void*,
                                                std::uint64_t, int, std::uint64_t*);

}  // namespace atl::testing
#endif
