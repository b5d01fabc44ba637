// Every way to move elements, at every scope and for several types. Sizes from nothing to 64 MiB, odd
// addresses; bulk copies; untorn words; tiles.
#include "gpu/collectives.hpp"
#include "gpu/moves.hpp"
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

namespace atl::testing {
namespace {

std::size_t size_of(Width width) { return width == Width::byte ? 1 : width == Width::float32 ? 4 : 8; }

class MoveKernels : public OnDevice {
  protected:
    static constexpr std::size_t room_bytes = (std::size_t{130} << 20);

    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        team_ = job_.world().device(Memory::device);
        errors_ = static_cast<int*>(job_.calloc(1, sizeof(int), Memory::device));
        signal_ = static_cast<std::uint64_t*>(job_.calloc(1, 8, Memory::device));
        src_ = static_cast<char*>(job_.malloc(room_bytes, Memory::device));
        dst_ = static_cast<char*>(job_.malloc(room_bytes, Memory::device));
    }
    void TearDown() override {
        if (!errors_) return;
        EXPECT_EQ(context_.g(errors_, job_.my_pe()), 0);
        job_.world().barrier();
        for (void* block : {static_cast<void*>(dst_), static_cast<void*>(src_), static_cast<void*>(signal_),
                            static_cast<void*>(errors_)})
            job_.free(block);
    }
    int errors() const { return context_.g(errors_, job_.my_pe()); }

    void moves(Move move, Width width, Together scope, std::size_t n, std::size_t shift) {
        const std::size_t size = size_of(width);
        const int stride = move == Move::iput || move == Move::iget ? 2 : 1;
        const std::size_t span = n * static_cast<std::size_t>(stride) * size;
        char* dst = dst_ + (2 * shift + 16) * size;
        char* src = src_ + shift * size;
        ++round_;
        const auto seed = [&](int pe) { return 100 * round_ + pe; };
        fill_elements(width, src, n, seed(job_.my_pe()));
        check_cuda(cudaMemset(dst - 16 * size, 0x5a, span + 32 * size));
        check_cuda(cudaDeviceSynchronize());
        job_.world().barrier();
        const int right = right_of(job_);
        move_elements(team_, {move, width, scope, dst, src, n, signal_, static_cast<std::uint64_t>(round_)},
                      right);
        job_.world().barrier();
        const bool got = move == Move::get || move == Move::get_nbi || move == Move::iget;
        check_elements(width, dst, n, seed(got ? right : left_of(job_)), stride, errors_);
        EXPECT_EQ(errors(), 0) << "move " << static_cast<int>(move) << " of " << n << " elements of " << size
                               << " bytes at scope " << static_cast<int>(scope) << ", shifted by " << shift;
        for (const char* around : {dst - 16 * size, dst + span})
            EXPECT_TRUE(read(around, 16 * size) == Bytes(16 * size, 0x5a))
                << "beside the target, move " << static_cast<int>(move) << " of " << n;
        job_.world().barrier();
    }

