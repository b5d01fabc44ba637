// FarWord: a 32-bit word in another PE's memory, accessed by the library itself. It uses the window, or the
// transport for PEs in another domain. For locks; not related to far_word of kernels
// (atoll/device/detail/far.hpp).
#pragma once

#include "core/job/job_state.hpp"

#include <atomic>
#include <cstdint>

namespace atl::core {

class FarWord {
  public:
    using Word = std::atomic<std::uint32_t>;

    /// The word at `offset` of the slot of world PE `pe`.
    FarWord(JobState& job, int pe, std::uint64_t offset)
        : job_(job), pe_(pe), offset_(offset), here_(static_cast<Word*>(job.arena().address(pe, offset))) {}

    /// Null if it cannot be loaded.
    Word* here() const { return here_; }

    std::uint32_t load() const {
        return here_ ? here_->load(std::memory_order_acquire) : send(AtomicOp::fetch, 0, 0);
    }
    void store(std::uint32_t value) const { exchange(value); }
    std::uint32_t exchange(std::uint32_t value) const {
        return here_ ? here_->exchange(value, std::memory_order_acq_rel) : send(AtomicOp::swap, value, 0);
    }
    std::uint32_t fetch_or(std::uint32_t bits) const {
        return here_ ? here_->fetch_or(bits, std::memory_order_acq_rel) : send(AtomicOp::fetch_or, bits, 0);
    }
    bool compare_exchange(std::uint32_t& expected, std::uint32_t value) const {
        if (here_) return here_->compare_exchange_strong(expected, value, std::memory_order_acq_rel);
        const std::uint32_t before = send(AtomicOp::compare_swap, value, expected);
        const bool was = before == expected;
        expected = before;
        return was;
    }

  private:
    std::uint32_t send(AtomicOp op, std::uint32_t value, std::uint32_t compare) const {
        return static_cast<std::uint32_t>(
            job_.transport()->atomic(0, pe_, offset_, op, DType::uint32, value, compare));
    }

    JobState& job_;
    int pe_;
    std::uint64_t offset_;
    Word* here_;
};

}  // namespace atl::core
