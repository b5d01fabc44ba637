#include "collective/requests/in_place.hpp"

#include <algorithm>
#include <cstring>

namespace atl::requests {
namespace {

/// Below this size a copy costs less than the wait for all readers.
constexpr std::size_t least_bytes = 32 * 1024;

bool are_adjacent(const std::vector<Span>& spans) {
    for (std::size_t i = 1; i < spans.size(); ++i)
        if (spans[i].data != spans[i - 1].data + spans[i - 1].bytes) return false;
    return true;
}

bool are_equal(const std::vector<Span>& spans) {
    return std::all_of(spans.begin(), spans.end(),
                       [&](const Span& span) { return span.bytes == spans[0].bytes; });
}

}  // namespace

bool InPlace::takes(const Call& call) {
    if (!members_.membership().shares_heaps || call.in.empty() || call.is_message()) return false;
    memory::ProcessHeap* const heap = memory::ProcessHeap::existing();
    std::size_t bytes = 0;
    for (const Span& span : call.in) bytes += span.bytes;
    if (heap == nullptr || bytes < least_bytes || members_.n() == 1) return false;
    const memory::HeapView& view = *heap->view();
    if (!view.contains(call.in[0].data, bytes) || !are_adjacent(call.in)) return false;
    if (call.kind != Kind::all_to_all && !are_equal(call.in)) return false;
    // Members read the folded parts of an all_reduce in its result.
    if (call.kind == Kind::all_reduce && !view.contains(call.out[0].data, bytes)) return false;
    if (!is_published_) {
        char* const text = members_.mine().head().state.heap;
        if (view.address().size() >= heap_text_bytes) return false;
        std::memcpy(text, view.address().c_str(), view.address().size() + 1);
        is_published_ = true;
    }
    return true;
}

void InPlace::announce(SlotHeader& header, const char* data) {
    const std::uint64_t offset = memory::ProcessHeap::existing()->view()->offset_of(data);
    std::memcpy(header.data, &offset, sizeof offset);
}

const char* InPlace::announced(int member, const SlotHeader& header) {
    std::shared_ptr<memory::HeapView>& heap = heaps_[std::size_t(member)];
    if (!heap) heap = memory::HeapView::of(members_.area(member).head().state.heap);
    std::uint64_t offset = 0;
    std::memcpy(&offset, header.data, sizeof offset);
    return heap->base() + offset;
}

}  // namespace atl::requests