    int round_ = 0;
    device::Team team_{};
    int* errors_ = nullptr;
    std::uint64_t* signal_ = nullptr;
    char* src_ = nullptr;
    char* dst_ = nullptr;
};

TEST_F(MoveKernels, EveryMoveScopeTypeAndSize) {
    const bool turns = takes_turns(job_);
    for (const Move move : {Move::put, Move::get, Move::put_nbi, Move::get_nbi, Move::async_put, Move::iput,
                            Move::iget, Move::put_signal}) {
        if (move == Move::put_signal && turns) continue;  // it waits for the other PE's kernel
        for (const Together scope : {Together::thread, Together::warp, Together::block, Together::grid})
            for (const Width width : {Width::byte, Width::float32, Width::float64})
                for (const std::size_t n : {0u, 1u, 7u, 1024u, 65537u})
                    for (const std::size_t shift : {0u, 1u, 3u}) {
                        if (n > 1024 && (scope == Together::thread || shift == 1)) continue;
                        if (n < 1024 && shift == 3 && width != Width::byte) continue;
                        moves(move, width, scope, n, shift);
                    }
    }
}

TEST_F(MoveKernels, LargeOnes) {
    for (const Move move : {Move::put, Move::get, Move::async_put, Move::iput})
        for (const Together scope : {Together::block, Together::grid})
            for (const std::size_t mebibytes : {1u, 16u, 64u}) {
                if (mebibytes == 64 && (scope == Together::block || move == Move::iput)) continue;
                moves(move, Width::float32, scope, (mebibytes << 20) / 4, mebibytes == 1 ? 1 : 0);
            }
}

TEST_F(MoveKernels, LargeCollectives) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
    const int n_pes = job_.n_pes(), me = job_.my_pe();
    for (const Together scope : {Together::block, Together::grid})
        for (const std::size_t n : {std::size_t{256}, std::size_t{(1 << 18) + 1}, std::size_t{1} << 24}) {
            if (n * static_cast<std::size_t>(n_pes) * sizeof(float) > room_bytes) continue;
            if (scope == Together::block && n > 1 << 20) continue;
            const int seed = 1000 * ++round_;
            const auto* src = reinterpret_cast<const float*>(src_);
            auto* dst = reinterpret_cast<float*>(dst_);
            const auto run = [&](Collective which) {
                fill_elements(Width::float32, src_, n * static_cast<std::size_t>(n_pes), seed + me);
                check_cuda(cudaMemset(dst_, 0x5a, n * static_cast<std::size_t>(n_pes) * sizeof(float)));
                check_cuda(cudaDeviceSynchronize());
                job_.world().barrier();
                run_collective(team_, which, Element::float32, scope, dst, src, n, n_pes - 1, nullptr);
            };
            run(Collective::broadcast);
            check_elements(Width::float32, dst, n, seed + n_pes - 1, 1, errors_);
            EXPECT_EQ(errors(), 0) << "broadcast of " << n;
            run(Collective::fcollect);
            for (int pe = 0; pe < n_pes; ++pe)
                check_elements(Width::float32, dst + static_cast<std::size_t>(pe) * n, n, seed + pe, 1,
                               errors_);
            EXPECT_EQ(errors(), 0) << "fcollect of " << n;
            run(Collective::sum);
            check_sums(dst, 0, n, seed, n_pes, errors_);
            EXPECT_EQ(errors(), 0) << "sum of " << n;
            run(Collective::sum_scatter);
            check_sums(dst, static_cast<std::size_t>(me) * n, n, seed, n_pes, errors_);
            EXPECT_EQ(errors(), 0) << "sum_scatter of " << n;
            job_.world().barrier();
        }
}

TEST_F(MoveKernels, BulkCopiesReadTheirSourceBeforeFlushAndArriveBeforeBarrier) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
    for (const int n : {4, 255, 256, 300, 4096, 12000}) {
        job_.world().barrier();
        async_from_shared(team_, reinterpret_cast<int*>(dst_), n, 300, errors_);
        EXPECT_EQ(errors(), 0) << n << " ints";
        job_.world().barrier();
    }
}

TEST_F(MoveKernels, WordsArriveWhole) {
    for (const int bytes : {2, 4, 8})
        for (const int count : {1, 3, 7, 11, 33})
            for (const int shift : {0, 1, 2}) {
                check_cuda(cudaMemset(dst_, 1, 1024));
                check_cuda(cudaDeviceSynchronize());
                job_.world().barrier();
                watch_words(team_, dst_ + shift * bytes, bytes, count, 3000, errors_);
                EXPECT_EQ(errors(), 0) << count << " words of " << bytes << " bytes, shifted by " << shift;
                job_.world().barrier();
            }
}

TEST_F(MoveKernels, AGridThatCannotBeResidentIsRefused) {
    int* word = reinterpret_cast<int*>(dst_);
    check_cuda(cudaMemset(word, 0, sizeof(int)));
    EXPECT_TRUE(too_large_is_refused(team_, word));
    EXPECT_EQ(context_.g(word, job_.my_pe()), 0);
}

template <class T> constexpr TileType tile_type = TileType::float32;
template <> constexpr TileType tile_type<__half> = TileType::half;
template <> constexpr TileType tile_type<__nv_bfloat16> = TileType::bfloat16;

