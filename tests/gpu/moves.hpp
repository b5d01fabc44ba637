// The kernels of tests/gpu/moves.cu and tiles.cu, launched on the legacy stream and waited for.
#pragma once

#include "gpu/kernels.hpp"

namespace atl::testing {

enum class Move { put, get, put_nbi, get_nbi, async_put, iput, iget, put_signal };
enum class Width { byte, float32, float64 };

/// One move of `n` elements, at `scope` of any kind: from src of this PE to dst of `pe` or the other way
/// round, complete on return where the move's own rules say so with a quiet. iput and iget go from every
/// element to every second one. put_signal sets `signal` on `pe` to `epoch` and waits for its own.
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

/// x[i] of `n` elements: a number made of i and seed. `stride` 2: every second element, from the first on.
void fill_elements(Width width, void* x, std::uint64_t n, int seed);
/// errors[0] += how many of x[i * stride] are not as fill_elements made them.
void check_elements(Width width, const void* x, std::uint64_t n, int seed, int stride, int* errors);

/// The same for floats that are the sums of what fill_elements made with seed, seed + 1, …, `n_seeds` of
/// them; x[0] is number `from`.
void check_sums(const float* x, std::uint64_t from, std::uint64_t n, int seed, int n_seeds, int* errors);

/// By way of shared memory: async_put of `n` ints to the right neighbour, flush, the source overwritten,
/// barrier; then checks what came from the left. `rounds` times.
void async_from_shared(const device::Team& team, int* x, int n, int rounds, int* errors);

/// One block puts `count` words of `bytes` each to the right neighbour again and again, all bytes of all of
/// them alike; another looks at what comes, and counts words whose bytes differ.
void watch_words(const device::Team& team, void* x, int bytes, int count, int rounds, int* errors);

/// If a grid that cannot be resident is refused, and nothing of it runs.
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
