#include "turns.hpp"

#include "work.hpp"

#include <c10/util/ScopeExit.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace atoll_c10d {
namespace {

/// Operations of deeper callbacks share an order with others. Chains of callbacks have one operation at a
/// time, so they may.
constexpr int most_orders = 8;

thread_local std::vector<const Turn*> turns_here;

/// Futures are destroyed without the mutex. The end of their callbacks releases the GIL now and then, and
/// those who take the mutex hold the GIL.
class Origins {
  public:
    void add(const FuturePtr& future, const Origin& origin) {
        std::vector<Known> dropped;
        Known made{c10::weak_intrusive_ptr<c10::ivalue::Future>(future), origin.completions, origin.depth};
        const std::lock_guard lock(mutex_);
        if (known_.size() >= limit_) {
            dropped.reserve(known_.size());
            std::erase_if(known_, [&](auto& entry) {
                const bool is_over = entry.second.future.expired();
                if (is_over) dropped.push_back(std::move(entry.second));
                return is_over;
            });
            limit_ = std::max<std::size_t>(64, 2 * known_.size());
        }
        const auto [it, is_new] = known_.try_emplace(future.get(), made);
        if (!is_new) std::swap(it->second, made);
    }
    std::optional<Origin> find(const FuturePtr& future) {
        FuturePtr found;
        const std::lock_guard lock(mutex_);
        const auto it = known_.find(future.get());
        if (it == known_.end()) return std::nullopt;
        found = it->second.future.lock();
        if (found != future) return std::nullopt;
        Origin origin{it->second.completions.lock(), it->second.depth};
        if (!origin.completions) return std::nullopt;
        return origin;
    }

  private:
    struct Known {
        c10::weak_intrusive_ptr<c10::ivalue::Future> future;
        std::weak_ptr<Completions> completions;
        int depth;
    };
    std::mutex mutex_;
    std::unordered_map<const void*, Known> known_;
    std::size_t limit_ = 64;
};

/// Never destroyed: threads may use it while the process ends.
Origins& origins() {
    static auto& made = *new Origins;
    return made;
}

FuturePtr future_of(const pybind11::object& future) {
    return pybind11::cast<std::shared_ptr<torch::jit::PythonFutureWrapper>>(future)->fut;
}

}  // namespace

void note_origin(const FuturePtr& future, const Origin& origin) { origins().add(future, origin); }

Turn::Turn(Origin origin)
    : origin_(std::move(origin)), number_(origin_.completions->add_turn(origin_.depth)) {}
Turn::~Turn() { end(); }

void Turn::end() {
    if (!std::exchange(is_over_, true)) origin_.completions->end_turn(origin_.depth, number_);
}

std::shared_ptr<Turn> Turn::of(const pybind11::object& future) {
    const std::optional<Origin> origin = origins().find(future_of(future));
    return origin ? std::make_shared<Turn>(*origin) : nullptr;
}

pybind11::object Turn::run(const pybind11::object& callback, const pybind11::object& done) {
    const int before = Completions::enter(origin_.depth);
    turns_here.push_back(this);
    const auto over = c10::make_scope_exit([&] {
        turns_here.pop_back();
        Completions::leave(before);
        end();
    });
    return callback(done);
}

void Turn::follow(const pybind11::object& child) const { note_origin(future_of(child), origin_); }

int Turn::await(const std::shared_ptr<Completions>& group, double timeout_s) {
    if (turns_here.empty()) return 0;
    const Turn& turn = *turns_here.back();
    if (turn.origin_.completions != group) return 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
    const WithoutGil released;
    while (!group->await_turn(turn.origin_.depth, turn.number_)) {
        if (run_signal_handlers() != 0) throw_failure(ATOLL_INTERRUPTED, "Interrupted while waiting.");
        if (timeout_s > 0 && std::chrono::steady_clock::now() > end)
            throw_failure(
                ATOLL_TIMED_OUT,
                c10::str("Timed out after ", timeout_s,
                         " s in a callback that begins an operation. It waits for a callback that was "
                         "added before it, since callbacks begin operations in one order on all "
                         "ranks."));
    }
    return 1 + turn.origin_.depth % (most_orders - 1);
}

bool Turn::is_within(const Origin& origin) {
    return std::any_of(turns_here.begin(), turns_here.end(), [&](const Turn* turn) {
        return turn->origin_.completions == origin.completions && turn->origin_.depth == origin.depth;
    });
}

}  // namespace atoll_c10d
