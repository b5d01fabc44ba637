// Layout: the axes of a distributed array over a grid of PEs, and the pieces of a box.
#pragma once

#include "atoll/detail/axis.hpp"

#include <limits>

namespace atl {

/// The widths of a halo along one axis: indices of the neighbours that a part keeps copies of.
struct Halo {
    std::ptrdiff_t before = 0, after = 0;
    constexpr Halo() = default;
    /// The same width on both sides.
    constexpr Halo(std::ptrdiff_t both) : before(both), after(both) {}
    constexpr Halo(std::ptrdiff_t low, std::ptrdiff_t high) : before(low), after(high) {}
    friend bool operator==(const Halo&, const Halo&) = default;
};

/// How a DistArray is distributed.
template <std::size_t N> struct DistOptions {
    std::array<Distribution, N> dist{};
    /// Parts along each axis; 0 leaves the number to the library. It takes the grid whose parts touch the
    /// least. A replicated axis gets several parts only if no other axis is left.
    Index<N> grid{};
    std::array<Halo, N> halo{};
};

namespace detail {

template <std::size_t N> std::string text_of(const Index<N>& index) {
    std::string text;
    for (const std::ptrdiff_t i : index) text += (text.empty() ? "" : ", ") + std::to_string(i);
    return "{" + text + "}";
}

/// The grid of `n_pes` places whose parts touch the least; axes with `fixed` parts keep them. Zeros if
/// no grid fits.
template <std::size_t N>
Index<N> best_grid(const Index<N>& lengths, std::ptrdiff_t n_pes, const Index<N>& fixed) {
    Index<N> best{}, grid{};
    auto cost = std::pair(std::numeric_limits<double>::infinity(), 0.0);
    const auto walk = [&](const auto& self, std::size_t axis, std::ptrdiff_t rest) -> void {
        if (axis == N) {
            if (rest != 1) return;
            auto its = std::pair(0.0, 0.0);  // parts without elements, then the relative length of the cuts
            for (std::size_t i = 0; i < N; ++i) {
                if (fixed[i] != 0) continue;
                its.first += static_cast<double>(std::max(grid[i] - lengths[i], std::ptrdiff_t{0}));
                its.second += static_cast<double>(grid[i] - 1) /
                              static_cast<double>(std::max(lengths[i], std::ptrdiff_t{1}));
            }
            if (its < cost) {
                cost = its;
                best = grid;
            }
            return;
        }
        for (std::ptrdiff_t parts = rest; parts >= 1; --parts) {
            if (rest % parts != 0 || (fixed[axis] != 0 && fixed[axis] != parts)) continue;
            grid[axis] = parts;
            self(self, axis + 1, rest / parts);
        }
    };
    walk(walk, 0, n_pes);
    return best;
}

/// The axes and halos of a distributed array. PEs are numbered in C order of the grid.
template <std::size_t N> class Layout {
  public:
    Layout() = default;
    /// Throws Error(invalid_argument) if shape, grid, distribution or halo do not fit.
    Layout(const Index<N>& shape, int n_pes, const DistOptions<N>& options) : options_(options) {
        for (const std::ptrdiff_t length : shape)
            if (length < 0)
                refuse(ErrorCode::invalid_argument, "shape " + text_of(shape) + " has a negative length");
        const Index<N> grid = options_.grid = grid_for(shape, n_pes, options);
        for (std::size_t axis = 0; axis < N; ++axis) {
            axes_[axis] = Axis(shape[axis], grid[axis], options.dist[axis]);
            has_copies_ = has_copies_ || axes_[axis].has_copies();
            check_halo(axis);
        }
    }

    const Axis& axis(std::size_t number) const { return axes_[number]; }
    /// The options that made it; the grid has the parts of every axis.
    const DistOptions<N>& options() const { return options_; }
    const Halo& halo(std::size_t number) const { return options_.halo[number]; }
    bool has_halo() const { return options_.halo != std::array<Halo, N>{}; }
    /// True if several PEs have the same elements.
    bool has_copies() const { return has_copies_; }
    /// True if each PE owns the same indices in both; halos may differ.
    bool same_distribution(const Layout& other) const { return axes_ == other.axes_; }
    /// A number that differs for different layouts, all but surely.
    std::uint64_t fingerprint() const {
        std::uint64_t found = N;
        for (std::size_t axis = 0; axis < N; ++axis) {
            axes_[axis].add_to(found);
            mix(found, options_.halo[axis].before);
            mix(found, options_.halo[axis].after);
        }
        return found;
    }
    Index<N> shape() const {
        return each([&](std::size_t axis) { return axes_[axis].length(); });
    }
    Index<N> grid() const {
        return each([&](std::size_t axis) { return axes_[axis].parts(); });
    }
    /// The room of each PE's block: the largest part and its halo.
    Index<N> block() const {
        return each([&](std::size_t axis) {
            return axes_[axis].largest() + options_.halo[axis].before + options_.halo[axis].after;
        });
    }
    Index<N> coordinates(int pe) const {
        Index<N> found{};
        std::ptrdiff_t rest = pe;
        for (std::size_t axis = N; axis-- > 0; rest /= axes_[axis].parts())
            found[axis] = rest % axes_[axis].parts();
        return found;
    }
    int pe_at(const Index<N>& coordinates) const {
        std::ptrdiff_t pe = 0;
        for (std::size_t axis = 0; axis < N; ++axis) pe = pe * axes_[axis].parts() + coordinates[axis];
        return static_cast<int>(pe);
    }
    Index<N> extents(int pe) const {
        const Index<N> at = coordinates(pe);
        return each([&](std::size_t axis) { return axes_[axis].extent(at[axis]); });
    }
    Box<N> bounds(int pe) const {
        const Index<N> at = coordinates(pe);
        Box<N> found{};
        for (std::size_t axis = 0; axis < N; ++axis) {
            if (!axes_[axis].is_contiguous())
                refuse(ErrorCode::invalid_argument,
                       "bounds: axis " + std::to_string(axis) + " is cyclic, so a part is not one range");
            found[axis] = axes_[axis].range(at[axis]);
        }
        return found;
    }
    /// The global indices along an axis of a PE's part, ascending.
    std::vector<std::ptrdiff_t> indices(std::size_t axis, int pe) const {
        if (axis >= N)
            refuse(ErrorCode::invalid_argument, "global_indices: axis " + std::to_string(axis) +
                                                    " of an array of " + std::to_string(N) + " axes");
        std::vector<std::ptrdiff_t> found;
        for (const Segment& segment : axes_[axis].segments(coordinates(pe)[axis], whole()[axis]))
            for (std::ptrdiff_t i = segment.target.start; i < segment.target.stop; ++i) found.push_back(i);
        return found;
    }
    /// The box of a PE's part in its block: all but the halo.
    Box<N> interior(int pe) const {
        Box<N> found{};
        const Index<N> lengths = extents(pe);
        for (std::size_t axis = 0; axis < N; ++axis)
            found[axis] = Range::of(options_.halo[axis].before, lengths[axis]);
        return found;
    }
    /// The box of a PE's part and its halo in its block.
    Box<N> padded(int pe) const {
        Box<N> found = interior(pe);
        for (std::size_t axis = 0; axis < N; ++axis) {
            found[axis].start = 0;
            found[axis].stop += options_.halo[axis].after;
        }
        return found;
    }
    Box<N> whole() const {
        Box<N> found{};
        for (std::size_t axis = 0; axis < N; ++axis) found[axis] = {0, axes_[axis].length(), 1};
        return found;
    }
    /// Throws Error(invalid_argument) if a range leaves its axis or its step is not positive.
    void check(const char* call, const Box<N>& box) const {
        for (std::size_t axis = 0; axis < N; ++axis) {
            const auto& [start, stop, step] = box[axis];
            if (step >= 1 && 0 <= start && start <= stop && stop <= axes_[axis].length()) continue;
            refuse(ErrorCode::invalid_argument,
                   std::string(call) + ": the range " + std::to_string(start) + " to " +
                       std::to_string(stop) + " in steps of " + std::to_string(step) + " of axis " +
                       std::to_string(axis) + "; expected 0 <= start <= stop <= " +
                       std::to_string(axes_[axis].length()) + ", its length, and a step of 1 or more");
        }
    }
    void check(const char* call, const Index<N>& index) const {
        for (std::size_t axis = 0; axis < N; ++axis)
            if (index[axis] < 0 || index[axis] >= axes_[axis].length())
                refuse(ErrorCode::invalid_argument, std::string(call) + ": index " + text_of(index) +
                                                        " of an array of shape " + text_of(shape()));
    }
    /// The PE that owns an element, and the element's place in the block. Among copies it is the nearest to
    /// a PE: that PE's own, or one with its place along replicated axes. The first one is nearest to PE 0.
    std::pair<int, Index<N>> find(const Index<N>& index, int near = 0) const {
        Index<N> part = each([&](std::size_t axis) { return axes_[axis].owner(index[axis]); });
        if (has_copies_) [[unlikely]]
            bring_near(part, near);
        return {pe_at(part), each([&](std::size_t axis) {
                    return axes_[axis].local(index[axis]) + options_.halo[axis].before;
                })};
    }
    /// Calls f(pe) for each PE that has the same elements as a PE, with itself.
    template <class F> void for_each_copy(int pe, F&& f) const {
        if (!has_copies_) return f(pe);
        const Index<N> own = coordinates(pe);
        const Index<N> counts = each([&](std::size_t axis) {
            return axes_[axis].has_copies() ? axes_[axis].parts() : std::ptrdiff_t{1};
        });
        View<const char, N>(nullptr, counts).for_each_index([&](const Index<N>& copy) {
            f(pe_at(
                each([&](std::size_t axis) { return axes_[axis].has_copies() ? copy[axis] : own[axis]; })));
        });
    }
    /// `near` of for_each_piece for all copies of each element.
    static constexpr int all_copies = -1;
    /// Calls f(pe, box in the PE's block, box in `wanted`) for each piece of a box. Among copies it takes
    /// those nearest to PE `near`, as `find` does, or all.
    template <class F> void for_each_piece(const Box<N>& wanted, int near, F&& f) const {
        Box<N> sole{};
        if (const int pe = sole_owner(wanted, near, sole); pe >= 0) return f(pe, sole, each_range(wanted));
        Pieces pieces;
        const Index<N> nearest = near == all_copies ? Index<N>{} : coordinates(near);
        for (std::size_t axis = 0; axis < N; ++axis) {
            const bool is_one = near != all_copies && axes_[axis].has_copies();
            const std::ptrdiff_t first = is_one ? nearest[axis] : 0;
            const std::ptrdiff_t end = is_one ? first + 1 : axes_[axis].parts();
            for (std::ptrdiff_t part = first; part < end; ++part)
                add(pieces[axis], axis, part, axes_[axis].segments(part, wanted[axis]));
        }
        combine(pieces, f);
    }
    /// Calls f(pe, box in the block, box of global indices) for each box of a PE's part.
    template <class F> void for_each_local(int pe, F&& f) const {
        const Index<N> at = coordinates(pe);
        Pieces pieces;
        for (std::size_t axis = 0; axis < N; ++axis)
            add(pieces[axis], axis, at[axis], axes_[axis].segments(at[axis], whole()[axis]));
        combine(pieces, f);
    }
    /// The same for the boxes that a PE gives to another array: its part, or its share of the copies.
    template <class F> void for_each_owned(int pe, F&& f) const {
        const Index<N> at = coordinates(pe);
        Pieces pieces;
        for (std::size_t axis = 0; axis < N; ++axis)
            add(pieces[axis], axis, at[axis], axes_[axis].owned(at[axis]));
        combine(pieces, f);
    }

  private:
    /// For each axis parts and their shares of a range.
    using Pieces = std::array<std::vector<std::pair<std::ptrdiff_t, Segment>>, N>;

    /// Moves a place in the grid to that of a PE along replicated axes.
    void bring_near(Index<N>& part, int pe) const {
        const Index<N> at = coordinates(pe);
        for (std::size_t axis = 0; axis < N; ++axis)
            if (axes_[axis].has_copies()) part[axis] = at[axis];
    }
    /// Returns the PE that owns all of a box, and sets the box in its block. Returns -1 if several own it, it
    /// is empty, or an axis is cyclic. Small boxes spend no time on lists of pieces.
    int sole_owner(const Box<N>& wanted, int near, Box<N>& local) const {
        if (has_copies_ && near == all_copies) return -1;
        Index<N> part{};
        for (std::size_t axis = 0; axis < N; ++axis) {
            const auto& [start, stop, step] = wanted[axis];
            if (!axes_[axis].is_contiguous() || start >= stop) return -1;
            part[axis] = axes_[axis].owner(start);
            const Range owned = axes_[axis].range(part[axis]);
            if (stop > owned.stop) return -1;
            const std::ptrdiff_t shift = options_.halo[axis].before - owned.start;
            local[axis] = {start + shift, stop + shift, step};
        }
        if (has_copies_) [[unlikely]]
            bring_near(part, near);
        return pe_at(part);
    }
    /// The box of all indices of a box.
    static Box<N> each_range(const Box<N>& wanted) {
        Box<N> found{};
        for (std::size_t axis = 0; axis < N; ++axis) found[axis] = Range::of(0, wanted[axis].count());
        return found;
    }
    template <class F> static Index<N> each(F&& f) {
        Index<N> found{};
        for (std::size_t axis = 0; axis < N; ++axis) found[axis] = f(axis);
        return found;
    }
    static Index<N> grid_for(const Index<N>& shape, int n_pes, const DistOptions<N>& options) {
        Index<N> fixed = options.grid;
        for (std::size_t axis = 0; axis < N; ++axis) {
            const std::ptrdiff_t parts = options.dist[axis].fixed_parts();
            if (fixed[axis] < 0 || (parts != 0 && fixed[axis] != 0 && fixed[axis] != parts))
                refuse(ErrorCode::invalid_argument,
                       "axis " + std::to_string(axis) + ": the grid asks for " + std::to_string(fixed[axis]) +
                           " parts, and the distribution has " + std::to_string(parts));
            if (parts != 0) fixed[axis] = parts;
        }
        leave_to_others(fixed, options);
        const Index<N> grid = best_grid(shape, n_pes, fixed);
        if (grid[0] == 0) refuse_grid(n_pes, options);
        return grid;
    }
    /// Fixes replicated axes to one part where another axis is left for the PEs.
    static void leave_to_others(Index<N>& fixed, const DistOptions<N>& options) {
        bool is_divided = false;
        for (const bool is_replicated : {false, true})
            for (std::size_t axis = 0; axis < N; ++axis) {
                if ((options.dist[axis].kind() == Distribution::Kind::replicated) != is_replicated) continue;
                if (is_replicated && is_divided && fixed[axis] == 0) fixed[axis] = 1;
                is_divided = is_divided || fixed[axis] == 0;
            }
    }
    /// Refuses options that have no grid of `n_pes` places.
    [[noreturn]] static void refuse_grid(int n_pes, const DistOptions<N>& options) {
        const std::string pes = std::to_string(n_pes) + (n_pes == 1 ? " PE" : " PEs");
        const Index<N> own = each([&](std::size_t axis) { return options.dist[axis].fixed_parts(); });
        if (options.grid == Index<N>{}) {
            std::ptrdiff_t all = 1;
            for (const std::ptrdiff_t parts : own) all *= std::max(parts, std::ptrdiff_t{1});
            refuse(ErrorCode::invalid_argument,
                   "the distribution makes " + std::to_string(all) + " parts in all, and the team has " +
                       pes + "; give bounds for as many parts, or leave an axis to block or cyclic");
        }
        const std::string with = own == Index<N>{} ? "" : ", with the distribution's parts " + text_of(own);
        refuse(ErrorCode::invalid_argument, "the grid " + text_of(options.grid) + with +
                                                " (0: any number) does not divide " + pes +
                                                "; the product of its parts must be the number of PEs");
    }
    void check_halo(std::size_t axis) const {
        const auto& [before, after] = options_.halo[axis];
        if (before == 0 && after == 0) return;
        const std::string widths = "axis " + std::to_string(axis) + ": a halo of " + std::to_string(before) +
                                   " and " + std::to_string(after);
        if (before < 0 || after < 0) refuse(ErrorCode::invalid_argument, widths + "; expected 0 or more");
        if (!axes_[axis].is_contiguous())
            refuse(ErrorCode::invalid_argument, widths + "; a cyclic axis has none");
        if (axes_[axis].has_copies())
            refuse(ErrorCode::invalid_argument, widths + "; a replicated axis has none");
        if (std::max(before, after) > axes_[axis].smallest())
            refuse(ErrorCode::invalid_argument,
                   widths + " is wider than the smallest part, which has " +
                       std::to_string(axes_[axis].smallest()) + " of " +
                       std::to_string(axes_[axis].length()) +
                       " indices; use fewer PEs along this axis, or a narrower halo");
    }
    void add(std::vector<std::pair<std::ptrdiff_t, Segment>>& found, std::size_t axis, std::ptrdiff_t part,
             const std::vector<Segment>& segments) const {
        for (Segment segment : segments) {
            segment.local.start += options_.halo[axis].before;
            segment.local.stop += options_.halo[axis].before;
            found.emplace_back(part, segment);
        }
    }
    template <class F> void combine(const Pieces& by_axis, F& f) const {
        Index<N> counts{};
        for (std::size_t axis = 0; axis < N; ++axis)
            counts[axis] = static_cast<std::ptrdiff_t>(by_axis[axis].size());
        View<const char, N>(nullptr, counts).for_each_index([&](const Index<N>& choice) {
            Index<N> part{};
            Box<N> local{}, target{};
            for (std::size_t axis = 0; axis < N; ++axis) {
                const auto& [number, segment] = by_axis[axis][static_cast<std::size_t>(choice[axis])];
                part[axis] = number;
                local[axis] = segment.local;
                target[axis] = segment.target;
            }
            f(pe_at(part), local, target);
        });
    }

    std::array<Axis, N> axes_{};
    DistOptions<N> options_{};
    bool has_copies_ = false;
};

}  // namespace detail
}  // namespace atl
