// Messages on streams: checks arguments, then makes one call of the device heap.
#include "atoll/stream.hpp"
#include "core/job/job_state.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/kernels/team_memory.hpp"
#include "stream/on_device.hpp"
#include "stream/stream_checks.hpp"
#include "stream/stream_servers.hpp"

#include <utility>

namespace atl {

namespace {

/// Number of earlier messages with the same PE and direction as message `i`.
unsigned order_of(const std::vector<MessageGroup::Message>& messages, std::size_t i) {
    unsigned order = 0;
    for (std::size_t k = 0; k < i; ++k)
        order += messages[k].pe == messages[i].pe && messages[k].is_send == messages[i].is_send ? 1 : 0;
    return order;
}

void check_messages(const core::TeamState& team, const gpu::DeviceMemory& device,
                    const std::vector<MessageGroup::Message>& messages) {
    for (const MessageGroup::Message& m : messages) {
        if (static_cast<unsigned>(m.pe) >= static_cast<unsigned>(team.n_pes()))
            detail::throw_pe(m.pe, team.n_pes());
        if (m.is_send)
            stream::check_on_device(team.job(), device, m.data, m.bytes);
        else
            device.local().check_pinned(m.data, m.bytes);
    }
}

gpu::MessagesCall messages_call(core::TeamState& team, const std::vector<MessageGroup::Message>& messages) {
    gpu::MessagesCall call{};
    call.team = stream::stream_team(team);
    call.memory = stream::team_memory(team).messages;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const MessageGroup::Message& m = messages[i];
        call.messages[call.count++] = {m.data, m.bytes, m.pe, order_of(messages, i), m.is_send};
    }
    return call;
}

void enqueue(const Team& team, Stream stream, const std::vector<MessageGroup::Message>& messages) {
    if (messages.empty()) return;
    if (messages.size() > gpu::MessagesCall::most)
        throw Error(
            ErrorCode::invalid_argument,
            "A group of messages on a stream has at most " + std::to_string(gpu::MessagesCall::most) +
                " sends and receives; " + std::to_string(messages.size()) +
                " were passed. Start several groups, such that the messages of each are in one group on "
                "both sides.");
    core::TeamState& state = team.state();
    state.check_alive();
    const gpu::DeviceMemory& device = stream::device_for_streams(state.job(), stream.handle);
    if (!stream::is_far(state)) {
        const gpu::MessagesCall call = messages_call(state, messages);
        check_messages(state, device, messages);
        return device.streams().start(call, stream.handle);
    }
    const device::Team value = stream::kernel_team(state, Memory::device, true);
    check_messages(state, device, messages);
    for (const MessageGroup::Message& m : messages)
        if (m.bytes != 0) device.local().check_reached(m.data);
    stream::StreamServers::of(state.job()).team_server(state).start(value, messages, stream.handle);
}

}  // namespace

void StreamTeam::send_bytes(const void* src, std::size_t bytes, int pe, MessageElements /*elements*/) const {
    enqueue(team_, stream_, {{const_cast<void*>(src), bytes, pe, true}});
}

void StreamTeam::recv_bytes(void* dst, std::size_t bytes, int pe, MessageElements /*elements*/) const {
    enqueue(team_, stream_, {{dst, bytes, pe, false}});
}

StreamMessageGroup::StreamMessageGroup(const Team& team, Stream stream) : team_(team), stream_(stream) {
    stream::prepare_streams_of(team.state(), stream);
}

void StreamMessageGroup::run() {
    const std::vector<MessageGroup::Message> messages = std::exchange(messages_, {});
    enqueue(team_, stream_, messages);
}

}  // namespace atl
