// The plain C interface of symmetric tensors on GPUs (atoll/symmetric.h).
#include "atoll/symmetric.h"

#include "bootstrap/deadline.hpp"
#include "collective/symmetric/interface.hpp"
#include "common/clock.hpp"
#include "common/text.hpp"
#include "gpu/heap/process_device_heap.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace atl::symmetric {
namespace {

using gpu::ProcessDeviceHeap;
using requests::guarded_call;

constexpr std::chrono::microseconds nap{200};

ProcessDeviceHeap& heap_of(const void* address) {
    ProcessDeviceHeap* const heap = ProcessDeviceHeap::containing(address);
    if (heap == nullptr)
        throw Error(ErrorCode::not_symmetric, "The memory at " + common::address_text(address) +
                                                  " is not in this process's symmetric memory of a GPU.");
    return *heap;
}

void* allocate(int device, std::size_t bytes, std::size_t pad_bytes) {
    return pointer_of(
        [&]() -> void* { return ProcessDeviceHeap::on(device).allocate(bytes, pad_bytes).data; });
}

void free_on_device(void* data) {
    guarded_call([&] {
        if (ProcessDeviceHeap* const heap = ProcessDeviceHeap::containing(data)) heap->free(data);
        return 0;
    });
}

int find(const void* address, atoll_device_block* block) {
    ProcessDeviceHeap* const heap = ProcessDeviceHeap::containing(address);
    const auto found = heap != nullptr ? heap->find(address) : std::nullopt;
    if (!found) return 0;
    *block = {found->data, found->bytes, found->pad(), found->pad_bytes, found->twin, heap->device()};
    return 1;
}

int describe(const void* address, char* text, std::size_t room) {
    return guarded_call([&] {
        ProcessDeviceHeap& heap = heap_of(address);
        const auto block = heap.find(address);
        if (!block)
            throw Error(ErrorCode::use_after_free,
                        "The symmetric tensor at " + common::address_text(address) + " was freed.");
        const std::string line = heap.describe(*block);
        if (line.size() >= room)
            throw Error(ErrorCode::invalid_argument, "The room for a block's text is too small.");
        std::memcpy(text, line.c_str(), line.size() + 1);
        return 0;
    });
}

std::string name_of(const atoll_meeting& meeting, int member) {
    return "rank " + std::to_string(meeting.names == nullptr ? member : meeting.names[member]);
}

int reach(const void* address, const atoll_meeting* meeting, void** data) {
    return guarded_call([&] {
        const Bounds bounds = bounds_of(meeting->timeout_s, meeting->interrupted);
        const bootstrap::Deadline deadline(bounds.timeout_s);
        heap_of(address).prepare(common::timeout_ns(meeting->timeout_s));
        ProcessDeviceHeap::Reach all(heap_of(address), {meeting->texts, meeting->texts + meeting->size},
                                     meeting->rank);
        while (!all.advance()) {
            if (bounds.interrupted) bounds.interrupted();
            if (deadline.passed())
                throw Error(ErrorCode::timeout,
                            "Timed out after " + bootstrap::seconds_text(bounds.timeout_s) +
                                " in a rendezvous on GPUs; " + name_of(*meeting, meeting->rank) +
                                " waits for " + name_of(*meeting, all.missing()) +
                                " to exchange its memory.");
            std::this_thread::sleep_for(nap);
        }
        const std::vector<char*> found = all.data();
        std::copy(found.begin(), found.end(), data);
        return 0;
    });
}

int exchange(const void* address, void* word, unsigned from, unsigned to, double timeout_s, void* stream) {
    return guarded_call([&] {
        heap_of(address).exchange(word, from, to, common::timeout_ns(timeout_s), stream);
        return 0;
    });
}

}  // namespace
}  // namespace atl::symmetric

extern "C" const atoll_device_memory_table* atoll_device_memory(void) {
    using namespace atl::symmetric;
    static const atoll_device_memory_table table = {
        ATOLL_SYMMETRIC_VERSION, allocate, free_on_device, find, describe, reach, exchange};
    return &table;
}
