// ElementsAt: elements of a distributed array that a list of indices names.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/axis.hpp"

#include <complex>
#include <span>
#include <string>
#include <vector>

namespace atl {

template <Symmetric T, std::size_t N> class DistArray;

namespace detail {

template <class T>
concept ComplexAddable = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
/// Elements that several PEs may add to at once.
template <class T>
concept Addable = AddAtomic<T> || ComplexAddable<T>;

/// Adds to an element of a PE atomically, and to each part of a complex number.
template <Addable T> void add_atomically(const Context& context, T* there, T value, int pe) {
    if constexpr (ComplexAddable<T>) {
        auto* const parts = reinterpret_cast<typename T::value_type*>(there);
        context.atomic_add(&parts[0], value.real(), pe);
        context.atomic_add(&parts[1], value.imag(), pe);
    } else {
        context.atomic_add(there, value, pe);
    }
}

template <class Array> class ElementsAt;

/// Elements by indices, as `a.at[i, j]` of Python. DistArray::at makes it. Its calls are not collective.
/// Throws Error: invalid_argument for an index out of range, shape_mismatch for another number of values.
/// Nothing is written then.
template <Symmetric T, std::size_t N> class ElementsAt<DistArray<T, N>> {
  public:
    ElementsAt(const DistArray<T, N>& array, std::span<const Index<N>> indices)
        : array_(array), indices_(indices) {
        for (const Index<N>& index : indices) array.layout_.check("at", index);
    }
    /// Copies the elements to `out`, one per index.
    void get(std::span<T> out) const {
        check_count("get", out.size());
        each([&](std::size_t i, int pe, T* there) { array_.context_.get_nbi(&out[i], there, 1, pe); });
        array_.context_.quiet();
    }
    std::vector<T> get() const {
        std::vector<T> found(indices_.size());
        get(found);
        return found;
    }
    /// Writes the elements, in all copies. If indices repeat, one of the values is kept.
    void set(std::span<const T> values) const {
        check_count("set", values.size());
        each([&](std::size_t i, int pe, T* there) {
            array_.layout_.for_each_copy(pe, [&](int copy) { array_.context_.p(there, values[i], copy); });
        });
    }
    /// Adds to the elements atomically, and to each part of complex numbers. Equal indices add several times.
    /// Throws Error(unsupported) if the array has copies.
    void add(std::span<const T> values) const requires Addable<T> {
        array_.refuse_copies("at(...).add");
        check_count("add", values.size());
        each([&](std::size_t i, int pe, T* there) { add_atomically(array_.context_, there, values[i], pe); });
    }

  private:
    void check_count(const char* call, std::size_t count) const {
        if (count != indices_.size())
            refuse(ErrorCode::shape_mismatch, "at(...)." + std::string(call) + ": " + std::to_string(count) +
                                                  " elements for " + std::to_string(indices_.size()) +
                                                  " indices");
    }
    /// Calls f(number in the list, PE, address in its block) for each index.
    template <class F> void each(F&& f) const {
        const View<T, N>& block = array_.block();
        for (std::size_t i = 0; i < indices_.size(); ++i) {
            const auto [pe, at] = array_.layout_.find(indices_[i], array_.me_);
            f(i, pe, &block[at]);
        }
    }
    const DistArray<T, N>& array_;
    std::span<const Index<N>> indices_;
};

}  // namespace detail
}  // namespace atl
