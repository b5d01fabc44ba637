#include "core/base/device_access.hpp"

#include "core/base/job_base.hpp"

namespace atl::core {

DeviceAccess::DeviceAccess(JobBase& job, const UpperLayers& upper) : job_(job), upper_(upper) {}

DeviceAccess::~DeviceAccess() = default;

gpu::DeviceMemory& DeviceAccess::open() {
    const Topology& topology = job_.topology();
    if (topology.hosts().n_domains > 1 && !job_.transport()->carries_device_heaps())
        throw Error(ErrorCode::unsupported,
                    "This job has PEs on " + std::to_string(topology.hosts().n_hosts()) +
                        " hosts, and ATOLL_TRANSPORT=" + std::string(job_.transport()->name()) +
                        " carries no device heaps between them; use ATOLL_TRANSPORT=ucx, or allocate host "
                        "memory.");
    if (!services_) {
        // All PEs have made the call, so any further wait is for PEs that open a GPU.
        const StartWaits::Scope start(job_.waits().at_start);
        services_ = upper_.open_device(job_.job_state());
        opened_.store(&services_->memory(), std::memory_order_release);
        is_open_.store(true, std::memory_order_relaxed);
    }
    return services_->memory();
}

void DeviceAccess::end_services() noexcept {
    if (services_) services_->end();
}

void DeviceAccess::hide() noexcept {
    is_open_.store(false, std::memory_order_relaxed);
    opened_.store(nullptr, std::memory_order_release);
}

void DeviceAccess::close() noexcept { services_.reset(); }

void DeviceAccess::abandon() noexcept { static_cast<void>(services_.release()); }

}  // namespace atl::core
