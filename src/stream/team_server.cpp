#include "stream/team_server.hpp"

#include "stream/on_device.hpp"

namespace atl::stream {

TeamServer::TeamServer(core::JobState& job, const gpu::DeviceMemory& device, const Queue& collectives,
                       const Queue& messages)
    : device_(device),
      collectives_(
          job, device, collectives.ring, collectives.tickets,
          [this](const gpu::FarRequest& request, const gpu::Lane& lane) { run_group(request, lane); }),
      messages_(
          job, device, messages.ring, messages.tickets,
          [this](const gpu::FarRequest& request, const gpu::Lane& lane) { run_messages(request, lane); }) {}

void TeamServer::forget() {
    server_team_.store(nullptr);
    collectives_.forget_graphs();
    messages_.forget_graphs();
    const std::lock_guard lock(mutex_);
    kept_.clear();
}

void TeamServer::start(const device::Team& team, const GroupArguments& arguments, gpu::StreamHandle stream) {
    const bool writes = arguments.writes(team.my_pe), reads = arguments.reads(team.my_pe);
    collectives_.start(team,
                       {.there = writes ? arguments.dst : nullptr,
                        .here = reads ? const_cast<void*>(arguments.src) : nullptr,
                        .bytes = arguments.bytes,
                        .value = arguments.room,
                        .there_stride = arguments.strides.dst,
                        .here_stride = arguments.strides.src,
                        .count = arguments.strides.count,
                        .pe = arguments.root,
                        .kind = gpu::FarKind::group,
                        .type = arguments.type,
                        .group = static_cast<unsigned char>(arguments.kind),
                        .reduction = static_cast<unsigned char>(arguments.op),
                        .scale = arguments.scale},
                       stream);
}

void TeamServer::start(const device::Team& team, std::vector<MessageGroup::Message> messages,
                       gpu::StreamHandle stream) {
    Kept* kept = nullptr;
    {
        const std::lock_guard lock(mutex_);
        kept = &kept_.emplace_back(Kept{std::move(messages), !device_.streams().is_capturing(stream)});
    }
    messages_.start(team, {.there = kept, .kind = gpu::FarKind::messages}, stream);
}

void TeamServer::run_group(const gpu::FarRequest& r, const gpu::Lane& lane) const {
    stream::run_by_host(*server_team_.load(),
                        {.kind = static_cast<gpu::Group>(r.group),
                         .dst = r.there,
                         .src = r.here,
                         .bytes = r.bytes,
                         .root = r.pe,
                         .type = r.type,
                         .op = static_cast<ReduceOp>(r.reduction),
                         .scale = r.scale,
                         .room = r.value,
                         .strides = {r.count, r.there_stride, r.here_stride}},
                        &lane);
}

void TeamServer::run_messages(const gpu::FarRequest& request, const gpu::Lane& lane) {
    const auto* kept = static_cast<const Kept*>(request.there);
    stream::run_messages_by_host(*server_team_.load(), kept->messages, lane);
    if (!kept->once) return;
    const std::lock_guard lock(mutex_);
    kept_.remove_if([kept](const Kept& other) { return &other == kept; });
}

}  // namespace atl::stream