class TileKernels : public MoveKernels {
  protected:
    static float value_of(int pe, std::size_t row, std::size_t col) {
        return static_cast<float>(1 + (static_cast<std::size_t>(pe) * 17 + row * 5 + col * 3) % 23);
    }
    template <class T, class Expected>
    void expect(TileCall call, Together scope, unsigned rows, unsigned cols, long long pitch,
                std::size_t shift, unsigned tiles, Expected expected) {
        const std::size_t room = (tiles * rows + 1) * static_cast<std::size_t>(pitch + 2) + shift + cols;
        std::vector<T> mine(room, static_cast<T>(99.0f)), target(room, static_cast<T>(77.0f));
        for (unsigned r = 0; r < rows; ++r)
            for (unsigned c = 0; c < cols; ++c)
                mine[shift + r * static_cast<std::size_t>(pitch) + c] =
                    static_cast<T>(value_of(job_.my_pe(), r, c));
        check_cuda(cudaMemcpy(src_, mine.data(), room * sizeof(T), cudaMemcpyDefault));
        check_cuda(cudaMemcpy(dst_, target.data(), room * sizeof(T), cudaMemcpyDefault));
        check_cuda(cudaDeviceSynchronize());
        job_.world().barrier();
        const long long dst_pitch = pitch + pitch % 2;
        run_tile(team_,
                 {call, tile_type<T>, scope, reinterpret_cast<T*>(dst_) + shift,
                  reinterpret_cast<const T*>(src_) + shift, rows, cols, dst_pitch, pitch},
                 right_of(job_));
        job_.world().barrier();
        for (unsigned r = 0; r < tiles * rows; ++r)
            for (unsigned c = 0; c < cols; ++c)
                target[shift + r * static_cast<std::size_t>(dst_pitch) + c] = static_cast<T>(expected(r, c));
        std::vector<T> got(room);
        check_cuda(cudaMemcpy(got.data(), dst_, room * sizeof(T), cudaMemcpyDefault));
        for (std::size_t i = 0; i < room; ++i)
            ASSERT_EQ(static_cast<float>(got[i]), static_cast<float>(target[i]))
                << "tile call " << static_cast<int>(call) << " of " << rows << " x " << cols << " at scope "
                << static_cast<int>(scope) << ", place " << i;
    }
    template <class T>
    void every_call(Together scope, unsigned rows, unsigned cols, long long pitch, std::size_t shift) {
        const auto of = [](int pe) {
            return [pe](std::size_t r, std::size_t c) { return value_of(pe, r, c); };
        };
        expect<T>(TileCall::put, scope, rows, cols, pitch, shift, 1, of(left_of(job_)));
        expect<T>(TileCall::get, scope, rows, cols, pitch, shift, 1, of(right_of(job_)));
        expect<T>(
            TileCall::allgather, scope, rows, cols, pitch, shift, static_cast<unsigned>(job_.n_pes()),
            [&](std::size_t r, std::size_t c) { return value_of(static_cast<int>(r / rows), r % rows, c); });
        expect<T>(TileCall::sum, scope, rows, cols, pitch, shift, 1, [&](std::size_t r, std::size_t c) {
            float total = 0;
            for (int pe = 0; pe < job_.n_pes(); ++pe) total += value_of(pe, r, c);
            return total;
        });
        expect<T>(TileCall::max, scope, rows, cols, pitch, shift, 1, [&](std::size_t r, std::size_t c) {
            float most = 0;
            for (int pe = 0; pe < job_.n_pes(); ++pe) most = std::max(most, value_of(pe, r, c));
            return most;
        });
    }
};

TEST_F(TileKernels, EveryCallTypeScopeAndShape) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
    struct Shape {
        unsigned rows, cols;
        long long pitch;
        std::size_t shift;
    };
    for (const Together scope : {Together::warp, Together::block})
        for (const Shape& s :
             {Shape{1, 1, 1, 0}, Shape{3, 5, 7, 1}, Shape{16, 64, 72, 0}, Shape{64, 128, 128, 0},
              Shape{33, 12, 20, 4}, Shape{0, 16, 16, 0}, Shape{128, 200, 208, 8}}) {
            every_call<float>(scope, s.rows, s.cols, s.pitch, s.shift);
            every_call<__half>(scope, s.rows, s.cols, s.pitch, s.shift);
            every_call<__nv_bfloat16>(scope, s.rows, s.cols, s.pitch, s.shift);
        }
}

}  // namespace
}  // namespace atl::testing
