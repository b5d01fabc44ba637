// Groups made of a group: split_group and shrink_group of torch.distributed.
#include "backend.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <algorithm>

namespace atoll_c10d {
namespace {

/// SHRINK_ABORT of distributed_c10d.py.
constexpr int shrink_abort = 1;

}  // namespace

/// Makes the group of these ranks, in this order. The store's connection is its own: a wait there must not
/// hold up the parent's.
c10::intrusive_ptr<c10d::Backend> AtollBackend::subgroup(const c10::intrusive_ptr<c10d::Store>& store,
                                                         const std::vector<int>& ranks,
                                                         const std::string& label,
                                                         const c10::intrusive_ptr<Options>& options) {
    refuse_if_destroyed();
    std::vector<int> names;
    int mine = -1;
    for (const int rank : ranks) {
        TORCH_CHECK_VALUE(rank >= 0 && rank < size_, "Group ", label, " was to have rank ", rank, "; group ",
                          label_, " has ranks 0 to ", size_ - 1, ".");
        if (rank == rank_) mine = static_cast<int>(names.size());
        names.push_back(names_[static_cast<std::size_t>(rank)]);
    }
    if (mine < 0) return nullptr;
    const Milliseconds timeout = options ? options->timeout : options_->timeout;
    return create_backend(store->clone(), mine, static_cast<int>(ranks.size()),
                          std::chrono::duration<double>(timeout).count(), label, std::move(names), shown_);
}

/// PyTorch calls this on every rank; a rank that is in no part gets nothing.
c10::intrusive_ptr<c10d::Backend> AtollBackend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                      const std::vector<int>& ranks,
                                                      const c10::intrusive_ptr<Options>& options) {
    return subgroup(store, ranks, c10::str(label_, ":split:", ++splits_), options);
}

/// PyTorch calls this on the ranks that stay. The others may have died, or be in the midst of a call.
c10::intrusive_ptr<c10d::Backend> AtollBackend::shrink(const std::vector<std::int64_t>& excluded, int flags,
                                                       const c10::intrusive_ptr<Options>& options) {
    std::string keys = meeting_.keys + "/shrink";
    std::vector<int> kept;
    for (int rank = 0; rank < size_; ++rank) {
        const bool stays = std::find(excluded.begin(), excluded.end(), rank) == excluded.end();
        stays ? kept.push_back(rank) : void(keys += c10::str("-", rank));
    }
    TORCH_CHECK_VALUE(std::find(kept.begin(), kept.end(), rank_) != kept.end(), "Rank ", rank_,
                      " is among those that shrink is to exclude, so it must not call it.");
    if ((flags & shrink_abort) != 0) abort();
    const auto store = c10::make_intrusive<c10d::PrefixStore>(keys, meeting_.store);
    return subgroup(store, kept, label_ + ":shrunk", options);
}

}  // namespace atoll_c10d
