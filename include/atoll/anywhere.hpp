// What the host's code and kernels have in common before anything else. No includes: NVRTC has no host
// headers.
#pragma once

#if defined(__CUDACC__)
#define ATOLL_ANYWHERE __host__ __device__
#else
#define ATOLL_ANYWHERE
#endif

namespace atl {

/// OpenSHMEM's SHMEM_CMP_*: `value cmp expected`, signed or unsigned as the type is.
enum class Compare : unsigned char { eq, ne, gt, ge, lt, le };

/// What a put-with-signal does to the signal word once its data stand in the target.
enum class SignalOp : unsigned char { set, add };

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
