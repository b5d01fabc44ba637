// Loops in which a program fetches or tests one word until it changes. A report shows them like waits.
#pragma once

#include "atoll/detail/memory_ops.hpp"
#include "atoll/detail/wait.hpp"
#include "atoll/export.hpp"
#include "atoll/types.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace atl::core {

class JobState;

/// True for a while after a report has asked this process for its stacks. Only then are polls looked at, so
/// that they cost a load and a comparison otherwise.
ATOLL_API extern std::atomic<bool> polls_are_watched;

/// Lets requests for stacks of this process watch the polls of `job`.
void watch_polls(JobState& job) noexcept;
/// Call before the job ends. A forked child does not write to the parent's board.
void forget_polls(const JobState& job, bool is_forked) noexcept;

/// Notes that the program has read a word without a change. `operation` is a literal. `word` is this PE's
/// copy of the word, which was `found` on PE `world_pe`. Shows a loop of such polls on the job board.
ATOLL_API void note_poll(JobState& job, const char* operation, const void* word, std::size_t bytes,
                         int world_pe, std::uint64_t found) noexcept;

/// Like note_poll, for an attempt to acquire a lock; `why` names its holder.
void note_attempt(JobState& job, const detail::WaitReason& why) noexcept;

/// A test of `context` has found that this PE's `word` is not as awaited. Words of a GPU are not read here.
template <class Context, class T> void note_test(const Context& context, const T* word) noexcept {
    if (polls_are_watched.load(std::memory_order_relaxed) && !context.is_on_device(word)) [[unlikely]]
        if constexpr (std::is_integral_v<T>)
            note_poll(context.job(), "a loop of test", word, sizeof(T), context.world_pe(context.my_pe()),
                      static_cast<std::uint64_t>(atl::detail::atomic_load(word)));
}

/// Returns a text such as "a loop of atomic_fetch", for an operation that leaves a word as it is if others
/// hold it; else null.
constexpr const char* loop_of(AtomicOp op) noexcept {
    switch (op) {
        case AtomicOp::fetch:
            return "a loop of atomic_fetch";
        case AtomicOp::swap:
            return "a loop of atomic_swap";
        case AtomicOp::compare_swap:
            return "a loop of atomic_compare_swap";
        default:
            return nullptr;
    }
}

}  // namespace atl::core
