// The kernels of tests/gpu/moves.cu and tiles.cu, launched on the legacy stream and complete on return.
#pragma once

#include "gpu/kernels.hpp"

namespace atl::testing {

enum class Move { put, get, put_nbi, get_nbi, async_put, iput, iget, put_signal };
enum class Width { byte, float32, float64 };

/// One move of `n` elements at any `scope`: from src of this PE to dst of `pe`, or the reverse. Complete on
/// return; moves whose rules require it call quiet. iput and iget store to every second element.
/// With put_signal it sets `signal` on `pe` to `epoch` and waits for its own.
struct Moving {
    Move move;
    Width width;
    Together scope;
    void* dst;
    const void* src;
    std::uint64_t n;
    std::uint64_t* signal;
    std::uint64_t epoch;
};
void move_elements(const device::Team& team, const Moving& moving, int pe);

/// x[i] of `n` elements: a number computed from i and seed. `stride` 2: every second element, from the first
/// on.
void fill_elements(Width width, void* x, std::uint64_t n, int seed);
/// Adds to errors[0] the number of x[i * stride] that differ from fill_elements.
void check_elements(Width width, const void* x, std::uint64_t n, int seed, int stride, int* errors);

/// The same for floats that are sums of fill_elements with `n_seeds` seeds: seed, seed + 1, …; x[0] is number
/// `from`.
void check_sums(const float* x, std::uint64_t from, std::uint64_t n, int seed, int n_seeds, int* errors);

/// From shared memory: async_put of `n` ints to the right neighbour, flush, overwrite the source, barrier.
/// Then checks the data from the left. `rounds` times.
void async_from_shared(const device::Team& team, int* x, int n, int rounds, int* errors);

/// One block repeatedly puts `count` words of `bytes` bytes each to the right neighbour, with all bytes of a
/// round equal. Another polls the received words and counts those whose bytes differ.
void watch_words(const device::Team& team, void* x, int bytes, int count, int rounds, int* errors);

/// Returns true if a grid that cannot be resident is refused, and no block of it runs.
bool too_large_is_refused(const device::Team& team, int* word);

enum class TileCall { put, get, allgather, sum, max };
enum class TileType { float32, half, bfloat16 };
struct TileCase {
    TileCall call;
    TileType type;
    Together scope;  ///< warp or block
    void* dst;
    const void* src;
    unsigned rows, cols;
    long long dst_pitch, src_pitch;
};
void run_tile(const device::Team& team, const TileCase& c, int pe);

}  // namespace atl::testing
