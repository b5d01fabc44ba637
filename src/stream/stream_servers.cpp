#include "stream/stream_servers.hpp"

#include "atoll/device/control.hpp"
#include "core/job/job_state.hpp"
#include "gpu/device_plugin.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/on_device.hpp"

#include <new>

namespace atl::stream {

namespace {

gpu::FarRing* new_ring(const gpu::DeviceMemory& device) {
    return new (device.local().pin(sizeof(gpu::FarRing))) gpu::FarRing{};
}

/// A number of the team that no other has at the same time: no two control blocks begin so close.
std::size_t number_of(const core::TeamState& team) {
    return team.kernels.offset / device::ControlLayout{1}.bytes();
}

std::unique_ptr<gpu::Gpu> open_plugin(const gpu::DeviceChoice& choice) {
    return gpu::device_plugin().open(choice);
}

}  // namespace

StreamServers::StreamServers(core::JobState& job)
    : job_(job),
      view_(job),
      device_(view_, job.devices().replacement() ? job.devices().replacement() : open_plugin,
              job.kernels().area_bytes) {
    device_.reserve_group_memory();
    const gpu::KernelTrace* const trace = device_.streams().trace();
    if (device::TraceSink* const sink = trace_sink(job_, device_.mine()); trace && sink) {
        const device::TraceSink first = trace->first_sink();
        device_.copies().put(sink, &first, sizeof first, job_.pe());
    }
}

StreamServer& StreamServers::stream_server() {
    const std::lock_guard lock(mutex_);
    if (!stream_server_)
        stream_server_ =
            std::make_unique<StreamServer>(job_, device_, new_ring(device_), device_.team_ranges().tickets());
    return *stream_server_;
}

TeamServer& StreamServers::team_server(core::TeamState& team) {
    const std::size_t number = number_of(team);
    const std::lock_guard lock(mutex_);
    if (team_servers_.size() <= number) team_servers_.resize(number + 1);
    std::unique_ptr<TeamServer>& server = team_servers_[number];
    if (!server) {
        unsigned long long* const tickets = device_.team_ranges().team_tickets(number);
        server = std::make_unique<TeamServer>(job_, device_, TeamServer::Queue{new_ring(device_), tickets},
                                              TeamServer::Queue{new_ring(device_), tickets + 1});
    }
    server->serve(team);
    return *server;
}

core::StreamServices::Requests StreamServers::requests() {
    const StreamServer& server = stream_server();
    return {&server.ring(), server.tickets()};
}

void StreamServers::quiet_kernels() {
    StreamServer* server = nullptr;
    {
        const std::lock_guard lock(mutex_);
        server = stream_server_.get();
    }
    if (server) server->drain();
}

void StreamServers::end_team(const core::TeamState& team) {
    const std::lock_guard lock(mutex_);
    if (!team.kernels.has_range() || team_servers_.size() <= number_of(team)) return;
    if (const auto& server = team_servers_[number_of(team)]) server->forget();
}

void StreamServers::end() noexcept {
    team_servers_.clear();
    stream_server_.reset();
    if (device_.streams().trace() == nullptr) return;
    const device::TraceSink* const sink = trace_sink(job_, device_.mine());
    if (sink != nullptr) device_.streams().trace()->end(sink);
}

std::size_t StreamServers::run_collective(core::TeamState& team, const core::Called& called,
                                          const gpu::GroupArguments& arguments) {
    collective::State& state = collective::State::of(team);
    switch (arguments.kind) {
        case gpu::Group::collect:
            return stream::collect_on_device(state, called, arguments);
        case gpu::Group::alltoalls:
            stream::alltoalls_on_device(state, called, arguments);
            return 0;
        case gpu::Group::reduce:
        case gpu::Group::reduce_scatter:
        case gpu::Group::reduce_to:
        case gpu::Group::inscan:
        case gpu::Group::exscan:
            check_reduction(arguments.type, arguments.op, arguments.scale);
            break;
        default:
            break;
    }
    stream::run_on_device(state, called, arguments);
    return 0;
}

}  // namespace atl::stream
