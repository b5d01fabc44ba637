// Keys of PyTorch's store by which the ranks of a group find each other.
#pragma once

#include "work.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace atoll_c10d {

/// Waits for a key of the store, and throws an error that names the missing step.
inline std::string awaited(c10d::Store& store, const std::string& key, const std::string& step,
                           Milliseconds timeout) {
    try {
        store.wait({key}, timeout);
    } catch (const std::exception& error) {
        throw_failure(
            ATOLL_TIMED_OUT,
            c10::str(step, " within ", std::chrono::duration<double>(timeout).count(), " s: ", error.what()));
    }
    return store.get_to_str(key);
}

/// The store as libatoll calls it. An exception is kept for the caller of `join`.
class StoreCalls {
  public:
    /// `timeout` is for all calls together. If it polls, other threads can use the store meanwhile: a wait in
    /// TCPStore keeps them out.
    StoreCalls(c10d::Store& store, std::string keys, Milliseconds timeout, bool polls = false)
        : store_(store),
          keys_(std::move(keys)),
          end_(std::chrono::steady_clock::now() + timeout),
          polls_(polls) {}

    atoll_store calls() { return {this, &StoreCalls::put, &StoreCalls::get}; }
    const std::exception_ptr& error() const { return error_; }
    /// The text of that exception, after a space; empty without one.
    std::string reason() const {
        if (!error_) return {};
        try {
            std::rethrow_exception(error_);
        } catch (const c10::Error& error) {
            return std::string(" ") + error.what_without_backtrace();
        } catch (const std::exception& error) {
            return std::string(" ") + error.what();
        } catch (...) {
            return {};
        }
    }

  private:
    template <class Body> int guarded(Body&& body) {
        try {
            body();
            return 0;
        } catch (...) {
            error_ = std::current_exception();
            return 1;
        }
    }
    static int put(void* state, const char* key, const char* value, std::size_t bytes) {
        auto& self = *static_cast<StoreCalls*>(state);
        return self.guarded(
            [&] { self.store_.set(self.keys_ + key, std::vector<std::uint8_t>(value, value + bytes)); });
    }
    static int get(void* state, const char* key, void* sink,
                   void (*deliver)(void* sink, const char* value, std::size_t bytes)) {
        auto& self = *static_cast<StoreCalls*>(state);
        return self.guarded([&] {
            while (self.polls_ && std::chrono::steady_clock::now() < self.end_ &&
                   !self.store_.check({self.keys_ + key}))
                std::this_thread::sleep_for(Milliseconds(1));
            const auto left =
                std::chrono::duration_cast<Milliseconds>(self.end_ - std::chrono::steady_clock::now());
            self.store_.wait({self.keys_ + key}, std::max(left, Milliseconds(1)));
            const std::vector<std::uint8_t> value = self.store_.get(self.keys_ + key);
            deliver(sink, reinterpret_cast<const char*>(value.data()), value.size());
        });
    }

    c10d::Store& store_;
    const std::string keys_;
    const std::chrono::steady_clock::time_point end_;
    const bool polls_;
    std::exception_ptr error_;
};

/// The beginning of the keys of a group of these global ranks. If one of them has left out an earlier group,
/// it must not meet those of that group.
inline std::string prefix_of_ranks(const std::vector<int>& ranks) {
    std::string text;
    for (const int rank : ranks) text += std::to_string(rank) + ",";
    return c10::str("atoll/", std::hash<std::string>{}(text));
}

/// The keys of one group. A store may outlive a group, so every group of a store has its own keys: those of
/// its first, second, ... set of `size` tickets.
inline std::string keys_of_group(c10d::Store& store, const std::string& prefix, int size) {
    const std::int64_t ticket = store.add(prefix + "/tickets", 1);
    return prefix + "/" + std::to_string((ticket - 1) / size);
}

}  // namespace atoll_c10d
