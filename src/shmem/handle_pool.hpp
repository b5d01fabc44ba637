// HandlePool: objects behind C handles, in one range of addresses. So any value can be checked without
// dereferencing it.
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

/// Objects are never destroyed. A released one keeps its empty state for a while, so that a later use of its
/// handle is detected. Global, without a constructor: C calls may precede the program's constructors.
template <class T> class HandlePool {
  public:
    static constexpr std::size_t most = std::size_t{1} << 18;  ///< alive at a time
    static constexpr std::size_t kept_after_end = 4096;

    constexpr HandlePool() = default;

    /// Takes an object in its empty state; null if `most` are in use.
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
    /// Releases `object`, which is empty again.
    void release(T* object) {
        const std::lock_guard lock(mutex_);
        if (!ended_) ended_ = new std::deque<T*>;
        ended_->push_back(object);
    }
    /// Null for a handle that `take` did not return.
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

    std::uintptr_t base_ = 0;  ///< written before `next_` first exceeds 0
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::deque<T*>* ended_ = nullptr;
};

}  // namespace atl::shmem
