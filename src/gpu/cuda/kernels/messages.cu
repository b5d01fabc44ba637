// Two-sided messages in stream order. The sender leaves a notification with the address of its data. The
// receiver fetches the data and acknowledges.
#include "atoll/device/rma.hpp"
#include "atoll/device/wait.hpp"
#include "gpu/cuda/kernels/units.cuh"
#include "gpu/device_calls.hpp"

namespace atl::kernels {

using gpu::Message;
using gpu::MessageMemory;
using gpu::MessagesCall;

namespace {

/// The blocks of one message, each thread a part.
struct Parts {
    unsigned first, count;  ///< blocks
    __device__ unsigned rank() const { return (blockIdx.x - first) * blockDim.x + threadIdx.x; }
    __device__ unsigned size() const { return count * blockDim.x; }
};

__device__ unsigned* word(const MessagesCall& call, std::uint64_t at) {
    return reinterpret_cast<unsigned*>(call.memory + at);
}

__device__ device::Report awaited(const MessagesCall& call, const Message& message, const void* at) {
    const auto operation = message.is_send ? device::Operation::send : device::Operation::recv;
    return device::detail::waiting(call.team.control, {operation, 0, 0}, at, message.pe);
}

__device__ void send(const MessagesCall& call, const MessageMemory& memory, const Message& message) {
    if (threadIdx.x != 0) return;
    const unsigned number = *word(call, memory.sent_at(message.pe)) + message.order + 1;
    Unit header;
    const unsigned long long offset =
        static_cast<char*>(message.data) - call.team.window - call.team.my_slot * call.team.stride;
    memcpy(header.words, &offset, sizeof offset);
    memcpy(header.words + 2, &message.bytes, sizeof message.bytes);
    __threadfence_system();  // makes the data visible before the notification
    post(device::peer(call.team, call.memory, message.pe) + memory.header_at(call.team.my_pe, number), header,
         number);
    const unsigned* done = word(call, memory.done_at(message.pe));
    device::detail::spin(
        call.team, [&] { return static_cast<int>(device::load_acquire(done) - number) >= 0; },
        [&] { return awaited(call, message, done); });
}

/// The address of the data. Stops the kernel if the sizes of sender and receiver differ.
__device__ const char* opened(const MessagesCall& call, const MessageMemory& memory, const Message& message,
                              unsigned number) {
    const char* at = call.memory + memory.header_at(message.pe, number);
    Unit header;
    device::detail::spin(
        call.team, [&] { return arrived(at, header, number); }, [&] { return awaited(call, message, at); });
    unsigned long long offset = 0, bytes = 0;
    memcpy(&offset, header.words, sizeof offset);
    memcpy(&bytes, header.words + 2, sizeof bytes);
    if (bytes != message.bytes && call.team.control->watch) {
        device::Report report = awaited(call, message, message.data);
        report.subject = device::Subject::word;
        report.compare = device::Compare::eq;
        report.expected = message.bytes;
        report.found = bytes;
        device::detail::report_and_trap(const_cast<device::Watch*>(call.team.control->watch), report, 4);
    }
    __threadfence_system();
    return call.team.window + device::slot_of(call.team, message.pe) * call.team.stride + offset;
}

/// `from` is shared by the threads of the block.
__device__ void receive(const MessagesCall& call, const MessageMemory& memory, int index, const Parts& parts,
                        const char*& from) {
    const Message& message = call.messages[index];
    const unsigned number = *word(call, memory.received_at(message.pe)) + message.order + 1;
    if (threadIdx.x == 0) from = opened(call, memory, message, number);
    __syncthreads();
    device::detail::copy(message.data, from, message.bytes, parts);
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    unsigned* finished = word(call, memory.parts_at(index));
    if (atomicAdd(finished, 1u) != parts.count - 1) return;
    *finished = 0;
    __threadfence_system();
    atomicAdd_system(device::peer(call.team, word(call, memory.done_at(call.team.my_pe)), message.pe), 1u);
}

/// The last block advances the counters for all. Until then every block finds the same numbers.
__device__ void finish(const MessagesCall& call, const MessageMemory& memory) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    unsigned* finished = word(call, memory.finished_at());
    if (atomicAdd(finished, 1u) != gridDim.x - 1) return;
    *finished = 0;
    for (int i = 0; i < call.count; ++i) {
        const Message& message = call.messages[i];
        ++*word(call, message.is_send ? memory.sent_at(message.pe) : memory.received_at(message.pe));
    }
}

}  // namespace

/// The same number of blocks for each message.
extern "C" __global__ void __launch_bounds__(512, 1)
    atoll_messages(const __grid_constant__ MessagesCall call) {
    // Declared in an internal function, its name would hold a hash of this file's path.
    __shared__ const char* from;
    const MessageMemory memory{call.team.n_pes};
    const unsigned each = gridDim.x / static_cast<unsigned>(call.count);
    const unsigned index = blockIdx.x / each;
    const Parts parts{index * each, each};
    const Message& message = call.messages[index];
    if (!message.is_send)
        receive(call, memory, static_cast<int>(index), parts, from);
    else if (blockIdx.x == parts.first)
        send(call, memory, message);
    finish(call, memory);
}

}  // namespace atl::kernels
