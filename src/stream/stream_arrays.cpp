#include "stream/stream_arrays.hpp"

#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "stream/stream_checks.hpp"

#include <algorithm>
#include <string>

namespace atl::stream {

namespace {

/// True for an array outside the device heap that this GPU can access and other PEs cannot.
bool is_ordinary(const core::JobState& job, const gpu::DeviceMemory& device, const void* array,
                 std::size_t bytes) {
    if (bytes == 0) return false;
    if (!device.in_window(array) && array && device.local().reaches(array, bytes)) return true;
    check_on_device(job, device, array, bytes);
    return false;
}

/// True if a large message goes in pieces, so that no member accesses another's array. Each member decides by
/// its own arrays, without communication. So all pass ordinary arrays there, or none does.
bool goes_in_pieces(gpu::Group kind, const Ordinary& ordinary) {
    switch (kind) {
        case gpu::Group::broadcast:
        case gpu::Group::scatter:
            return ordinary.dst;  // src is only the root's
        case gpu::Group::reduce:
        case gpu::Group::inscan:
        case gpu::Group::exscan:
            return ordinary.src || ordinary.dst;  // other members store into dst
        default:
            return ordinary.src;  // dst is stored by its own PE, or only the root's
    }
}

[[noreturn]] void throw_ordinary(const char* operation, const char* name, const void* array) {
    throw Error(
        ErrorCode::not_symmetric,
        std::string(operation) + ": " + name + " (" + common::address_text(array) +
            ") must be in the device heap: on a stream PEs do not exchange addresses, so others find it only "
            "there. Allocate it with Memory::device (in Python device=\"cuda\"), or call without a "
            "stream.");
}

}  // namespace

void start_in_pieces(const gpu::DeviceMemory& device, const gpu::GroupCall& call, std::uint64_t most,
                     gpu::StreamHandle stream) {
    for (std::uint64_t at = 0; at < call.bytes; at += most) {
        gpu::GroupCall piece = call;
        piece.bytes = std::min(most, call.bytes - at);
        if (call.dst) piece.dst = static_cast<char*>(call.dst) + at;
        if (call.src) piece.src = static_cast<const char*>(call.src) + at;
        device.streams().start(piece, stream);
    }
}

Ordinary check_arrays(const core::TeamState& team, const gpu::DeviceMemory& device, const char* operation,
                      const GroupArguments& arguments) {
    const core::JobState& job = team.job();
    const int me = team.my_pe(), n = team.n_pes();
    Ordinary found;
    found.dst = arguments.writes(me) && is_ordinary(job, device, arguments.dst, arguments.dst_bytes(n));
    found.src = arguments.reads(me) && is_ordinary(job, device, arguments.src, arguments.src_bytes(n));
    if (job.window().check) check_overlap(operation, arguments, me, n);
    return found;
}

/// Starts a collective with ordinary arrays. Small messages access no other member's arrays.
void start_ordinary(const core::TeamState& team, const gpu::DeviceMemory& device, const char* operation,
                    const GroupArguments& arguments, gpu::GroupCall call, const Ordinary& ordinary,
                    gpu::StreamHandle stream) {
    const gpu::Group kind = arguments.kind;
    const bool by_address = kind == gpu::Group::collect || kind == gpu::Group::alltoalls;
    const std::uint64_t most = gpu::GroupMemory{call.team.n_pes, call.words_bytes}.exchange_limit_bytes();
    if (ordinary.src && by_address) throw_ordinary(operation, "src", arguments.src);
    if (!by_address && (call.bytes <= most || goes_in_pieces(kind, ordinary)))
        return start_in_pieces(device, call, most, stream);
    if (ordinary.dst && kind == gpu::Group::reduce_to) throw_ordinary(operation, "dst", arguments.dst);
    if (ordinary.src && kind == gpu::Group::scatter) throw_ordinary(operation, "src", arguments.src);
    if (ordinary.src && kind == gpu::Group::broadcast) {
        // The root's own dst is symmetric, and a broadcast works in place.
        device.streams().start(gpu::CopyCall{call.dst, call.src, call.bytes, nullptr, 0, SignalOp::set},
                               stream);
        call.src = call.dst;
    }
    start_collective(team, device, arguments, call, stream);
}

}  // namespace atl::stream
