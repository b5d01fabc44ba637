// Scopes: the threads that perform an operation together. A scope is an argument, never a suffix of a name.
// It has rank(), size(), sync() and broadcast(value of rank 0). All of its threads make the same call.
// Threads outside the scope take no part: their writes are not ordered.
#pragma once

#include "atoll/device/detail/traced.hpp"
#include "atoll/device/peers.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// One thread, of a kernel or of the host.
struct Thread {
    ATOLL_ANYWHERE unsigned rank() const { return 0; }
    ATOLL_ANYWHERE unsigned size() const { return 1; }
    ATOLL_ANYWHERE void sync() const {}
    template <class T> ATOLL_ANYWHERE T broadcast(T value) const { return value; }
};
/// The same, named for its place of execution.
using HostThread = Thread;

#if defined(__CUDACC__)
/// The 32 threads of a warp; none may be missing.
struct Warp {
    __device__ unsigned rank() const {
        unsigned lane;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        return lane;
    }
    __device__ unsigned size() const { return 32; }
    __device__ void sync() const { __syncwarp(); }
    template <class T> __device__ T broadcast(T value) const {
        const T result = __shfl_sync(0xffffffffu, value, 0);
        __syncwarp();  // a shuffle does not order memory; after a wait all lanes must see what rank 0 has
                       // seen
        return result;
    }
};

/// All threads of a block.
struct Block {
    __device__ unsigned rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ void sync() const { __syncthreads(); }
    template <class T> __device__ T broadcast(T value) const {
        __shared__ T word;
        if (rank() == 0) word = value;
        __syncthreads();
        const T result = word;
        __syncthreads();  // before it is written again
        return result;
    }
};

/// Four consecutive warps: threads 128 g to 128 g + 127 of the block, all of which exist. It takes the
/// hardware's barriers 8 to 15, one for each of a block's warp groups.
struct Warpgroup {
    __device__ unsigned rank() const { return Block{}.rank() % threads; }
    __device__ unsigned size() const { return threads; }
    __device__ void sync() const {
        asm volatile("bar.sync %0, %1;" ::"r"(first_barrier + group()), "n"(threads) : "memory");
    }
    template <class T> __device__ T broadcast(T value) const {
        __shared__ T words[most_groups];
        if (rank() == 0) words[group()] = value;
        sync();
        const T result = words[group()];
        sync();  // before it is written again
        return result;
    }

  private:
    static constexpr unsigned threads = 128, most_groups = 8, first_barrier = 8;
    static __device__ unsigned group() { return Block{}.rank() / threads; }
};

/// All threads of a kernel, which must be resident at once (cooperative_launch, atoll/device/launch.hpp).
/// Only one kernel of a PE at a time may use a team at this scope. The team must outlive it.
class Grid {
  public:
    explicit __device__ Grid(const Team& team) : team_(team) {}
    explicit Grid(const Team&&) = delete;
    __device__ unsigned rank() const { return block() * Block{}.size() + Block{}.rank(); }
    __device__ unsigned size() const { return blocks() * Block{}.size(); }
    __device__ void sync() const {
        __syncthreads();
        if (Block{}.rank() == 0) meet();
        __syncthreads();
    }
    template <class T> __device__ T broadcast(T value) const {
        static_assert(sizeof(T) <= sizeof(unsigned long long), "a word");
        T* word = reinterpret_cast<T*>(&team_.control->grid_word);
        if (rank() == 0) *word = value;
        sync();
        const T result = *word;
        sync();
        return result;
    }

  private:
    static __device__ unsigned blocks() { return gridDim.x * gridDim.y * gridDim.z; }
    static __device__ unsigned block() {
        return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    /// Grid barrier. All blocks together add 2^31 to the word: its top bit flips when all have arrived.
    __device__ void meet() const {
#if defined(__CUDA_ARCH__)
        constexpr unsigned turn = 0x80000000u;
        unsigned* word = &team_.control->grid_arrived;
        const unsigned mine = block() == 0 ? turn - (blocks() - 1) : 1;
        const unsigned before = detail::add_in_gpu(word, mine);
        const auto all_came = [&] { return ((detail::load_in_gpu(word) ^ before) & turn) != 0; };
        const detail::Traced traced(team_, Thread{}, Operation::grid_sync);
        detail::spin(team_, all_came, [&] {
            return detail::waiting(team_.control, {Operation::grid_sync, 0, 0}, word);
        });
#endif
    }
    const Team& team_;
};

namespace detail {

/// Each block has its own event.
template <> struct TracedBy<Grid> {
    static __device__ bool this_thread(const Grid&) { return Block{}.rank() == 0; }
};

}  // namespace detail
#else
/// Outside CUDA each of these scopes is the calling thread, so the text of a kernel compiles unchanged. Their
/// own namespace keeps them apart from the scopes of GPUs where a program has both.
inline namespace on_host {

struct Warp : Thread {};
struct Block : Thread {};
struct Warpgroup : Thread {};
struct Grid : Thread {
    explicit Grid(const Team&) {}
    explicit Grid(const Team&&) = delete;
};

}  // namespace on_host
#endif

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
