// The plain C interface of symmetric tensors (atoll/symmetric.h).
#include "atoll/symmetric.h"

#include "collective/symmetric/interface.hpp"
#include "collective/symmetric/operations.hpp"

#include <cstring>
#include <memory>
#include <utility>

struct atoll_offer {  // NOLINT(readability-identifier-naming): names of C
    explicit atoll_offer(atl::symmetric::Offer made) : offer(std::move(made)) {}
    atl::symmetric::Offer offer;
};
struct atoll_symmetric {  // NOLINT(readability-identifier-naming)
    atl::symmetric::Symmetric memory;
};

namespace atl::symmetric {
namespace {

using memory::ProcessHeap;
using requests::guarded_call;

void* allocate(std::size_t bytes, std::size_t pad_bytes) {
    return pointer_of([&]() -> void* {
        ProcessHeap& heap = ProcessHeap::mine();
        return heap.at(heap.allocate(bytes, pad_bytes).offset);
    });
}

void free_block(void* data) {
    ProcessHeap* const heap = ProcessHeap::existing();
    if (heap != nullptr && heap->view()->contains(data, 0)) heap->free(heap->view()->offset_of(data));
}

int find(const void* address, atoll_block* block) {
    ProcessHeap* const heap = ProcessHeap::existing();
    const auto found = heap != nullptr ? heap->find(address) : std::nullopt;
    if (!found) return 0;
    *block = {heap->at(found->offset), found->bytes, found->pad_bytes};
    return 1;
}

int usage(std::size_t* used, std::size_t* limit) {
    return guarded_call([&] {
        ProcessHeap& heap = ProcessHeap::mine();
        *used = heap.used_bytes();
        *limit = heap.limit_bytes();
        return 0;
    });
}

atoll_offer* offer(const void* address, int size, char* text, std::size_t room) {
    return pointer_of([&] {
        auto made = std::make_unique<atoll_offer>(Offer(address, size));
        const std::string line = made->offer.text();
        if (line.size() >= room)
            throw Error(ErrorCode::invalid_argument, "The room for an offer's text is too small.");
        std::memcpy(text, line.c_str(), line.size() + 1);
        return made.release();
    });
}

void withdraw(atoll_offer* offer) { delete offer; }

atoll_symmetric* join(atoll_offer* offer, const atoll_meeting* meeting) {
    const std::unique_ptr<atoll_offer> held(offer);
    return pointer_of([&] {
        Membership membership;
        membership.rank = meeting->rank;
        membership.texts.assign(meeting->texts, meeting->texts + meeting->size);
        if (meeting->names != nullptr)
            membership.names.assign(meeting->names, meeting->names + meeting->size);
        if (meeting->label != nullptr && *meeting->label != '\0')
            membership.label = std::string(" of group ") + meeting->label;
        return new atoll_symmetric{Symmetric(std::move(held->offer), std::move(membership),
                                             bounds_of(meeting->timeout_s, meeting->interrupted))};
    });
}

void leave(atoll_symmetric* symmetric) { delete symmetric; }
void* data(atoll_symmetric* symmetric, int member) { return symmetric->memory.data(member); }
void* pad(atoll_symmetric* symmetric, int member) { return symmetric->memory.pad(member); }
int channels(atoll_symmetric* symmetric) { return symmetric->memory.channels(); }

void reduce_or_gather(Symmetric& memory, const atoll_symmetric_call& call, const Bounds& bounds) {
    Operations operations(memory, {call.offset, call.bytes}, bounds);
    auto* const out = static_cast<char*>(call.out);
    if (call.kind == ATOLL_SYMMETRIC_ALL_GATHER) return operations.all_gather(out);
    const requests::Folding folding(call.type, static_cast<ReduceOp>(call.op));
    if (call.kind == ATOLL_SYMMETRIC_ALL_REDUCE) return operations.all_reduce(folding, out);
    if (call.kind == ATOLL_SYMMETRIC_ALL_REDUCE_IN_PLACE) return operations.all_reduce_in_place(folding, out);
    operations.reduce_scatter(folding, call.row_bytes, out);
}

void carry_out(Symmetric& memory, const atoll_symmetric_call& call) {
    const Bounds bounds = bounds_of(call.timeout_s, call.interrupted);
    switch (call.kind) {
        case ATOLL_SYMMETRIC_BARRIER:
            return memory.barrier(call.channel, bounds);
        case ATOLL_SYMMETRIC_PUT_SIGNAL:
            return memory.put_signal(call.member, call.channel, bounds);
        case ATOLL_SYMMETRIC_WAIT_SIGNAL:
            return memory.wait_signal(call.member, call.channel, bounds);
        case ATOLL_SYMMETRIC_NOTIFY:
            return memory.notify(call.member);
        case ATOLL_SYMMETRIC_AWAIT:
            return memory.await(call.member, bounds);
        default:
            return reduce_or_gather(memory, call, bounds);
    }
}

int run(atoll_symmetric* symmetric, const atoll_symmetric_call* call) {
    return guarded_call([&] {
        carry_out(symmetric->memory, *call);
        return 0;
    });
}

}  // namespace
}  // namespace atl::symmetric

extern "C" const atoll_symmetric_table* atoll_symmetric_memory(void) {
    using namespace atl::symmetric;
    static const atoll_symmetric_table table = {ATOLL_SYMMETRIC_VERSION,
                                                allocate,
                                                free_block,
                                                find,
                                                usage,
                                                offer,
                                                withdraw,
                                                join,
                                                leave,
                                                data,
                                                pad,
                                                channels,
                                                run};
    return &table;
}
