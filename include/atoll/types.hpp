// Vocabulary of every layer: element types, operators, comparisons.
#pragma once

// The other headers for hosts include this one before they use C++20.
#if __cplusplus < 202002L
#error The C++ API of Atoll needs C++20: add -std=c++20
#include "add -std=c++20"  // a missing file ends the compilation, where #error goes on to thousands of lines
#endif

#include "atoll/anywhere.hpp"

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace atl {

inline constexpr int dtype_count = 16;

/// The bits of CUDA's __half and __nv_bfloat16, for code without CUDA. Reductions accumulate them in float.
struct float16 {  // NOLINT(readability-identifier-naming): the usual name of this type
    std::uint16_t bits;
};
struct bfloat16 {  // NOLINT(readability-identifier-naming)
    std::uint16_t bits;
};

/// `avg` is the sum divided by the number of members, of float, double and the half types.
enum class ReduceOp : std::uint8_t { sum, prod, min, max, bit_and, bit_or, bit_xor, avg };
inline constexpr int reduce_op_count = 8;

/// Kind of symmetric memory.
enum class Memory : std::uint8_t {
    host,
    /// The GPU of each PE: ATOLL_DEVICE, LOCAL_RANK, else chosen by the PE's number. Put, get, p, g and the
    /// strided forms take such addresses on the symmetric side, and any memory on the local side. Atomics,
    /// signals, wait_until, test and collectives take them too. None of these wait for the program's streams,
    /// so synchronise before using what a kernel writes. atoll/stream.hpp has the calls in stream order. An
    /// operation without a GPU form throws Error(not_symmetric). The host cannot load such addresses. The
    /// first allocation opens the GPU; finalize frees all of its memory.
    device,
};

/// A type that may be stored in symmetric memory: moved as bytes, without pointers into one PE's address
/// space.
template <class T>
concept Symmetric = std::is_trivially_copyable_v<T> && !std::is_const_v<T>;

namespace detail {
/// An array argument: anything that std::span takes.
template <class R>
concept Array = requires(R& r) {
    std::span(r);
};
template <Array R> using ElementOf = typename decltype(std::span(std::declval<R&>()))::element_type;
/// A source of the target's element type.
template <Array R> using SourceFor = std::span<const ElementOf<R>>;
template <Array R> constexpr std::size_t size_bytes(const R& r) noexcept {
    return std::size(r) * sizeof(*std::data(r));
}
}  // namespace detail

/// fetch, set and swap: 32- and 64-bit integers, float and double (OpenSHMEM 1.6, extended AMO types).
template <class T>
concept ExtendedAtomic = (std::integral<T> || std::same_as<T, float> ||
                          std::same_as<T, double>)&&(sizeof(T) == 4 || sizeof(T) == 8) &&
                         !std::same_as<T, bool>;

/// compare_swap: 32- and 64-bit integers (OpenSHMEM 1.6, standard AMO types).
template <class T>
concept StandardAtomic = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// inc and add: the standard types, and float and double as Atoll's extension.
template <class T>
concept AddAtomic = ExtendedAtomic<T>;

/// and, or, xor. OpenSHMEM names fewer types; any 32- or 64-bit integer works.
template <class T>
concept BitwiseAtomic = StandardAtomic<T>;

template <class T>
concept Waitable = std::integral<T> && !std::same_as<T, bool>;

namespace detail {
template <class T> consteval DType dtype_of() {
    if constexpr (std::same_as<T, bool>)
        return DType::boolean;
    else if constexpr (std::same_as<T, float16>)
        return DType::float16;
    else if constexpr (std::same_as<T, bfloat16>)
        return DType::bfloat16;
    else if constexpr (std::same_as<T, float>)
        return DType::float32;
    else if constexpr (std::same_as<T, double>)
        return DType::float64;
    else if constexpr (std::same_as<T, long double>)
        return DType::long_double;
    else if constexpr (std::same_as<T, std::complex<float>>)
        return DType::complex64;
    else if constexpr (std::same_as<T, std::complex<double>>)
        return DType::complex128;
    else if constexpr (std::integral<T> && std::is_signed_v<T>)
        return sizeof(T) == 1   ? DType::int8
               : sizeof(T) == 2 ? DType::int16
               : sizeof(T) == 4 ? DType::int32
                                : DType::int64;
    else if constexpr (std::integral<T>)
        return sizeof(T) == 1   ? DType::uint8
               : sizeof(T) == 2 ? DType::uint16
               : sizeof(T) == 4 ? DType::uint32
                                : DType::uint64;
}

template <class T>
concept HasDType = std::integral<T> || std::floating_point<T> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, float16> || std::same_as<T, bfloat16>;
}  // namespace detail

/// The DType of a C++ arithmetic or complex type.
template <detail::HasDType T> inline constexpr DType dtype = detail::dtype_of<T>();

/// sum and prod: every arithmetic type and complex.
template <class T>
concept SumReducible = detail::HasDType<T> && !std::same_as<T, bool>;
/// avg, and sums of scaled elements: floating point, half types too.
template <class T>
concept Averaged = std::floating_point<T> || std::same_as<T, float16> || std::same_as<T, bfloat16>;
/// min and max: every type with an order, so no complex numbers.
template <class T>
concept Ordered = (std::integral<T> && !std::same_as<T, bool>) || Averaged<T>;
/// and, or, xor: integers and bool (bool is logical).
template <class T>
concept BitwiseReducible = std::integral<T>;

/// Size in bytes of one element.
constexpr std::size_t size_of(DType d) noexcept {
    constexpr std::size_t sizes[dtype_count] = {1, 2,  4, 8, 1, 2, 4, 8, 4, 8, sizeof(long double),
                                                8, 16, 1, 2, 2};
    return sizes[static_cast<int>(d)];
}

}  // namespace atl
