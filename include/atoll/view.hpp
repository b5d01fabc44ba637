// View: an N-dimensional view of memory with a stride for each axis, as C++23's std::mdspan has it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace atl {

/// One index, or one length, for each axis.
template <std::size_t N> using Index = std::array<std::ptrdiff_t, N>;

/// Indices start, start + step, ... below stop of one axis.
struct Range {
    std::ptrdiff_t start = 0, stop = 0, step = 1;
    /// The range of `count` indices from `start` on.
    static constexpr Range of(std::ptrdiff_t start, std::ptrdiff_t count, std::ptrdiff_t step = 1) {
        return {start, start + count * step, step};
    }
    constexpr std::ptrdiff_t count() const { return stop > start ? (stop - start + step - 1) / step : 0; }
    friend bool operator==(const Range&, const Range&) = default;
};

/// A range for each axis.
template <std::size_t N> using Box = std::array<Range, N>;

/// The number of indices of a box along each axis.
template <std::size_t N> constexpr Index<N> extents_of(const Box<N>& box) {
    Index<N> found{};
    for (std::size_t axis = 0; axis < N; ++axis) found[axis] = box[axis].count();
    return found;
}
/// The product of the lengths: the number of elements.
template <std::size_t N> constexpr std::size_t count_of(const Index<N>& extents) {
    std::size_t found = 1;
    for (const std::ptrdiff_t length : extents) found *= static_cast<std::size_t>(length);
    return found;
}

/// A view of `extents` elements of T; element (i, j, ...) is at i * strides[0] + j * strides[1] + ... Strides
/// are in elements. A view does not own the memory and checks no index.
template <class T, std::size_t N> class View {
  public:
    static_assert(N >= 1, "a view has at least one axis");
    View() = default;
    View(T* data, const Index<N>& extents, const Index<N>& strides)
        : data_(data), extents_(extents), strides_(strides) {}
    /// Contiguous elements in C order: the last axis varies fastest.
    View(T* data, const Index<N>& extents) : data_(data), extents_(extents) {
        std::ptrdiff_t stride = 1;
        for (std::size_t axis = N; axis-- > 0;) {
            strides_[axis] = stride;
            stride *= extents[axis];
        }
    }
    operator View<const T, N>() const requires(!std::is_const_v<T>) { return {data_, extents_, strides_}; }

    T* data() const noexcept { return data_; }
    const Index<N>& extents() const noexcept { return extents_; }
    const Index<N>& strides() const noexcept { return strides_; }
    std::ptrdiff_t extent(std::size_t axis) const { return extents_[axis]; }
    std::ptrdiff_t stride(std::size_t axis) const { return strides_[axis]; }
    std::size_t size() const { return count_of(extents_); }

    template <std::integral... I>
        requires(sizeof...(I) == N)
    T& operator()(I... indices) const { return (*this)[Index<N>{static_cast<std::ptrdiff_t>(indices)...}]; }
    T& operator[](const Index<N>& index) const { return data_[offset(index)]; }

    /// The view of a box of it. The ranges lie within the extents.
    View box(const Box<N>& box) const {
        Index<N> first{}, strides{};
        for (std::size_t axis = 0; axis < N; ++axis) {
            first[axis] = box[axis].start;
            strides[axis] = strides_[axis] * box[axis].step;
        }
        return {data_ ? data_ + offset(first) : nullptr, extents_of(box), strides};
    }
    /// Calls f(index) for each index in C order.
    template <class F> void for_each_index(F&& f) const {
        if (size() == 0) return;
        Index<N> index{};
        do f(std::as_const(index));
        while (advance(index, N));
    }
    /// Sets every element.
    void fill(const std::remove_const_t<T>& value) const {
        for_each_index([&](const Index<N>& at) { (*this)[at] = value; });
    }
    /// Calls f(data of this view, data of the other) for each index of the first `axes` axes; the other has
    /// the same extents.
    template <class U, class F> void for_each_row(const View<U, N>& other, std::size_t axes, F&& f) const {
        if (size() == 0) return;
        Index<N> index{};
        do f(data_ + offset(index), other.data() + other.offset(index));
        while (advance(index, axes));
    }
    std::ptrdiff_t offset(const Index<N>& index) const {
        std::ptrdiff_t found = 0;
        for (std::size_t axis = 0; axis < N; ++axis) found += index[axis] * strides_[axis];
        return found;
    }

  private:
    /// The next index of the first `axes` axes in C order; false after the last one.
    bool advance(Index<N>& index, std::size_t axes) const {
        for (std::size_t axis = axes; axis-- > 0;) {
            if (++index[axis] < extents_[axis]) return true;
            index[axis] = 0;
        }
        return false;
    }
    T* data_ = nullptr;
    Index<N> extents_{}, strides_{};
};

}  // namespace atl
