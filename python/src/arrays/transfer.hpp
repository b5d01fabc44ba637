// Copies between this PE's memory and a symmetric array on some PE, for any strides.
#pragma once

#include "atoll/detail/measured.hpp"

#include "arrays/array_arguments.hpp"
#include "arrays/near_address.hpp"
#include "arrays/strided.hpp"

namespace atl::python {

inline bool apart(const void* a, const void* b, std::size_t bytes) noexcept {
    const auto x = reinterpret_cast<std::uintptr_t>(a);
    const auto y = reinterpret_cast<std::uintptr_t>(b);
    return x + bytes <= y || y + bytes <= x;
}
/// A contiguous copy of separate or overlapping memory; a large one releases the GIL.
[[gnu::cold]] void copy_large(char* dst, const char* src, std::size_t bytes);
inline void copy_bytes(char* dst, const char* src, std::size_t bytes) {
    if (bytes < release_gil_bytes && apart(dst, src, bytes)) [[likely]]
        atl::detail::copy(dst, src, bytes);
    else
        copy_large(dst, src, bytes);
}

/// Contiguous moves by the transport, and those that are counted.
[[gnu::cold]] void put_elsewhere(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe,
                                 bool blocking);
[[gnu::cold]] void get_elsewhere(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe,
                                 bool blocking);

/// Copies src to dst on `pe`. `dst` is in symmetric memory, as checked.
inline void put_contiguous(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe,
                           bool blocking = true) {
    if (bytes == 0) return ctx.check_pe(pe);
    if (char* const there = address_of_move(ctx, dst, bytes, pe)) [[likely]]
        copy_bytes(there, src, bytes);
    else
        put_elsewhere(ctx, dst, src, bytes, pe, blocking);
}
inline void get_contiguous(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe,
                           bool blocking = true) {
    if (bytes == 0) return ctx.check_pe(pe);
    if (const char* const there = address_of_move(ctx, src, bytes, pe)) [[likely]]
        copy_bytes(dst, there, bytes);
    else
        get_elsewhere(ctx, dst, src, bytes, pe, blocking);
}

/// Measures a call that moves `bytes` to or from `pe`.
atl::detail::Measured measure_move(const Context& ctx, const char* operation, std::size_t bytes, int pe);

struct FarTransfer;
/// Moves by loads and stores if they reach the PE, else by the transport. `extent` is the far side's.
void move_strided(const Context& ctx, const FarTransfer& t, const Extent& extent);
/// Copies between the near side and `far`, an address for loads and stores.
void copy_to_or_from(char* far, const FarTransfer& t);

/// `far` has the layout of the array in symmetric memory, `near` that of the local one; `extent` is far's.
struct StridedTransfer {
    PyArrayObject* far;
    Extent extent;
    char* near;
    const npy_intp* near_strides;
    int pe;
};
void put_strided(const Context& ctx, const StridedTransfer& t);
void get_strided(const Context& ctx, const StridedTransfer& t);

/// The strides of `array` as seen through the shape of `like`, which differs by axes of length 1 only.
Strides strides_as(PyArrayObject* array, PyArrayObject* like);

}  // namespace atl::python
