// Work: operations of the backend as PyTorch sees them.
#pragma once

#include "completions.hpp"
#include "turns.hpp"

#include <atoll/groups.h>

#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/csrc/utils/pybind.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atoll_c10d {

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using c10d::OpType;
using Milliseconds = std::chrono::milliseconds;

/// The table of libatoll; set when the module is loaded.
inline const atoll_groups_table* table = nullptr;

/// Releases the GIL if this thread holds it, for calls that PyTorch's bindings make with it.
class __attribute__((visibility("hidden"))) WithoutGil {
  public:
    WithoutGil() {
        if (PyGILState_Check() != 0) released_.emplace();
    }

  private:
    std::optional<pybind11::gil_scoped_release> released_;
};

/// An exception of a signal handler, on its way from a wait to the caller.
inline thread_local std::unique_ptr<pybind11::error_already_set> from_handler;

/// Runs Python's signal handlers during a wait. Returns nonzero if one raised.
inline int run_signal_handlers() {
    const pybind11::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return 0;
    from_handler = std::make_unique<pybind11::error_already_set>();
    return 1;
}

/// Throws PyTorch's exception for a failure of the library.
[[noreturn]] inline void throw_failure(int failure, const std::string& text) {
    if (failure == ATOLL_INTERRUPTED && from_handler) {
        const std::unique_ptr<pybind11::error_already_set> error = std::move(from_handler);
        throw pybind11::error_already_set(*error);
    }
    if (failure == ATOLL_WRONG_CALL) C10_THROW_ERROR(ValueError, text);
    // Programs look for " Timed out ", as they do in the errors of gloo.
    if (failure == ATOLL_TIMED_OUT) C10_THROW_ERROR(DistBackendError, "Atoll: " + text);
    C10_THROW_ERROR(DistBackendError, text);
}
/// The same for the library's last failure.
[[noreturn]] inline void throw_last_failure() { throw_failure(table->last_failure(), table->last_error()); }

/// The tensors that an operation needs until it is done, and the step that follows the transfer.
struct Job {
    OpType type = OpType::UNKNOWN;
    Tensors kept;                  ///< contiguous tensors that the transfer reads and writes
    Tensors results;               ///< tensors that the caller passed
    std::function<void()> finish;  ///< copies to tensors that are not contiguous; may be empty
    bool profiled = false;         ///< true if `shown` has the tensors for a profiler
    Tensors shown;
    std::function<void()> ended;  ///< ends the profiler's range; may be empty
};

class AtollWork : public c10d::Work {
  public:
    AtollWork(int rank, Job job, std::uint64_t sequence)
        : Work(rank, job.type), job_(std::move(job)), sequence_(sequence) {}
    ~AtollWork() override {
        if (request_ != nullptr) table->release(request_);
    }

    /// Starts the operation. Throws for a call that the library refuses.
    static c10::intrusive_ptr<AtollWork> start(atoll_group* group, const atoll_call& call, int rank, Job job,
                                               std::uint64_t sequence,
                                               std::shared_ptr<Completions> completions) {
        auto work = c10::make_intrusive<AtollWork>(rank, std::move(job), sequence);
        work->completions_ = std::move(completions);
        auto held = std::make_unique<c10::intrusive_ptr<AtollWork>>(work);
        const atoll_callbacks callbacks{held.get(), &AtollWork::finish_state, &AtollWork::notify_state};
        atoll_request* request = table->start(group, &call, &callbacks);
        if (request == nullptr) throw_last_failure();
        held.release();  // notify_state takes it, possibly already
        work->request_ = request;
        return work;
    }
    /// An operation that is done.
    static c10::intrusive_ptr<AtollWork> completed(int rank, Job job, std::uint64_t sequence, int source) {
        auto work = c10::make_intrusive<AtollWork>(rank, std::move(job), sequence);
        work->source_ = source;
        work->settle(nullptr);
        return work;
    }

    bool isCompleted() override {
        if (!over_.load(std::memory_order_acquire) && request_ != nullptr) table->test(request_);
        return over_.load(std::memory_order_acquire);
    }
    bool isSuccess() const override {
        const std::lock_guard lock(state_);
        return over_.load() && !failure_;
    }
    std::exception_ptr exception() const override {
        const std::lock_guard lock(state_);
        return failure_;
    }
    int sourceRank() const override { return request_ != nullptr ? table->source(request_) : source_; }
    std::vector<at::Tensor> result() override { return job_.results; }
    void synchronize() override {}

