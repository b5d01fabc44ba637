// Additions to the elements of a box in mapped memory: atomic ones, or plain ones under an update lock.
#pragma once

#include "calls/py.hpp"
#include "core/sync/job_over.hpp"
#include "core/sync/update_locks.hpp"

#include "atoll/detail/memory_ops.hpp"

#include <cstring>
#include <type_traits>

namespace atl::python {

/// So many elements are added in one hold of a lock, which should be short
/// (docs/measurements/2026-11-24-constants.md).
inline constexpr npy_intp added_at_once = 64 * 1024;

/// The elements of a box in a PE's block, and the values. Steps are in bytes.
struct Addition {
    char* there;
    const char* here;
    npy_intp dims[NPY_MAXDIMS + 1], steps[NPY_MAXDIMS + 1], strides[NPY_MAXDIMS + 1];
    int nd;

    npy_intp size() const noexcept {
        npy_intp n = 1;
        for (int i = 0; i < nd; ++i) n *= dims[i];
        return n;
    }
    /// Leaves out axes of one element, and joins those that lie behind each other on both sides.
    void simplify() noexcept {
        int kept = 0;
        for (int i = 0; i < nd; ++i) {
            if (dims[i] == 1) continue;
            const bool joins = kept > 0 && steps[kept - 1] == dims[i] * steps[i] &&
                               strides[kept - 1] == dims[i] * strides[i];
            if (!joins) ++kept;
            dims[kept - 1] = joins ? dims[kept - 1] * dims[i] : dims[i];
            steps[kept - 1] = steps[i];
            strides[kept - 1] = strides[i];
        }
        nd = kept;
    }
};

namespace detail {

template <class T> T value_at(const char* p) noexcept {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

/// Integers wrap, also signed ones.
template <class T> T sum_of(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
    else
        return a + b;
}

#if defined __x86_64__
inline bool has_avx2() noexcept {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}
inline const bool adds_wide = has_avx2();

/// Vectors of 32 bytes: a box of 256 x 256 takes 0.8 of the time that those of 16 bytes take.
template <class T>
[[gnu::target("avx2")]] void add_row_wide(T* __restrict there, const T* __restrict here,
                                          npy_intp n) noexcept {
    for (npy_intp i = 0; i < n; ++i) there[i] = sum_of(there[i], here[i]);
}
#endif

template <class T> void add_row(T* __restrict there, const T* __restrict here, npy_intp n) noexcept {
#if defined __x86_64__
    if (adds_wide) return add_row_wide(there, here, n);
#endif
    for (npy_intp i = 0; i < n; ++i) there[i] = sum_of(there[i], here[i]);
}

template <class T> void add_plainly(const Addition& a, char* there, const char* here, int axis) noexcept {
    constexpr npy_intp item = sizeof(T);
    if (axis == a.nd) {
        auto* const element = reinterpret_cast<T*>(there);
        *element = sum_of(*element, value_at<T>(here));
        return;
    }
    const npy_intp n = a.dims[axis], step = a.steps[axis], stride = a.strides[axis];
    if (axis + 1 == a.nd && step == item && stride == item &&
        reinterpret_cast<std::uintptr_t>(here) % sizeof(T) == 0) {
        add_row(reinterpret_cast<T*>(there), reinterpret_cast<const T*>(here), n);
        return;
    }
    for (npy_intp i = 0; i < n; ++i) add_plainly<T>(a, there + i * step, here + i * stride, axis + 1);
}

template <class T> void add_atomically(const Addition& a, char* there, const char* here, int axis) noexcept {
    if (axis == a.nd) {
        atl::detail::atomic_add(reinterpret_cast<T*>(there), value_at<T>(here));
        return;
    }
    for (npy_intp i = 0; i < a.dims[axis]; ++i)
        add_atomically<T>(a, there + i * a.steps[axis], here + i * a.strides[axis], axis + 1);
}

/// Splits off the first half of a simplified box of several elements, which has two or more along its first
/// axis.
inline Addition split(Addition& a) noexcept {
    Addition half = a;
    half.dims[0] = a.dims[0] / 2;
    a.there += half.dims[0] * a.steps[0];
    a.here += half.dims[0] * a.strides[0];
    a.dims[0] -= half.dims[0];
    return half;
}

/// Out of line, so that the way under a lock stays short.
template <class T> [[gnu::noinline]] void add_without_lock(const core::JobState& job, const Addition& a) {
    core::throw_if_over(job, "accumulate");
    add_atomically<T>(a, a.there, a.here, 0);
}

}  // namespace detail

/// Adds by atomic operations if `word` is null or closed. Else it holds the word. Large boxes are added in
/// turns; the end of the job is noticed at each.
template <class T> void add(core::JobState& job, core::UpdateWord* word, Addition a) {
    a.simplify();  // a half may have one element along its first axis
    if (a.size() > added_at_once) {
        add<T>(job, word, detail::split(a));
        return add<T>(job, word, a);
    }
    if (word == nullptr) return detail::add_without_lock<T>(job, a);
    const core::UpdateLock lock(job, *word, "accumulate");
    if (lock.is_held())
        detail::add_plainly<T>(a, a.there, a.here, 0);
    else
        detail::add_atomically<T>(a, a.there, a.here, 0);
}

}  // namespace atl::python
