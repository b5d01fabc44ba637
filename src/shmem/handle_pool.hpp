// Objects behind C handles, in one range of addresses: any value can be told from a handle without a look at
// it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>

#include <sys/mman.h>

namespace atl::shmem {

/// Objects are never destroyed. One that is given back keeps its empty state for a while, so that a handle
/// used after its end is found out. Global, with no constructor to run: C calls may come before those of the
/// program.
template <class T> class HandlePool {
  public:
    static constexpr std::size_t most = std::size_t{1} << 18;  ///< alive at a time
    static constexpr std::size_t kept_after_end = 4096;

    constexpr HandlePool() = default;

    /// An object in its empty state, or null where `most` are alive.
    T* take() {
        const std::lock_guard lock(mutex_);
        if (base_ == 0 && !reserve()) return nullptr;
        const std::size_t next = next_.load(std::memory_order_relaxed);
        if (ended_ && (ended_->size() > kept_after_end || (next == most && !ended_->empty()))) {
            T* object = ended_->front();
            ended_->pop_front();
            return object;
        }
        if (next == most) return nullptr;
        T* object = new (reinterpret_cast<void*>(base_ + next * stride)) T;
        next_.store(next + 1, std::memory_order_release);
        return object;
    }
    /// `object` is empty again.
    void give_back(T* object) {
        const std::lock_guard lock(mutex_);
        if (!ended_) ended_ = new std::deque<T*>;
        ended_->push_back(object);
    }
    /// Null for what `take` did not give.
    template <class Handle> T* find(Handle handle) const noexcept {
        const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(handle) - base_;
        if (distance % stride != 0 || distance / stride >= next_.load(std::memory_order_acquire)) [[unlikely]]
            return nullptr;
        return reinterpret_cast<T*>(handle);
    }

  private:
    static constexpr std::size_t stride = std::bit_ceil(sizeof(T));

    bool reserve() {
        void* memory = ::mmap(nullptr, most * stride, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        base_ = reinterpret_cast<std::uintptr_t>(memory);
        return true;
    }

    std::uintptr_t base_ = 0;  ///< written before `next_` is first more than 0
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::deque<T*>* ended_ = nullptr;
};

}  // namespace atl::shmem
