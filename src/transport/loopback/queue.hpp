// The queued operations of one context to one PE.
#pragma once

#include "transport/transport.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace atl::transport::loopback {

class Queue {
  public:
    /// `pending` counts the queued operations of all queues of a transport.
    void start(char* base, std::atomic<std::uint64_t>* pending) {
        base_ = base;
        pending_ = pending;
    }

    void put(std::uint64_t offset, const void* src, std::size_t bytes, Completion completion);
    void get(std::uint64_t offset, void* dst, std::size_t bytes, Completion completion);
    std::uint64_t atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                         std::uint64_t compare);
    void fence();
    void deliver_all();
    /// Like deliver_all, but returns if another thread is delivering.
    void try_deliver_all();

  private:
    enum class Kind : std::uint8_t { put, get, atomic };

    struct Operation {
        Kind kind;
        AtomicOp op{};
        DType type{};
        std::uint64_t offset = 0;
        std::size_t bytes = 0;
        std::unique_ptr<char[]> copy{};  ///< bytes of a put whose source may be reused
        const void* src = nullptr;
        void* dst = nullptr;
        std::uint64_t value = 0;
    };

    // With `mutex_` held.
    void add(Operation operation);
    void deliver();
    void deliver_epochs(std::size_t end);
    void carry_out(const Operation& operation);

    std::mutex mutex_;
    char* base_ = nullptr;
    std::atomic<std::uint64_t>* pending_ = nullptr;
    std::vector<Operation> operations_;
    std::vector<std::size_t> fences_;  // for each fence, the number of operations before it
};

}  // namespace atl::transport::loopback
