// Operations on CUDA tensors: enqueued on streams as NCCL's are. No thread of the host waits for them.
#pragma once

#include "work.hpp"

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <map>
#include <mutex>
#include <optional>

namespace atoll_c10d {

/// The second table of libatoll; set when the module is loaded.
inline const atoll_device_table* device_table = nullptr;

/// The stream on which a thread's work is enqueued, for the life of this object.
class OnStream {
  public:
    explicit OnStream(const c10::Stream& stream)
        : impl_(stream.device_type()), before_(impl_.exchangeStream(stream)) {}
    ~OnStream() { impl_.exchangeStream(before_); }
    OnStream(const OnStream&) = delete;
    OnStream& operator=(const OnStream&) = delete;

  private:
    c10::impl::VirtualGuardImpl impl_;
    c10::Stream before_;
};

/// Makes `stream` wait for the work that `other` has now.
inline void order_after(const c10::Stream& stream, const c10::Stream& other) {
    if (stream == other) return;
    c10::Event event(other.device_type());
    event.record(other);
    event.block(stream);
}

/// An operation on a stream. `wait` makes the caller's current stream wait for it.
class GpuWork : public c10d::Work {
  public:
    GpuWork(int rank, OpType type, Tensors results, const c10::Stream& stream, bool async,
            std::uint64_t sequence)
        : Work(rank, type), results_(std::move(results)), stream_(stream), sequence_(sequence) {
        if (async) record();
    }

    bool isCompleted() override { return event().query(); }
    bool isSuccess() const override { return true; }
    std::exception_ptr exception() const override { return nullptr; }
    std::vector<at::Tensor> result() override { return results_; }
    void synchronize() override {
        const c10::Stream current =
            c10::impl::VirtualGuardImpl(stream_.device_type()).getStream(stream_.device());
        if (current != stream_) event().block(current);
    }
    bool wait(Milliseconds) override {
        synchronize();
        if (opType_ == OpType::BARRIER) event().synchronize();
        return true;
    }
    void abort() override {
        TORCH_CHECK(false, "A single operation of Atoll cannot be aborted; abort its group instead.");
    }
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        const std::lock_guard lock(mutex_);
        if (!future_) {
            future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                               std::vector<c10::Device>{stream_.device()});
            const OnStream on(stream_);  // the future records the current stream
            // Communication hooks of DDP index it as NCCL's result: one tensor with a row for each rank.
            const bool is_gather = opType_ == OpType::ALLGATHER;
            future_->markCompleted(c10::IValue(is_gather ? Tensors{at::stack(results_)} : results_));
        }
        return future_;
    }
    std::uint64_t getSequencenumber() const override { return sequence_; }

  private:
    void record() {
        event_.emplace(stream_.device_type());
        event_->record(stream_);
    }
    const c10::Event& event() {
        const std::lock_guard lock(mutex_);
        if (!event_) record();
        return *event_;
    }

    Tensors results_;
    c10::Stream stream_;
    const std::uint64_t sequence_;
    std::mutex mutex_;
    std::optional<c10::Event>
        event_;  ///< end of an operation on the caller's stream: recorded when first needed
    c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// The members of a group, and where they find each other.
struct Meeting {
    c10::intrusive_ptr<c10d::Store> store;
    std::string keys;
    int rank, size;
    double timeout_s;
};

using DeviceGroup = std::shared_ptr<atoll_device_group>;

/// Operations of one group of libatoll that follow one another, on any streams.
class Line {
  public:
    Line(DeviceGroup group, c10::Device device)
        : impl_(device.type()),
          device_(device),
          group_(std::move(group)),
          own_(impl_.getStreamFromGlobalPool(device)) {}
    /// Waits for the line's work, which uses the group's memory.
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// The stream of an operation: the caller's, or the line's own, which then follows the caller's. It
    /// follows the line's earlier operations.
    c10::Stream begin(bool async);
    void start(const std::vector<atoll_call>& calls, const c10::Stream& stream) const;

  private:
    bool is_capturing(const c10::Stream& stream) const {
        return device_table->is_capturing(group_.get(), stream.native_handle()) == 1;
    }

    c10::impl::VirtualGuardImpl impl_;
    c10::Device device_;
    DeviceGroup group_;
    c10::Stream own_;
    std::optional<c10::Stream> last_;           ///< stream of the last call that no graph captured
    std::optional<c10::Stream> last_captured_;  ///< stream of the last call that a graph captured
};

/// A group's operations on one GPU.
class GpuSide {
  public:
    GpuSide(Meeting meeting, c10::Device device) : meeting_(std::move(meeting)), device_(device) {}

    /// Enqueues a collective. `uneven`: the pieces of an all_to_all may differ in size.
    WorkPtr collective(const atoll_call& call, Job job, bool uneven, bool async, std::uint64_t sequence);
    /// Enqueues a send or a receive.
    WorkPtr message(const atoll_call& call, Job job, std::uint64_t sequence);
    /// Keeps a send or a receive until `messages`.
    void add(const atoll_call& call, Job job);
    bool has_messages() const { return !pending_.empty(); }
    /// Enqueues the kept messages, which progress together.
    WorkPtr messages(std::uint64_t sequence);

  private:
    struct Pending {
        atoll_call call;
        atoll_span span;
        Job job;
    };
    /// Two lines to one other member: one for sends, one for receives.
    struct Pair {
        std::unique_ptr<Line> sends, receives;
    };
    DeviceGroup join(const std::string& keys, int rank, int size, bool for_messages) const;
    Line& collectives();
    Line& messages_with(int peer, bool is_send);
    WorkPtr finish(Job job, const c10::Stream& stream, bool async, std::uint64_t sequence) const;
    void run(const Line& line, atoll_call call, const c10::Stream& stream, bool uneven) const;
    void run_packed(const Line& line, atoll_call call, const c10::Stream& stream) const;
    void run_by_member(const Line& line, const atoll_call& call, const c10::Stream& stream) const;

    Meeting meeting_;
    c10::Device device_;
    std::mutex mutex_;
    std::unique_ptr<Line> all_;
    std::map<int, Pair> pairs_;
    std::vector<Pending> pending_;
};

}  // namespace atoll_c10d