    bool wait(Milliseconds timeout) override {
        const double limit_s = timeout == kNoTimeout ? -1 : std::chrono::duration<double>(timeout).count();
        if (!over_.load(std::memory_order_acquire)) {
            const int result = table->wait_of_program(request_, limit_s, run_signal_handlers);
            if (result == ATOLL_INTERRUPTED) throw_failure(result, table->last_error());
            if (result == 0) {
                table->describe_wait(request_, limit_s);
                throw_failure(ATOLL_TIMED_OUT, table->last_error());
            }
            // Another thread may still be within notify.
            while (!over_.load(std::memory_order_acquire)) std::this_thread::yield();
        }
        complete(true);
        if (const std::exception_ptr failure = exception()) std::rethrow_exception(failure);
        return true;
    }
    void abort() override {
        TORCH_CHECK(false, "A single operation of Atoll cannot be aborted; abort its group instead.");
    }

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        {
            const std::lock_guard lock(state_);
            if (future_) return future_;
        }
        // Without the mutex: the end of an older future may release the GIL.
        auto made = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
        if (is_ordered()) note_origin(made, {completions_, depth_});
        const std::lock_guard lock(state_);
        if (!future_) {
            future_ = std::move(made);
            if (over_.load()) {
                is_claimed_ = true;
                mark(*future_);
            }
        }
        return future_;
    }
    std::uint64_t getSequencenumber() const override { return sequence_; }

  private:
    static void finish_state(void* state) {
        AtollWork& work = **static_cast<c10::intrusive_ptr<AtollWork>*>(state);
        work.take_turn();
        if (work.job_.finish) work.job_.finish();
    }
    static void notify_state(void* state, int failure, const char* text) {
        const std::unique_ptr<c10::intrusive_ptr<AtollWork>> held(
            static_cast<c10::intrusive_ptr<AtollWork>*>(state));
        (*held)->settle(failure == 0 ? nullptr : failure_of(failure, text));
    }
    static std::exception_ptr failure_of(int failure, const char* text) {
        try {
            throw_failure(failure, text);
        } catch (...) {
            return std::current_exception();
        }
    }

    /// Messages end in an order that ranks do not share.
    bool is_ordered() const {
        return completions_ && job_.type != OpType::SEND && job_.type != OpType::RECV &&
               job_.type != OpType::RECVANYSOURCE;
    }
    void settle(std::exception_ptr failure) {
        // Without the mutex: the end of a tensor may need the GIL, which a thread in getFuture holds.
        job_.kept.clear();
        job_.finish = nullptr;
        if (job_.ended) job_.ended();
        job_.ended = nullptr;
        Completions::EntryPtr entry;
        {
            const std::lock_guard lock(state_);
            failure_ = std::move(failure);
            if (future_.defined()) {
                if (!entry_) entry_ = completions_->reserve(depth_);
                entry = entry_;
            }
            over_.store(true, std::memory_order_release);
        }
        if (!entry) return;
        const auto self = c10::intrusive_ptr<AtollWork>::reclaim_copy(this);
        Completions::fill(entry, [self] { self->complete(); });
    }
    /// Operations finish in one order on all ranks, which their callbacks keep.
    void take_turn() {
        const std::lock_guard lock(state_);
        if (future_) entry_ = completions_->reserve(depth_);
    }
    /// Completes the future, if there is one. It is complete on return; its callbacks may still run
    /// elsewhere.
    void complete(bool is_waiter = false) {
        c10::intrusive_ptr<c10::ivalue::Future> future;
        bool is_mine = false;
        {
            const std::lock_guard lock(state_);
            future = future_;
            // Its callbacks may not run within one that was added before them.
            if (entry_ && is_waiter && Turn::is_within({completions_, depth_})) return;
            is_mine = future.defined() && !std::exchange(is_claimed_, true);
        }
        if (is_mine) mark(*future);
        while (future.defined() && !future->completed()) std::this_thread::yield();
    }
    void mark(c10::ivalue::Future& future) {
        if (failure_)
            future.setError(failure_);
        else
            future.markCompleted(c10::IValue(job_.results));
    }

    Job job_;
    const std::uint64_t sequence_;
    int source_ = -1;
    atoll_request* request_ = nullptr;
    std::atomic<bool> over_{false};
    mutable std::mutex state_;
    std::exception_ptr failure_;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
    bool is_claimed_ = false;  ///< a thread completes the future; guarded by state_
    std::shared_ptr<Completions> completions_;
    Completions::EntryPtr entry_;  ///< in the order of callbacks; empty until it has finished
    const int depth_ = Completions::depth_here();
};

/// Several operations as one.
class ManyWork : public c10d::Work {
  public:
    ManyWork(int rank, OpType type, std::vector<c10::intrusive_ptr<c10d::Work>> parts)
        : Work(rank, type), parts_(std::move(parts)) {}

    bool isCompleted() override {
        bool all = true;
        for (const auto& part : parts_) all = part->isCompleted() && all;
        return all;
    }
    bool isSuccess() const override {
        return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->isSuccess(); });
    }
    std::exception_ptr exception() const override {
        for (const auto& part : parts_)
            if (const std::exception_ptr failure = part->exception()) return failure;
        return nullptr;
    }
    std::vector<at::Tensor> result() override {
        Tensors all;
        for (const auto& part : parts_) {
            const Tensors some = part->result();
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }
    void synchronize() override {}
    bool wait(Milliseconds timeout) override {
        for (const auto& part : parts_) part->wait(timeout);
        return true;
    }
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
        auto left = std::make_shared<std::atomic<std::size_t>>(parts_.size());
        if (parts_.empty()) future->markCompleted(c10::IValue(Tensors{}));
        auto self = c10::intrusive_ptr<ManyWork>::reclaim_copy(this);
        for (const auto& part : parts_)
            part->getFuture()->addCallback([future, left, self](c10::ivalue::Future&) {
                if (left->fetch_sub(1) != 1) return;
                if (const std::exception_ptr failure = self->exception())
                    future->setError(failure);
                else
                    future->markCompleted(c10::IValue(self->result()));
            });
        return future;
    }

  private:
    std::vector<c10::intrusive_ptr<c10d::Work>> parts_;
};

}  // namespace atoll_c10d
