// Backend: the operations of torch.distributed, carried out by groups of libatoll: one for CPU tensors,
// others for CUDA tensors.
#pragma once

#include "buffers.hpp"
#include "gpu.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <c10/util/ScopeExit.h>
#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/version.h>
#endif

#include <array>
#include <optional>

namespace atoll_c10d {

/// Options with the fields of gloo's. PyTorch's logger of DDP takes the backend of a group named gloo for
/// `ProcessGroupGloo`, without a check, and reads `threads` of its options.
struct AtollOptions : c10d::Backend::Options {
    using Options::Options;
    std::vector<std::shared_ptr<void>> devices;
    int threads = 2;  ///< gloo's default
};

/// The profiler's range for this thread's call of `many`; null without a profiler.
inline thread_local std::shared_ptr<SharedRange> range_of_many;

class AtollBackend : public c10d::Backend {
  public:
    AtollBackend(atoll_group* group, const Meeting& meeting, Milliseconds timeout, std::vector<int> names,
                 std::string label, std::string shown)
        : Backend(meeting.rank, meeting.size),
          options_(c10::make_intrusive<AtollOptions>("atoll", timeout)),
          group_(group),
          meeting_(meeting),
          names_(std::move(names)),
          label_(std::move(label)),
          shown_(std::move(shown)) {}
    ~AtollBackend() override {
        gpus_.clear();
        for (Order& order : orders_)
            if (atoll_group* const group = order.group.load()) table->leave(group);
        table->leave(group_);
    }

    const std::string getBackendName() const override { return "atoll"; }
    /// A copy: `splitGroup` of PyTorch before 2.15 writes the new group's time-out into it.
    c10::intrusive_ptr<Options> getBackendOptions() override {
        return c10::make_intrusive<Options>(*options_);
    }
    void setTimeout(Milliseconds timeout) override { options_->timeout = timeout; }
    std::uint64_t getSequenceNumberForGroup() override { return sequence_.load(); }
    void abort() override;
    /// destroy_process_group calls it, while the program may keep the group.
    void shutdown() override { is_destroyed_.store(true); }

    /// Tensors of CPUs in symmetric memory. DDP and FSDP2 can take their buckets from here.
    std::shared_ptr<c10::Allocator> getMemAllocator() override;
    at::Tensor allocateTensor(long size, at::TensorOptions options) override;
    bool supportsTensorAlloc(c10::DeviceIndex device) override;

    /// Before 2.15 PyTorch splits any backend that can split, so it would refuse groups of NCCL beside ours.
    /// Its `split_group` knows PyTorch's own backends only, so nothing is lost.
    bool supportsSplitting() const override {
        return TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 15);
    }
    c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                      const std::vector<int>& ranks,
                                      const c10::intrusive_ptr<Options>& options) override;
    bool supportsShrinking() const override { return true; }
    c10::intrusive_ptr<Backend> shrink(const std::vector<std::int64_t>& excluded, int flags,
                                       const c10::intrusive_ptr<Options>& options) override;

    bool supportsCoalescing() const override { return true; }
    void startCoalescing() override;
    WorkPtr endCoalescing() override;

    WorkPtr barrier(const c10d::BarrierOptions& opts) override;
    void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;

    WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
    WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
    WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
    WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
    WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;

    WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                      const c10d::AllgatherOptions& opts) override;
    WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                const c10d::AllgatherOptions& opts) override;
    WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                            const c10d::AllgatherOptions& opts) override;
    WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                            const c10d::AllgatherOptions& opts) override;
    WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& opts) override;
    WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                    const c10d::ScatterOptions& opts) override;

    WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                           const c10d::ReduceScatterOptions& opts) override;
    WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                 const c10d::ReduceScatterOptions& opts) override;
    WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                            const c10d::ReduceScatterOptions& opts) override;

    WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
    WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                          std::vector<std::int64_t>& input_splits,
                          const c10d::AllToAllOptions& opts) override;

    WorkPtr send(Tensors& tensors, int to, int tag) override;
    WorkPtr recv(Tensors& tensors, int from, int tag) override;
    WorkPtr recvAnysource(Tensors& tensors, int tag) override;

#ifdef C10D_BACKEND_HAS_WINDOW
    bool supportsWindow() const override { return true; }
    std::unordered_map<std::string, std::uint64_t> getMemoryStats() override;
    c10::intrusive_ptr<c10d::Window> new_window(const std::optional<at::Tensor>& tensor) override;
