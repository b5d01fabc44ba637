// Macros, enumerations and comparisons shared by host code and kernels. No includes: NVRTC has no host
// headers.
#pragma once

#if defined(__CUDACC__)
#define ATOLL_ANYWHERE __host__ __device__
/// A rarely executed function: never inlined, so that the code around the call stays small.
#define ATOLL_APART __host__ __device__ __noinline__ inline
#else
#define ATOLL_ANYWHERE
#define ATOLL_APART __attribute__((noinline)) inline
#endif
/// Placed before a loop that must not be unrolled. Unrolling would cost every kernel that inlines it
/// registers.
#if defined(__CUDA_ARCH__)
#define ATOLL_ROLLED _Pragma("unroll 1")
#else
#define ATOLL_ROLLED
#endif

/// Marks structures through which memory of any type is copied. (NVRTC has no host compiler, and warns about
/// the attribute.)
#if defined(__CUDACC_RTC__)
#define ATOLL_MAY_ALIAS
#else
#define ATOLL_MAY_ALIAS [[gnu::may_alias]]
#endif

namespace atl {

/// OpenSHMEM's SHMEM_CMP_*: `value cmp expected`, signed or unsigned like the type.
enum class Compare : unsigned char { eq, ne, gt, ge, lt, le };

/// How put_signal updates the signal word once its data have arrived in the target.
enum class SignalOp : unsigned char { set, add };

/// Element types of atomics and reductions. RMA moves bytes and needs none of them.
enum class DType : unsigned char {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    long_double,
    complex64,
    complex128,
    boolean,
    float16,   ///< reduced on GPUs only
    bfloat16,  ///< reduced on GPUs only
};

enum class AtomicOp : unsigned char {
    fetch,
    set,
    swap,
    compare_swap,
    add,
    fetch_add,
    bit_and,
    fetch_and,
    bit_or,
    fetch_or,
    bit_xor,
    fetch_xor,
};

/// True if the operation returns the old value. Operations that only change the word may complete at quiet.
ATOLL_ANYWHERE constexpr bool is_fetching(AtomicOp op) noexcept {
    switch (op) {
        case AtomicOp::set:
        case AtomicOp::add:
        case AtomicOp::bit_and:
        case AtomicOp::bit_or:
        case AtomicOp::bit_xor:
            return false;
        default:
            return true;
    }
}

namespace detail {

template <class T> ATOLL_ANYWHERE constexpr bool compare(T found, Compare cmp, T expected) noexcept {
    switch (cmp) {
        case Compare::eq:
            return found == expected;
        case Compare::ne:
            return found != expected;
        case Compare::gt:
            return found > expected;
        case Compare::ge:
            return found >= expected;
        case Compare::lt:
            return found < expected;
        case Compare::le:
            return found <= expected;
    }
    return false;
}

}  // namespace detail

}  // namespace atl
