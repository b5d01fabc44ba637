// The kernels of tests/gpu/words.cu. `errors` counts the errors that they find.
#pragma once

#include "gpu/kernels.hpp"
#include "support/third_party.hpp"

namespace atl::testing {

/// For each type, `threads` threads of a PE at once: thread t adds 1 to word t of PE 0. Words are 8 bytes
/// apart: int32, uint32, int64, uint64, float, double, half, bfloat16.
constexpr int added_types = 8;
void add_to_all_types(const device::Team& team, std::uint64_t* words, int threads);
/// One thread: every other atomic on a word of the right neighbour.
void each_atomic(const device::Team& team, std::uint64_t* word, int* errors);
/// One thread: iput to the right neighbour, and iget back. x has 40 places, local 20.
void strided(const device::Team& team, int* x, int* local, int* errors);
/// The left neighbour makes two thirds of x[0 … 6) nonzero, one of them left out; waits and tests check it. x
/// has 8 elements.
void waits(const device::Team& team, int* x, int* errors);

/// Message passing, checked at every round, with `n` 8-byte words a message.
enum class Passing { put_signal, mailbox, barrier };
struct Litmus {
    std::uint64_t* data;    ///< symmetric, n words
    std::uint64_t* signal;  ///< symmetric, 2 words
    char* box;              ///< a mailbox with room for n words
    int n;
    std::uint64_t rounds;
};
/// One block per part, all three at once.
void pass_news(const device::Team& team, News how, Together scope, const ThirdParty& parts, int* errors);
void pass_messages(const device::Team& team, Passing how, Together scope, const Litmus& litmus, int* errors);

}  // namespace atl::testing
