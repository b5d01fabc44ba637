#include "gpu/heap/local_memory.hpp"

#include "common/text.hpp"
#include "gpu/heap/device_memory.hpp"

namespace atl::gpu {

bool LocalMemory::is_on_gpu(const void* address) const {
    if (device_.in_window(address)) return true;
    if (!address || pinned_.has(address) || host_.surely_has(address)) return false;
    return gpu_.pinning().is_on_gpu(address);
}

bool LocalMemory::reaches(const void* address, std::size_t bytes) const {
    return pinned_.has(address) ? pinned_.covers(address, bytes) : gpu_.pinning().reaches(address);
}

void LocalMemory::check_pinned(const void* address, std::size_t bytes) const {
    if (pinned_.has(address) && !pinned_.covers(address, bytes))
        throw Error(ErrorCode::invalid_argument,
                    common::bytes_text(bytes) + " at " + common::address_text(address) +
                        " are in the host heap and not pinned, so no kernel reaches them. Pin the block "
                        "first (Job::pin, atoll.pin), while no kernel waits.");
}

}  // namespace atl::gpu
