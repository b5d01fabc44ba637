#include "stream/staging.hpp"

#include "atoll/stream.hpp"
#include "core/job/job_state.hpp"
#include "stream/stream_arrays.hpp"
#include "stream/stream_checks.hpp"

#include <algorithm>

namespace atl::stream {

using gpu::Group;
using gpu::GroupArguments;

namespace {

/// Messages are divided at multiples of this, so that copies are aligned.
constexpr std::size_t part_alignment = 256;
/// Largest number of messages that are faster through the team's memory than through the stage.
constexpr std::size_t most_pieces = 2;
/// Messages with up to this many members make one call: each member takes a send and a receive.
constexpr int members_together = gpu::MessagesCall::most / 2;

const char* own_block(const GroupArguments& a, int me) {
    return static_cast<const char*>(a.src) + static_cast<std::size_t>(me) * a.bytes;
}

}  // namespace

void Staging::copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) const {
    if (bytes == 0 || dst == src) return;
    device_for_streams(state().job(), stream)
        .streams()
        .start(gpu::CopyCall{dst, src, bytes, nullptr, 0, SignalOp::set}, stream);
}

void Staging::start(const GroupArguments& arguments, gpu::StreamHandle stream) const {
    const core::JobState& job = state().job();
    const gpu::DeviceMemory& device = device_for_streams(job, stream);
    const int me = team_.my_pe(), n = team_.n_pes();
    const gpu::GroupCall call = group_call(state(), arguments);
    const Group kind = arguments.kind;
    const bool folds = kind == Group::reduce || kind == Group::reduce_to || kind == Group::reduce_scatter;
    if (folds) check_reduction(arguments.type, arguments.op, arguments.scale);
    // Only this PE reads its own block, and it stores each part after it has read it.
    const bool in_place = kind == Group::reduce_scatter && arguments.dst == own_block(arguments, me);
    if (job.window().check && !in_place) check_overlap("A call of the group", arguments, me, n);
    if (arguments.is_empty()) return;
    if (kind == Group::sync) return device.streams().start(call, stream);
    const std::size_t most = gpu::GroupMemory{n, call.words_bytes}.exchange_limit_bytes();
    if (arguments.bytes <= most_pieces * most) return start_in_pieces(device, call, most, stream);
    device.streams().start(gpu::StagedCall{call, stage_, bytes_}, stream);
}

void Staging::exchange(const std::vector<Message>& messages, gpu::StreamHandle stream) const {
    const int me = team_.my_pe(), n = team_.n_pes();
    // The parts of messages with each member, in order.
    std::vector<std::vector<Message>> sent(static_cast<std::size_t>(n)), received(sent.size());
    const auto others = static_cast<std::size_t>(std::max(n - 1, 1));
    const std::size_t share = bytes_ / others / part_alignment * part_alignment;
    std::size_t rounds = 0;
    for (const Message& m : messages) {
        if (static_cast<unsigned>(m.pe) >= static_cast<unsigned>(n) || m.pe == me) detail::throw_pe(m.pe, n);
        auto& parts = (m.is_send ? sent : received)[static_cast<std::size_t>(m.pe)];
        for (std::size_t at = 0; at < m.bytes; at += share)
            parts.push_back({m.data + at, std::min(share, m.bytes - at), m.pe, m.is_send});
        rounds = std::max(rounds, parts.size());
    }
    StreamMessageGroup group(team_, Stream{stream});
    for (std::size_t round = 0; round < rounds; ++round)
        for (int k = 1; k < n; ++k) {
            const auto to = static_cast<std::size_t>((me + k) % n);
            const auto from = static_cast<std::size_t>((me + n - k) % n);
            if (round < sent[to].size()) {
                const Message& part = sent[to][round];
                char* staged = stage_ + static_cast<std::size_t>(k - 1) * share;
                copy(staged, part.data, part.bytes, stream);
                group.send_bytes(staged, part.bytes, part.pe);
            }
            if (round < received[from].size()) {
                const Message& part = received[from][round];
                group.recv_bytes(part.data, part.bytes, part.pe);
            }
            if (k % members_together == 0 || k == n - 1) group.run();
        }
}

}  // namespace atl::stream
