// Operations as PyTorch's profiler shows them: a range from the call to its end, such as "gloo:all_reduce".
#pragma once

#include <ATen/ThreadLocalState.h>
#include <ATen/record_function.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atoll_c10d {

/// True if a profiler of this thread wants ranges. Without one this is all that an operation costs.
inline bool is_profiled() { return at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE).has_value(); }

/// The name of an operation in torch.distributed.
inline const char* name_of_operation(c10d::OpType type) {
    using c10d::OpType;
    switch (type) {
        case OpType::BROADCAST:
            return "broadcast";
        case OpType::ALLREDUCE:
        case OpType::ALLREDUCE_COALESCED:
            return "all_reduce";
        case OpType::REDUCE:
            return "reduce";
        case OpType::ALLGATHER:
        case OpType::ALLGATHER_COALESCED:
        case OpType::_ALLGATHER_BASE:
            return "all_gather";
        case OpType::GATHER:
            return "gather";
        case OpType::SCATTER:
            return "scatter";
        case OpType::REDUCE_SCATTER:
        case OpType::_REDUCE_SCATTER_BASE:
            return "reduce_scatter";
        case OpType::ALLTOALL:
        case OpType::ALLTOALL_BASE:
            return "all_to_all";
        case OpType::SEND:
            return "send";
        case OpType::RECV:
            return "recv";
        case OpType::RECVANYSOURCE:
            return "recvAnySource";
        case OpType::BARRIER:
            return "barrier";
        default:
            return "coalesced";
    }
}

/// One range of several operations, which ends with the last of them.
class SharedRange {
  public:
    SharedRange(std::function<void()> end, std::size_t operations)
        : end_(std::move(end)), left_(operations) {}
    void operation_ended() {
        if (left_.fetch_sub(1) == 1 && end_) end_();
    }

  private:
    std::function<void()> end_;
    std::atomic<std::size_t> left_;
};

/// Begins an operation's range. Returns the function that ends it, for any thread.
inline std::function<void()> begin_range(const std::string& backend, c10d::OpType type,
                                         const std::vector<at::Tensor>& tensors) {
    auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
    if (!callbacks) return nullptr;
    auto range = std::make_shared<at::RecordFunction>(std::move(*callbacks));
    range->_setAsync();  // it may end in another thread
    const std::vector<c10::IValue> inputs(tensors.begin(), tensors.end());
    range->before(backend + ":" + name_of_operation(type),
                  c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
    std::function<void()> end = [range] { range->end(); };
    return at::wrapPropagateTLSState(std::move(end));
}

}  // namespace atoll_c10d
