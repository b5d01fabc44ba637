#include "transport/loopback/loopback.hpp"

#include "transport/loopback/queue.hpp"

#include <shared_mutex>

namespace atl::transport {
namespace {

class Loopback final : public Transport {
  public:
    Loopback(int n_pes, std::function<char*(int)> base_of) : n_pes_(n_pes), base_of_(std::move(base_of)) {
        create_context();
    }

    std::string_view name() const override { return "loopback"; }
    bool reaches(int pe) const override { return pe >= 0 && pe < n_pes_; }

    ContextId create_context() override {
        auto queues = std::make_unique<Queues>(static_cast<std::size_t>(n_pes_));
        for (int pe = 0; pe < n_pes_; ++pe)
            (*queues)[static_cast<std::size_t>(pe)].start(base_of_(pe), &pending_);
        const std::unique_lock lock(mutex_);
        for (std::size_t id = 0; id < contexts_.size(); ++id) {
            if (contexts_[id]) continue;
            contexts_[id] = std::move(queues);
            return static_cast<ContextId>(id);
        }
        contexts_.push_back(std::move(queues));
        return static_cast<ContextId>(contexts_.size() - 1);
    }

    void destroy_context(ContextId context) override {
        quiet(context, -1);
        const std::unique_lock lock(mutex_);
        contexts_[context] = nullptr;
    }

    void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
             Completion completion) override {
        queue(context, pe).put(offset, src, bytes, completion);
    }
    void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
             Completion completion) override {
        queue(context, pe).get(offset, dst, bytes, completion);
    }
    std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                         std::uint64_t value, std::uint64_t compare) override {
        return queue(context, pe).atomic(offset, op, type, value, compare);
    }

    void fence(ContextId context, int pe) override {
        for_each(context, pe, [](Queue& queue) { queue.fence(); });
    }
    void quiet(ContextId context, int pe) override {
        for_each(context, pe, [](Queue& queue) { queue.deliver_all(); });
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }

    bool progress() override {
        if (pending_.load(std::memory_order_relaxed) == 0) return false;
        const std::shared_lock lock(mutex_);
        for (const std::unique_ptr<Queues>& queues : contexts_) {
            if (!queues) continue;
            for (Queue& queue : *queues) queue.try_deliver_all();
        }
        return true;
    }

  private:
    using Queue = loopback::Queue;
    using Queues = std::vector<Queue>;

    // No thread may use a context while it is destroyed, so the reference may outlive the lock.
    Queues& queues(ContextId context) {
        const std::shared_lock lock(mutex_);
        return *contexts_[context];
    }
    Queue& queue(ContextId context, int pe) { return queues(context)[static_cast<std::size_t>(pe)]; }

    template <class Body> void for_each(ContextId context, int pe, Body&& body) {
        if (pe >= 0) return body(queue(context, pe));
        for (Queue& queue : queues(context)) body(queue);
    }

    const int n_pes_;
    const std::function<char*(int)> base_of_;
    std::atomic<std::uint64_t> pending_{0};  // queued operations; lets progress() with none be one load
    std::shared_mutex mutex_;                // guards the table, not its queues
    std::vector<std::unique_ptr<Queues>> contexts_;
};

}  // namespace

std::unique_ptr<Transport> create_loopback(int n_pes, std::function<char*(int pe)> base_of) {
    return std::make_unique<Loopback>(n_pes, std::move(base_of));
}

}  // namespace atl::transport
