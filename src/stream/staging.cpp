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

/// Parts of arrays start at multiples of this, so that no element is split and copies are aligned.
constexpr std::size_t part_alignment = 256;
/// Largest number of messages that are faster through the team's memory than by copies to the stage and back.
constexpr std::size_t most_pieces = 2;
/// Messages with up to this many members make one call: each member takes a send and a receive.
constexpr int members_together = gpu::MessagesCall::most / 2;

bool shares_memory(const GroupArguments& a, int n) {
    const auto* dst = static_cast<const char*>(a.dst);
    const auto* src = static_cast<const char*>(a.src);
    return dst < src + a.src_bytes(n) && src < dst + a.dst_bytes(n);
}

}  // namespace

/// A call that goes through the stage.
struct Staging::Call {
    const gpu::DeviceMemory& device;
    const GroupArguments& arguments;
    gpu::GroupCall call;
    gpu::StreamHandle stream;
    int me, n;

    char* dst(std::size_t block, std::size_t at) const {
        return static_cast<char*>(arguments.dst) + block * arguments.bytes + at;
    }
    const char* src(std::size_t block, std::size_t at) const {
        return static_cast<const char*>(arguments.src) + block * arguments.bytes + at;
    }
    void copy(void* to, const void* from, std::size_t bytes) const {
        if (to != from)
            device.streams().start(gpu::CopyCall{to, from, bytes, nullptr, 0, SignalOp::set}, stream);
    }
    void meet() const {
        gpu::GroupCall meeting = call;
        meeting.kind = Group::sync;
        meeting.bytes = meeting.dst_stride = meeting.src_stride = 0;
        device.streams().start(meeting, stream);
    }
    bool sends(int from, int to) const {
        switch (arguments.kind) {
            case Group::broadcast:
            case Group::scatter:
                return from == arguments.root;
            case Group::gather:
                return to == arguments.root;
            default:
                return true;
        }
    }
};

std::size_t Staging::chunk(std::size_t blocks) const {
    return bytes_ / blocks / part_alignment * part_alignment;
}

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
    const Call call{device, arguments, group_call(state(), arguments), stream, me, n};
    const Group kind = arguments.kind;
    const bool folds = kind == Group::reduce || kind == Group::reduce_to || kind == Group::reduce_scatter;
    if (folds) check_reduction(arguments.type, arguments.op);
    // A member folds its block only after it has read the others, so that block may be dst.
    const bool shared = kind == Group::reduce_scatter && shares_memory(arguments, n);
    if (job.window().check && !shared) check_overlap("A call of the group", arguments, me, n);
    if (arguments.is_empty()) return;
    const std::size_t most = gpu::GroupMemory{n, call.call.words_bytes}.exchange_limit_bytes();
    if (kind == Group::sync) return device.streams().start(call.call, stream);
    if (arguments.bytes <= most_pieces * most && !shared)
        return start_in_pieces(device, call.call, most, stream);
    if (folds) return fold(call);
    if (kind == Group::broadcast && n > 2) return relay(call);
    pull(call);
}

/// Reductions: copies the sources to the stage, and folds from there.
void Staging::fold(const Call& call) const {
    const GroupArguments& a = call.arguments;
    const bool scatters = a.kind == Group::reduce_scatter;
    const std::size_t blocks = a.src_blocks(call.n);
    const std::size_t most = chunk(blocks);
    for (std::size_t at = 0; at < a.bytes; at += most) {
        const std::size_t bytes = std::min(most, a.bytes - at);
        if (bytes == a.bytes)
            call.copy(stage_, call.src(0, 0), blocks * bytes);
        else
            for (std::size_t b = 0; b < blocks; ++b) call.copy(stage_ + b * bytes, call.src(b, at), bytes);
        gpu::GroupCall piece = call.call;
        piece.src = stage_;
        piece.dst = scatters ? call.dst(0, at) : stage_;
        piece.bytes = piece.dst_stride = piece.src_stride = bytes;
        start_group(state(), call.device, piece, call.stream);
        if (!scatters && a.writes(call.me)) call.copy(call.dst(0, at), stage_, bytes);
    }
}

/// A broadcast to several members, which relay it.
void Staging::relay(const Call& call) const {
    const GroupArguments& a = call.arguments;
    const std::size_t most = chunk(1);
    for (std::size_t at = 0; at < a.bytes; at += most) {
        gpu::GroupCall piece = call.call;
        piece.src = piece.dst = stage_;
        piece.bytes = piece.dst_stride = piece.src_stride = std::min(most, a.bytes - at);
        if (call.me == a.root) call.copy(stage_, call.src(0, at), piece.bytes);
        start_group(state(), call.device, piece, call.stream);
        if (call.me != a.root || a.dst != a.src) call.copy(call.dst(0, at), stage_, piece.bytes);
    }
}

/// Copies to the stage what the others read.
void Staging::give(const Call& call, std::size_t at, std::size_t bytes) const {
    if (call.arguments.src_blocks(call.n) == 1) {
        const int other = call.me == 0 ? 1 : 0;
        const int reader = call.arguments.kind == Group::gather ? call.arguments.root : other;
        if (reader != call.me && call.sends(call.me, reader)) call.copy(stage_, call.src(0, at), bytes);
        return;
    }
    for (int pe = 0; pe < call.n; ++pe) {
        const auto block = static_cast<std::size_t>(pe);
        if (pe != call.me && call.sends(call.me, pe))
            call.copy(stage_ + block * bytes, call.src(block, at), bytes);
    }
}

/// Moves data without a reduction: every member copies from the stages of the others to where it belongs. It
/// starts with its own, so that none has two readers at a time.
void Staging::pull(const Call& call) const {
    const GroupArguments& a = call.arguments;
    const std::size_t src_blocks = a.src_blocks(call.n), dst_blocks = a.dst_blocks(call.n);
    const std::size_t most = chunk(src_blocks);
    const auto mine = static_cast<std::size_t>(call.me);
    for (std::size_t at = 0; at < a.bytes; at += most) {
        const std::size_t bytes = std::min(most, a.bytes - at);
        if (call.n > 1) give(call, at, bytes);
        call.meet();
        for (int k = 0; k < call.n; ++k) {
            const int pe = (call.me + k) % call.n;
            if (!call.sends(pe, call.me)) continue;
            const std::size_t from = src_blocks > 1 ? mine : 0;
            const std::size_t to = dst_blocks > 1 ? static_cast<std::size_t>(pe) : 0;
            const char* theirs =
                pe == call.me
                    ? call.src(from, at)
                    : static_cast<const char*>(call.device.at(stage_ + from * bytes, state().world_pe(pe)));
            call.copy(call.dst(to, at), theirs, bytes);
        }
        call.meet();
    }
}

void Staging::exchange(const std::vector<Message>& messages, gpu::StreamHandle stream) const {
    const int me = team_.my_pe(), n = team_.n_pes();
    // The parts of messages with each member, in order.
    std::vector<std::vector<Message>> sent(static_cast<std::size_t>(n)), received(sent.size());
    const std::size_t share = chunk(static_cast<std::size_t>(std::max(n - 1, 1)));
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
