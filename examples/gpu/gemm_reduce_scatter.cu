// C = the sum over PEs of A times B, with its rows distributed: a layer whose inner dimension is split over
// the GPUs. One kernel multiplies on tensor cores (WMMA). It sends each finished tile to the PE that owns its
// rows, and adds up the tiles received for its own. So the link works while the tensor cores do.
#include "example.hpp"

#include <atoll/device/device.hpp>
#include <atoll/device/launch.hpp>

#include <cuda_fp16.h>
#include <mma.h>

#include <random>

namespace device = atl::device;
namespace wmma = nvcuda::wmma;
using Word = unsigned long long;

constexpr int side = 64;                   // rows and columns of a tile
constexpr int tiles_down = 4;              // tiles in each PE's rows of C
constexpr int columns = 512, inner = 256;  // columns of C; columns of A on each PE
constexpr int tiles_across = columns / side, own_tiles = tiles_down * tiles_across;
constexpr int tile_size = side * side;

struct Inbox {
    float* tiles;   ///< [own tile][PE][side * side]
    Word* arrived;  ///< [own tile]: the number of PEs whose part has arrived
};

/// Four warps, each with a quarter of the tile.
__device__ void multiply_tile(const half* a, const half* b, float* tile) {
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (auto& pair : sum)
        for (auto& fragment : pair) wmma::fill_fragment(fragment, 0.0f);
    for (int k = 0; k < inner; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(left[i], a + (row + 16 * i) * inner + k, inner);
            wmma::load_matrix_sync(right[i], b + k * columns + column + 16 * i, columns);
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(tile + (row + 16 * i) * side + column + 16 * j, sum[i][j], side,
                                    wmma::mem_row_major);
}

__global__ void __launch_bounds__(128)
    fused(device::Team team, const half* a, const half* b, float* c, Inbox inbox) {
    __shared__ __align__(16) float tile[tile_size];
    const device::Block block;
    // Tiles of the next PE first, own ones last, so that not all PEs send to one at once.
    for (int t = blockIdx.x; t < team.n_pes * own_tiles; t += gridDim.x) {
        const int owner = (team.my_pe + 1 + t / own_tiles) % team.n_pes, own = t % own_tiles;
        const int row = (owner * tiles_down + own / tiles_across) * side, column = own % tiles_across * side;
        multiply_tile(a + row * inner, b + column, tile);
        block.sync();
        float* slot = inbox.tiles + (std::size_t(own) * team.n_pes + team.my_pe) * tile_size;
        device::async_put(team, slot, tile, tile_size, owner, block);
        device::quiet(team, block);
        if (block.rank() == 0) device::signal_add(team, inbox.arrived + own, 1, owner);
    }
    for (int own = blockIdx.x; own < own_tiles; own += gridDim.x) {
        device::signal_wait_until(team, inbox.arrived + own, device::Compare::ge, Word(team.n_pes), block);
        const float* parts = inbox.tiles + std::size_t(own) * team.n_pes * tile_size;
        float* to = c + (own / tiles_across) * side * columns + own % tiles_across * side;
        for (int i = threadIdx.x; i < tile_size; i += blockDim.x) {
            float sum = parts[i];
            for (int pe = 1; pe < team.n_pes; ++pe) sum += parts[pe * tile_size + i];
            to[i / side * columns + i % side] = sum;
        }
    }
}

int main() {
    return run([](atoll::Job& job) {
        const int n = job.n_pes(), rows = n * tiles_down * side;
        // Small whole numbers, so that every order of additions gives the same sums.
        const auto matrix = [](int seed, std::size_t size) {
            std::mt19937 random(seed);
            std::vector<half> m(size);
            for (half& value : m) value = __float2half(float(int(random() % 7) - 3));
            return m;
        };
        const auto a_of = [&](int pe) { return matrix(2 * pe + 1, std::size_t(rows) * inner); };
        const auto b_of = [&](int pe) { return matrix(2 * pe + 2, std::size_t(inner) * columns); };
        auto* a = zeros<half>(job, std::size_t(rows) * inner);
        auto* b = zeros<half>(job, std::size_t(inner) * columns);
        auto* c = zeros<float>(job, std::size_t(tiles_down) * side * columns);
        const Inbox inbox{zeros<float>(job, std::size_t(own_tiles) * n * tile_size),
                          zeros<Word>(job, own_tiles)};
        upload(a, a_of(job.my_pe()));
        upload(b, b_of(job.my_pe()));
        job.world().barrier();
        const int blocks = std::min(n * own_tiles, device::most_resident_blocks(fused, 128));
        check(device::cooperative_launch(fused, dim3(blocks), dim3(128), 0, nullptr,
                                         job.world().device(atoll::Memory::device), a, b, c, inbox));
        const std::vector<float> got = download(c, std::size_t(tiles_down) * side * columns);

        std::vector<float> expected(got.size(), 0.0f);
        for (int pe = 0; pe < n; ++pe) {
            const std::vector<half> left = a_of(pe), right = b_of(pe);
            for (int r = 0; r < tiles_down * side; ++r)
                for (int k = 0; k < inner; ++k) {
                    const float x =
                        __half2float(left[(std::size_t(job.my_pe()) * tiles_down * side + r) * inner + k]);
                    for (int col = 0; col < columns; ++col)
                        expected[r * columns + col] += x * __half2float(right[k * columns + col]);
                }
        }
        return got == expected;
    });
}
