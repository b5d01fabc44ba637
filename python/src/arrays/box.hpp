// Boxes of distributed arrays: what an index expression names, and the parts that have its elements.
#pragma once

#include "calls/py.hpp"

#include <vector>

namespace atl::python {

/// An axis and its distribution: a row of Layout.rows, which is length, parts, bounds or None, block, lower
/// halo.
struct BoxAxis {
    npy_intp length, parts, block, low;
    std::vector<npy_intp> bounds;  ///< the starts of the parts, and the length; empty if the axis is cyclic

    explicit BoxAxis(PyObject* row);
    bool is_contiguous() const noexcept { return !bounds.empty(); }
    /// The part that owns an index of a contiguous axis: the last one that begins at or before it.
    npy_intp owner(npy_intp index) const noexcept;
};

/// Global indices along an axis, at least one, ascending.
struct BoxRange {
    npy_intp start, count, step;
    bool is_reversed;  ///< the box has them in descending order
    bool is_single;    ///< an integer, without an axis in the box

    npy_intp last() const noexcept { return start + (count - 1) * step; }
};

/// The indices of a range that lie in one part.
struct BoxShare {
    npy_intp first;  ///< their place in the range
    npy_intp count;
    npy_intp local;  ///< the first one's place in the part's block
};
BoxShare share_of(const BoxAxis& axis, const BoxRange& range, npy_intp part) noexcept;

/// A box, and along each axis the parts between which it lies.
struct Box {
    int nd = 0;
    BoxRange ranges[NPY_MAXDIMS];
    npy_intp first_part[NPY_MAXDIMS], last_part[NPY_MAXDIMS];

    /// Writes the box's shape to `dims`, without axes indexed by an integer. Returns the number of axes.
    int shape(npy_intp* dims) const noexcept;
};

/// Reads an index expression. Returns false if it needs the general path: errors, boxes without elements,
/// indices of other kinds. Also false for ranges of a cyclic axis that leave one of its blocks.
bool read_box(const std::vector<BoxAxis>& axes, PyObject* key, Box& box);

/// Calls `f(pe, shares)` for each PE that has elements of the box; `shares` has a BoxShare for each axis.
template <class F> void for_each_owner(const std::vector<BoxAxis>& axes, const Box& box, F&& f) {
    BoxShare shares[NPY_MAXDIMS];
    npy_intp parts[NPY_MAXDIMS];
    for (int i = 0; i < box.nd; ++i) parts[i] = box.first_part[i];
    for (;;) {
        npy_intp pe = 0;
        bool is_empty = false;
        for (int i = 0; i < box.nd; ++i) {
            const BoxAxis& axis = axes[static_cast<std::size_t>(i)];
            shares[i] = share_of(axis, box.ranges[i], parts[i]);
            is_empty = is_empty || shares[i].count == 0;
            pe = pe * axis.parts + parts[i];
        }
        if (!is_empty) f(static_cast<int>(pe), static_cast<const BoxShare*>(shares));
        int i = box.nd - 1;
        while (i >= 0 && parts[i] == box.last_part[i]) {
            parts[i] = box.first_part[i];
            --i;
        }
        if (i < 0) return;
        ++parts[i];
    }
}

}  // namespace atl::python
