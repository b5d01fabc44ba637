#include "cli/trace/kernel_tracks.hpp"

#include "common/recorder/operation_names.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace atl::cli {
namespace {

using common::KernelEvent;
using common::Processor;

/// The events of one thread in one launch, which cannot overlap but by nesting.
struct Strand {
    std::vector<const KernelEvent*> events;
    std::uint64_t began = UINT64_MAX, ended = 0;
    void add(const KernelEvent& event) {
        events.push_back(&event);
        began = std::min(began, event.began);
        ended = std::max(ended, event.ended);
    }
};
/// Block, thread and launch.
using StrandKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

/// Spreads the strands of one log over tracks: one for each thread that wrote events. Launches that overlap
/// have one each.
class Spreader {
  public:
    Spreader(const common::KernelLogCopy& log, KernelTracks& tracks) : log_(log), tracks_(tracks) {}

    void spread(Processor processor) {
        std::map<StrandKey, Strand> strands;
        for (const KernelEvent& event : log_.events)
            strands[{event.block, event.thread, event.grid}].add(event);
        std::vector<std::pair<StrandKey, Strand*>> order;
        for (auto& [key, strand] : strands) order.emplace_back(key, &strand);
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
            const auto key = [](const auto& one) {
                return std::tuple(std::get<0>(one.first), std::get<1>(one.first), one.second->began);
            };
            return key(a) < key(b);
        });
        for (const auto& [key, strand] : order) add(key, *strand, processor);
    }

  private:
    void add(const StrandKey& key, const Strand& strand, Processor processor) {
        const auto [block, thread, grid] = key;
        if (block != block_ || thread != thread_ || ends_.empty()) {
            threads_of_block_ = block == block_ && !ends_.empty() ? threads_of_block_ + 1 : 0;
            ends_.clear();
            block_ = block;
            thread_ = thread;
        }
        auto lane = std::find_if(ends_.begin(), ends_.end(),
                                 [&](const auto& one) { return one.second <= strand.began; });
        if (lane == ends_.end()) {
            tracks_.titles.push_back(title(processor, ends_.size()));
            lane = ends_.insert(lane, {static_cast<std::uint32_t>(tracks_.titles.size() - 1), 0});
        }
        lane->second = strand.ended;
        for (const KernelEvent* event : strand.events)
            tracks_.slices.push_back(slice_of(*event, lane->first));
    }

    std::string title(Processor processor, std::size_t lane) const {
        std::string text;
        if (processor == Processor::cpu)
            text = "CPU kernels, thread " + std::to_string(thread_);
        else
            text = "GPU " + std::to_string(log_.gpu) + " kernels, block " + std::to_string(block_);
        if (processor == Processor::gpu && threads_of_block_ != 0)
            text += ", thread " + std::to_string(thread_);
        return lane == 0 ? text : text + ", launch beside " + std::to_string(lane);
    }

    KernelSlice slice_of(const KernelEvent& event, std::uint32_t track) const {
        KernelSlice slice;
        const auto number = static_cast<std::size_t>(event.operation);
        const bool is_operation = event.name.empty() && number < std::size(common::device_operation_names);
        slice.name = is_operation ? std::string(common::device_operation_names[number]) : event.name;
        slice.operation = is_operation ? common::operation_number(slice.name) : std::uint16_t{0};
        slice.began = event.began;
        slice.ended = event.ended;
        slice.bytes = event.bytes;
        slice.offset = event.offset;
        slice.value = event.value;
        slice.peer = event.peer;
        slice.gpu = event.processor == Processor::gpu ? log_.gpu : -1;
        slice.block = event.block;
        slice.track = track;
        return slice;
    }

    const common::KernelLogCopy& log_;
    KernelTracks& tracks_;
    std::uint32_t block_ = 0, thread_ = 0, threads_of_block_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>>
        ends_;  ///< tracks of this thread, and their last ends
};

bool is_one_of(const KernelSlice& slice, std::initializer_list<std::string_view> names) {
    return !slice.is_range() && std::find(names.begin(), names.end(), slice.name) != names.end();
}

}  // namespace

KernelTracks kernel_tracks_of(const common::BoardView& board, int pe) {
    KernelTracks tracks;
    if (!board.header().traces_kernels()) return tracks;
    for (const Processor processor : {Processor::gpu, Processor::cpu}) {
        const common::KernelLogCopy log = board.kernel_log(pe, processor).read(processor);
        Spreader(log, tracks).spread(processor);
        tracks.dropped += log.dropped;
        if (processor == Processor::cpu || log.gpu < 0) continue;
        tracks.gpu = log.gpu;
        tracks.clock_error_ns = log.clock_error_ns;
        tracks.clock_is_assumed = log.clock_is_assumed;
    }
    // A range contains operations with the same times. Ranges come into the log at their end, so the last of
    // equal ones contains the others. Operations take their place in the log at their begin.
    const auto key = [](const KernelSlice& one) {
        return std::tuple(one.track, one.began, UINT64_MAX - one.ended, !one.is_range());
    };
    const auto first_operation = std::stable_partition(tracks.slices.begin(), tracks.slices.end(),
                                                       [](const KernelSlice& one) { return one.is_range(); });
    std::reverse(tracks.slices.begin(), first_operation);
    std::stable_sort(tracks.slices.begin(), tracks.slices.end(),
                     [&](const KernelSlice& a, const KernelSlice& b) { return key(a) < key(b); });
    return tracks;
}

bool is_kernel_wait(const KernelSlice& slice) {
    return awaits_kernel_word(slice) ||
           is_one_of(slice, {"local_wait_until", "wait_until_all", "wait_until_any", "wait_until_some",
                             "wait_until_all_vector", "wait_until_any_vector", "wait_until_some_vector",
                             "receive", "sync of a grid", "sync", "barrier"});
}

bool sets_kernel_word(const KernelSlice& slice) {
    return slice.peer >= 0 && is_one_of(slice, {"put_signal", "put_signal_nbi", "signal_set", "signal_add"});
}

bool awaits_kernel_word(const KernelSlice& slice) {
    return is_one_of(slice, {"signal_wait_until", "signal_consume", "wait_until"});
}

}  // namespace atl::cli
