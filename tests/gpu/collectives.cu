#include "gpu/collectives.hpp"

#include "atoll/device/half.hpp"

#include <stdexcept>

namespace atl::testing {

template <class T>
void launch_collective(const device::Team& team, Collective which, Together scope, void* to, const void* from,
                       std::uint64_t count, int root, std::uint64_t* result);

void run_collective(const device::Team& team, Collective which, Element type, Together scope, void* dst,
                    const void* src, std::uint64_t count, int root, std::uint64_t* result) {
    switch (type) {
        case Element::byte:
            return launch_collective<unsigned char>(team, which, scope, dst, src, count, root, result);
        case Element::int32:
            return launch_collective<int>(team, which, scope, dst, src, count, root, result);
        case Element::float32:
            return launch_collective<float>(team, which, scope, dst, src, count, root, result);
        case Element::float64:
            return launch_collective<double>(team, which, scope, dst, src, count, root, result);
        case Element::half:
            return launch_collective<__half>(team, which, scope, dst, src, count, root, result);
#ifdef ATOLL_TEST_ALL_TYPES
        case Element::bfloat16:
            return launch_collective<__nv_bfloat16>(team, which, scope, dst, src, count, root, result);
        case Element::int8:
            return launch_collective<signed char>(team, which, scope, dst, src, count, root, result);
        case Element::int16:
            return launch_collective<short>(team, which, scope, dst, src, count, root, result);
        case Element::uint16:
            return launch_collective<unsigned short>(team, which, scope, dst, src, count, root, result);
        case Element::uint32:
            return launch_collective<unsigned>(team, which, scope, dst, src, count, root, result);
        case Element::int64:
            return launch_collective<long long>(team, which, scope, dst, src, count, root, result);
        case Element::uint64:
            return launch_collective<unsigned long long>(team, which, scope, dst, src, count, root, result);
#endif
        default:
            throw std::runtime_error("built without ATOLL_TEST_ALL_TYPES");
    }
}

}  // namespace atl::testing
