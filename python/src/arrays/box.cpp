#include "arrays/box.hpp"

#include "calls/errors.hpp"

#include <algorithm>

namespace atl::python {
namespace {

npy_intp number(PyObject* row, Py_ssize_t i) {
    const npy_intp found = PyLong_AsSsize_t(PyTuple_GetItem(row, i));
    if (found == -1 && PyErr_Occurred()) throw Raised{};
    return found;
}

/// The number of the range's indices that lie before one.
npy_intp count_before(const BoxRange& range, npy_intp index) noexcept {
    if (index <= range.start) return 0;
    const npy_intp distance = index - range.start;
    return std::min(range.count, range.step == 1 ? distance : (distance + range.step - 1) / range.step);
}

bool read_slice(const BoxAxis& axis, PyObject* key, BoxRange& range) {
    Py_ssize_t start = 0, stop = 0, step = 1;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) throw Raised{};
    const Py_ssize_t count = PySlice_AdjustIndices(axis.length, &start, &stop, step);
    if (count <= 0) return false;
    const bool is_reversed = step < 0 && count > 1;
    if (count == 1) step = 1;  // it may be larger than all sums of it
    range = {is_reversed ? start + (count - 1) * step : start, count, is_reversed ? -step : step, is_reversed,
             false};
    return true;
}

bool read_integer(const BoxAxis& axis, PyObject* key, BoxRange& range) {
    if (!PyLong_CheckExact(key) && !PyArray_IsScalar(key, Integer)) return false;
    // A number that no memory holds becomes the largest: out of range.
    Py_ssize_t index = PyNumber_AsSsize_t(key, nullptr);
    if (index == -1 && PyErr_Occurred()) throw Raised{};
    if (index < 0) index += axis.length;
    range = {index, 1, 1, false, true};
    return index >= 0 && index < axis.length;
}

/// Reads one key, or all of the axis without one, and finds the parts.
bool read_axis(const BoxAxis& axis, PyObject* key, Box& box, int i) {
    BoxRange& range = box.ranges[i];
    if (key == nullptr) {
        range = {0, axis.length, 1, false, false};
        if (axis.length == 0) return false;
    } else if (!(PySlice_Check(key) ? read_slice(axis, key, range) : read_integer(axis, key, range))) {
        return false;
    }
    if (axis.is_contiguous()) {
        box.first_part[i] = axis.owner(range.start);
        box.last_part[i] = range.is_single ? box.first_part[i] : axis.owner(range.last());
        return true;
    }
    const npy_intp row = range.start / axis.block;
    box.first_part[i] = box.last_part[i] = row % axis.parts;
    return range.last() / axis.block == row;
}

}  // namespace

BoxAxis::BoxAxis(PyObject* row)
    : length(number(row, 0)), parts(number(row, 1)), block(number(row, 3)), low(number(row, 4)) {
    PyObject* const given_bounds = PyTuple_GetItem(row, 2);
    if (given_bounds == Py_None) return;
    for (Py_ssize_t i = 0; i <= parts; ++i) bounds.push_back(number(given_bounds, i));
}

npy_intp BoxAxis::owner(npy_intp index) const noexcept {
    npy_intp part = 0, end = parts;
    while (end - part > 1) {
        const npy_intp middle = (part + end) / 2;
        (bounds[static_cast<std::size_t>(middle)] <= index ? part : end) = middle;
    }
    return part;
}

BoxShare share_of(const BoxAxis& axis, const BoxRange& range, npy_intp part) noexcept {
    if (!axis.is_contiguous()) {
        const npy_intp row = range.start / axis.block;
        return {0, range.count, row / axis.parts * axis.block + range.start % axis.block + axis.low};
    }
    const npy_intp begin = axis.bounds[static_cast<std::size_t>(part)];
    const npy_intp first = count_before(range, begin);
    const npy_intp stop = count_before(range, axis.bounds[static_cast<std::size_t>(part) + 1]);
    return {first, stop - first, range.start + first * range.step - begin + axis.low};
}

int Box::shape(npy_intp* dims) const noexcept {
    int n = 0;
    for (int i = 0; i < nd; ++i)
        if (!ranges[i].is_single) dims[n++] = ranges[i].count;
    return n;
}

bool read_box(const std::vector<BoxAxis>& axes, PyObject* key, Box& box) {
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t n_keys = is_tuple ? PyTuple_Size(key) : 1, nd = static_cast<Py_ssize_t>(axes.size());
    const auto key_at = [&](Py_ssize_t i) { return is_tuple ? PyTuple_GetItem(key, i) : key; };
    Py_ssize_t left_out = n_keys;  // the keys from here on count from the end
    for (Py_ssize_t i = 0; i < n_keys; ++i)
        if (key_at(i) == Py_Ellipsis) {
            if (left_out != n_keys) return false;
            left_out = i;
        }
    const Py_ssize_t n_later = left_out == n_keys ? 0 : n_keys - left_out - 1;
    if (nd > NPY_MAXDIMS || left_out + n_later > nd) return false;
    box.nd = static_cast<int>(nd);
    for (Py_ssize_t i = 0; i < nd; ++i) {
        PyObject* its = i < left_out ? key_at(i) : i < nd - n_later ? nullptr : key_at(n_keys - (nd - i));
        if (!read_axis(axes[static_cast<std::size_t>(i)], its, box, static_cast<int>(i))) return false;
    }
    return true;
}

}  // namespace atl::python
