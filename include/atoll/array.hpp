// SymmetricArray: an owned array at the same offset on every PE, accessed through spans.
#pragma once

#include "atoll/job.hpp"

#include <span>
#include <utility>

namespace atl {

/// An owned symmetric array. Construction and `free()` are collective. The destructor is local: it marks the
/// array as dropped by this PE. A later collective allocation reclaims the memory once all PEs have dropped
/// it.
template <Symmetric T> class SymmetricArray {
  public:
    SymmetricArray() = default;
    /// Allocates `count` zeroed elements on every PE of `job`. They are zero on all PEs before any PE
    /// returns.
    SymmetricArray(Job& job, std::size_t count) : job_(job.handle()), count_(count) {
        const Allocation block = job.allocate_zeroed(detail::ContextBase::bytes_of<T>(count), alignof(T));
        data_ = static_cast<T*>(block.address);
        serial_ = block.serial;
        if (count == 0) job.world().sync();  // which an allocation without bytes leaves out
    }
    ~SymmetricArray() { release(); }
    SymmetricArray(SymmetricArray&& other) noexcept { swap(other); }
    SymmetricArray& operator=(SymmetricArray&& other) noexcept {
        swap(other);
        return *this;
    }
    SymmetricArray(const SymmetricArray&) = delete;
    SymmetricArray& operator=(const SymmetricArray&) = delete;

    T* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return count_; }
    T& operator[](std::size_t i) const noexcept { return data_[i]; }
    T* begin() const noexcept { return data_; }
    T* end() const noexcept { return data_ + count_; }
    std::span<T> span() const noexcept { return {data_, count_}; }
    std::span<T> subspan(std::size_t offset, std::size_t n = std::dynamic_extent) const {
        return span().subspan(offset, n);
    }
    operator std::span<T>() const noexcept { return span(); }
    /// The same array on another PE, for loads and stores. Empty if that PE's memory is not mapped here.
    std::span<T> peer(int pe) const {
        T* p = Job(job_.lock()).context().ptr(data_, pe);
        return {p, p ? count_ : 0};
    }
    /// Collective over the world.
    void free() {
        if (data_) Job(job_.lock()).free(data_);
        data_ = nullptr;
        count_ = 0;
    }

  private:
    void release() noexcept {
        if (data_) Job(job_.lock()).drop(serial_);
        data_ = nullptr;
    }
    void swap(SymmetricArray& other) noexcept {
        std::swap(job_, other.job_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        std::swap(serial_, other.serial_);
    }
    std::weak_ptr<core::JobState> job_;
    T* data_ = nullptr;
    std::size_t count_ = 0;
    std::uint64_t serial_ = 0;
};

}  // namespace atl
