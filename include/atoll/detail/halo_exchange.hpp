// HaloExchange: each PE puts its rim into its neighbours' halos and signals them, corners in the same step.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/layout.hpp"

namespace atl {

/// The contents of a halo beyond the ends of an axis.
enum class Border : unsigned char {
    fixed,      ///< stays as it was
    periodic,   ///< the elements of the other end
    reflect,    ///< the elements mirrored at the first one, which is not repeated
    symmetric,  ///< the elements mirrored, with the first one repeated
    edge,       ///< the first element, for the whole width
};

namespace detail {

/// Copies between a box of a block on `pe` and local memory of the same lengths; put (to `pe`) or get. All
/// strides are positive, and `there` is given by this PE's own addresses.
template <bool IsPut, class T, class Local, std::size_t N>
void move_box(const Context& context, const View<T, N>& there, const View<Local, N>& here, int pe) {
    const auto copy = [&](auto* remote, auto* local, std::ptrdiff_t remote_stride,
                          std::ptrdiff_t local_stride, std::size_t block, std::size_t count) {
        if (count == 1) remote_stride = local_stride = static_cast<std::ptrdiff_t>(block);
        if constexpr (IsPut)
            context.ibput(remote, local, remote_stride, local_stride, block, count, pe);
        else
            context.ibget(local, remote, local_stride, remote_stride, block, count, pe);
    };
    constexpr std::size_t last = N - 1;
    const auto length = static_cast<std::size_t>(there.extent(last));
    const bool rows = length == 1 || (there.stride(last) == 1 && here.stride(last) == 1);
    if (!rows) {  // single elements along the last axis
        there.for_each_row(here, last, [&](T* remote, Local* local) {
            copy(remote, local, there.stride(last), here.stride(last), 1, length);
        });
    } else if constexpr (N == 1) {
        if (length != 0) copy(there.data(), here.data(), 1, 1, length, 1);
    } else {  // blocks of the last axis along the last but one
        there.for_each_row(here, last - 1, [&](T* remote, Local* local) {
            copy(remote, local, there.stride(last - 1), here.stride(last - 1), length,
                 static_cast<std::size_t>(there.extent(last - 1)));
        });
    }
}

constexpr bool is_copied(Border border) {
    return border == Border::reflect || border == Border::symmetric || border == Border::edge;
}

/// The row that is copied beyond an end, at a distance from the last row inside. Rows count inwards, from 0
/// at the end.
constexpr std::ptrdiff_t copied_row(Border border, std::ptrdiff_t distance) {
    return border == Border::reflect ? distance : border == Border::symmetric ? distance - 1 : 0;
}

constexpr std::size_t power(std::size_t base, std::size_t exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// The exchange of one array's halo, used again for each exchange.
template <std::size_t N> class HaloExchange {
  public:
    /// `signals` are symmetric, and zero on all PEs.
    explicit HaloExchange(std::uint64_t* signals) : ready_(signals), arrived_(signals + words / 2) {}
    /// The signals: two for each direction. The two halves share no cache line.
    static constexpr std::size_t words = 2 * ((power(3, N) + 7) / 8 * 8);

    /// The borders of the first exchange, which later ones keep.
    const std::array<Border, N>& borders() const { return borders_; }
    /// Tells the neighbours that this halo may be overwritten, and puts the rims that they get.
    template <class T>
    void start(const Context& context, const Layout<N>& layout, int me, const View<T, N>& block,
               const std::array<Border, N>& borders) {
        if (is_started_) refuse(ErrorCode::invalid_argument, "start_halo twice without finish_halo between");
        if (count_ == 0) plan(layout, me, borders);
        if (borders != borders_)
            refuse(ErrorCode::invalid_argument,
                   "the borders differ from those of this array's first exchange, which stay");
        is_started_ = true;
        ++count_;
        for (const Neighbour& to : neighbours_) context.signal_add(&ready_[to.there], 1, to.pe);
        for (const Neighbour& to : neighbours_) {
            context.signal_wait_until(&ready_[to.here], Compare::ge, count_);
            move_box<true>(context, block.box(to.target), View<const T, N>(block.box(to.source)), to.pe);
            context.fence();
            context.signal_add(&arrived_[to.there], 1, to.pe);
        }
    }
    /// Waits for the neighbours' rims, then copies where a border does so.
    template <class T>
    void finish(const Context& context, const Layout<N>& layout, int me, const View<T, N>& block) {
        if (!is_started_) refuse(ErrorCode::invalid_argument, "finish_halo without start_halo");
        is_started_ = false;
        for (const Neighbour& to : neighbours_)
            context.signal_wait_until(&arrived_[to.here], Compare::ge, count_);
        for (std::size_t axis = 0; axis < N; ++axis)
            if (is_copied(borders_[axis])) copy_beyond(layout, me, block.box(layout.padded(me)), axis);
    }

  private:
    static constexpr std::size_t directions = power(3, N);
    struct Neighbour {
        int pe;
        std::size_t here, there;  ///< the numbers of its signals on this PE and on the neighbour
        Box<N> source, target;
    };

    void plan(const Layout<N>& layout, int me, const std::array<Border, N>& borders) {
        for (std::size_t axis = 0; axis < N; ++axis) {
            const Axis& along = layout.axis(axis);
            const std::ptrdiff_t width = std::max(layout.halo(axis).before, layout.halo(axis).after);
            const std::ptrdiff_t ends = std::min(along.extent(0), along.extent(along.parts() - 1));
            if (is_copied(borders[axis]) && width > 0 && copied_row(borders[axis], width) >= ends)
                refuse(ErrorCode::invalid_argument,
                       "axis " + std::to_string(axis) + ": the border takes rows from " +
                           std::to_string(copied_row(borders[axis], width) + 1) +
                           " elements at an end, and a part there has " + std::to_string(ends) +
                           " in all; use fewer PEs along this axis, or a narrower halo");
        }
        borders_ = borders;
        const Index<N> mine = layout.coordinates(me), own = layout.extents(me);
        for (std::size_t number = 0; number < directions; ++number) {
            Index<N> direction{}, to{};
            std::size_t rest = number;
            for (std::size_t axis = N; axis-- > 0; rest /= 3)
                direction[axis] = static_cast<std::ptrdiff_t>(rest % 3) - 1;
            if (direction == Index<N>{}) continue;
            bool exists = true;
            for (std::size_t axis = 0; axis < N; ++axis) {
                const std::ptrdiff_t parts = layout.axis(axis).parts();
                to[axis] = mine[axis] + direction[axis];
                if (borders[axis] == Border::periodic) to[axis] = (to[axis] + parts) % parts;
                exists = exists && 0 <= to[axis] && to[axis] < parts;
            }
            if (!exists) continue;
            const int pe = layout.pe_at(to);
            const Index<N> theirs = layout.extents(pe);
            Neighbour found{pe, number, directions - 1 - number, {}, {}};
            for (std::size_t axis = 0; axis < N; ++axis) {
                const auto [before, after] = layout.halo(axis);
                if (direction[axis] == 0) {
                    found.source[axis] = Range::of(before, own[axis]);
                    found.target[axis] = Range::of(before, theirs[axis]);
                } else if (direction[axis] > 0) {
                    found.source[axis] = Range::of(own[axis], before);
                    found.target[axis] = Range::of(0, before);
                } else {
                    found.source[axis] = Range::of(before, after);
                    found.target[axis] = Range::of(before + theirs[axis], after);
                }
            }
            neighbours_.push_back(found);
        }
    }
    /// Copies rows of an axis beyond its first and its last index, on the PEs that have these.
    template <class T>
    void copy_beyond(const Layout<N>& layout, int me, const View<T, N>& padded, std::size_t axis) const {
        const auto [before, after] = layout.halo(axis);
        const std::ptrdiff_t part = layout.coordinates(me)[axis], end = padded.extent(axis) - after;
        const auto copy = [&](std::ptrdiff_t to, std::ptrdiff_t from) {
            Box<N> rows = layout.padded(me);
            rows[axis] = Range::of(to, 1);
            const View<T, N> target = padded.box(rows);
            rows[axis] = Range::of(from, 1);
            const View<T, N> source = padded.box(rows);
            target.for_each_index([&](const Index<N>& at) { target[at] = source[at]; });
        };
        const Border border = borders_[axis];
        if (part == 0)
            for (std::ptrdiff_t i = 1; i <= before; ++i) copy(before - i, before + copied_row(border, i));
        if (part == layout.axis(axis).parts() - 1)
            for (std::ptrdiff_t i = 1; i <= after; ++i) copy(end - 1 + i, end - 1 - copied_row(border, i));
    }

    std::uint64_t *ready_, *arrived_;
    std::uint64_t count_ = 0;
    bool is_started_ = false;
    std::array<Border, N> borders_{};
    std::vector<Neighbour> neighbours_;
};

}  // namespace detail
}  // namespace atl