#endif

    /// The global rank of each rank.
    const std::vector<int>& names() const { return names_; }

  private:
    std::string name_of(int rank) const { return std::to_string(names_[static_cast<std::size_t>(rank)]); }
    Milliseconds limit(Milliseconds given) const {
        return given == c10d::kUnsetTimeout ? options_->timeout : given;
    }
    c10::intrusive_ptr<Backend> subgroup(const c10::intrusive_ptr<c10d::Store>& store,
                                         const std::vector<int>& ranks, const std::string& label,
                                         const c10::intrusive_ptr<Options>& options);
    int root_of(std::int64_t root, const char* operation) const;
    void refuse_if_destroyed() const {
        TORCH_CHECK_VALUE(!is_destroyed_.load(), "The process group ", label_,
                          " was destroyed (destroy_process_group), so it carries out no operations.");
    }
    atoll_group* group_here(double timeout_s);
    /// Starts an operation on tensors of this device. `uneven`: pieces of an all_to_all may differ in size.
    WorkPtr go(Buffers& buffers, const atoll_call& call, c10::Device device, bool async, bool uneven = false);
    Job profiled(Job job) const;
    WorkPtr go_on_cpu(Job job, const atoll_call& call, bool async, std::uint64_t sequence);
    GpuSide& gpu(c10::Device device);
    WorkPtr message(Buffers& buffers, int kind, const at::Tensor& tensor, int other, int tag);
    /// Reduces `source` of all ranks into `tensor`, which may be the same.
    WorkPtr reduce_all(const at::Tensor& source, const at::Tensor& tensor,
                       const c10d::AllreduceOptions& opts);
    WorkPtr sum_sparse(at::Tensor& tensor, const c10d::AllreduceOptions& opts);
    Tensors gather_all(const at::Tensor& tensor, const std::vector<std::int64_t>& rows, Milliseconds timeout);
    void set_op(atoll_call& call, const c10d::ReduceOp& op, const at::Tensor& tensor,
                const char* operation) const {
        const at::ScalarType type = tensor.scalar_type();
        call.type = type_of(type, operation);
        call.op = op_of(op, type, operation);
        if (tensor.device().is_cuda()) call.type = type_on_gpu(type, call);
    }
    template <class Each> WorkPtr many(OpType type, const Tensors& inputs, Each&& each) {
        std::vector<WorkPtr> parts;
        if (is_profiled())
            range_of_many = std::make_shared<SharedRange>(begin_range(shown_, type, inputs), inputs.size());
        const auto forget = c10::make_scope_exit([&] { range_of_many = nullptr; });
        for (std::size_t i = 0; i < inputs.size(); ++i) parts.push_back(each(i));
        return c10::make_intrusive<ManyWork>(rank_, type, std::move(parts));
    }
    std::string arrival_key(int rank) const;
    std::string missing_ranks(std::chrono::steady_clock::time_point end, bool all);
    int wait_for_message(int kind, int other, int tag, char* byte, Milliseconds timeout);

    // These are first because gloo's options are: after its store, which is one word or two.
    [[maybe_unused]] void* unused_ = nullptr;
    c10::intrusive_ptr<AtollOptions> options_;
    const c10::intrusive_ptr<AtollOptions> same_options_ = options_;

    atoll_group* group_;
    const std::shared_ptr<Completions> completions_ = std::make_shared<Completions>();
    Meeting meeting_;
    std::mutex gpus_mutex_;
    std::map<c10::DeviceIndex, std::unique_ptr<GpuSide>> gpus_;
    std::vector<int> names_;  ///< global rank of each rank
    std::string label_;       ///< the group's name, for errors
    std::string shown_;       ///< the backend's name in profiles: another one's if the program names that
    std::atomic<std::uint64_t> sequence_{0};
    int monitored_ = 0;
    int windows_ = 0, splits_ = 0;
    std::atomic<bool> is_destroyed_{false}, is_aborted_{false};
    /// Collectives that callbacks start are ordered separately for each depth of nested callbacks, as if in
    /// another group.
    struct Order {
        std::mutex joining;
        std::atomic<atoll_group*> group{nullptr};
    };
    std::array<Order, 8> orders_;
    bool coalescing_ = false;
    std::vector<WorkPtr> coalesced_;
};

/// Makes the backend of a group, whose store connects its ranks. Collective over the group.
c10::intrusive_ptr<c10d::Backend> create_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                                 int size, double timeout_s, const std::string& group_id,
                                                 std::vector<int> names, std::string shown);

}  // namespace atoll_c10d
