#include "core/heap/device_access.hpp"

#include "core/job/job_state.hpp"
#include "core/job/world_view.hpp"
#include "core/team/kernel_control.hpp"
#include "gpu/device_plugin.hpp"

namespace atl::core {

DeviceAccess::DeviceAccess(JobState& job, const UpperLayers& upper) : job_(job), upper_(upper) {}

DeviceAccess::~DeviceAccess() = default;

gpu::DeviceMemory& DeviceAccess::open() {
    const Topology& topology = job_.topology();
    if (topology.hosts().n_domains > 1 && !job_.transport()->carries_device_heaps())
        throw Error(ErrorCode::unsupported,
                    "This job has PEs on " + std::to_string(topology.hosts().n_hosts()) +
                        " hosts, and ATOLL_TRANSPORT=" + std::string(job_.transport()->name()) +
                        " carries no device heaps between them; use ATOLL_TRANSPORT=ucx, or allocate host "
                        "memory.");
    if (!device_) {
        // All PEs have made the call, so any further wait is for PEs that open a GPU.
        const StartWaits::Scope start(job_.waits().at_start);
        if (!view_) view_ = std::make_unique<WorldView>(job_);
        auto device = std::make_unique<gpu::DeviceMemory>(
            *view_,
            open_ ? open_ : [](const gpu::DeviceChoice& choice) { return gpu::device_plugin().open(choice); },
            job_.kernels().area_bytes);
        device->reserve_group_memory();
        const gpu::KernelTrace* const trace = device->streams().trace();
        unsigned long long* const counter = trace_counter(job_, device->mine());
        if (const std::uint64_t counted = trace && counter ? trace->counted() : 0; counted != 0)
            device->copies().put(counter, &counted, sizeof counted, job_.pe());
        device_ = std::move(device);
        services_ = upper_.stream_services(job_, *device_);
        opened_.store(device_.get(), std::memory_order_release);
        is_open_.store(true, std::memory_order_relaxed);
    }
    return *device_;
}

void DeviceAccess::end_services() noexcept {
    if (services_) services_->end();
    if (!device_ || device_->streams().trace() == nullptr) return;
    unsigned long long* const counter = trace_counter(job_, device_->mine());
    if (counter != nullptr) device_->streams().trace()->end(counter);
}

void DeviceAccess::hide() noexcept {
    is_open_.store(false, std::memory_order_relaxed);
    opened_.store(nullptr, std::memory_order_release);
}

void DeviceAccess::close() noexcept {
    services_.reset();
    device_.reset();
}

void DeviceAccess::abandon() noexcept {
    static_cast<void>(services_.release());
    static_cast<void>(device_.release());
    static_cast<void>(view_.release());
}

}  // namespace atl::core
