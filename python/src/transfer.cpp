#include "transfer.hpp"

#include "far_moves.hpp"

#include <cstring>

namespace atl::python {

void copy_large(char* dst, const char* src, std::size_t bytes) {
    ReleaseGil released(bytes >= release_gil_bytes);
    std::memmove(dst, src, bytes);
}

Strides strides_as(PyArrayObject* array, PyArrayObject* like) {
    Strides strides{};
    int k = 0;
    for (int i = 0; i < PyArray_NDIM(like); ++i) {
        if (PyArray_DIMS(like)[i] == 1) continue;
        while (PyArray_DIMS(array)[k] == 1) ++k;
        strides.of[i] = PyArray_STRIDES(array)[k++];
    }
    return strides;
}

namespace {

std::size_t bytes_in(PyArrayObject* array) { return size_of(array) * item_bytes(array); }

}  // namespace

void put_strided(const Context& ctx, const StridedTransfer& t) {
    if (t.extent.bytes == 0) return ctx.check_pe(t.pe);
    char* data = PyArray_BYTES(t.far);
    const npy_intp* dims = PyArray_DIMS(t.far);
    const npy_intp* strides = PyArray_STRIDES(t.far);
    const int nd = PyArray_NDIM(t.far);
    const int slot = ctx.route(t.extent.low, t.extent.bytes, t.pe);
    if (slot >= 0) {
        ReleaseGil released(bytes_in(t.far) >= release_gil_bytes);
        copy_strided(ctx.window().at(data, slot), strides, t.near, t.near_strides, dims, nd,
                     item_bytes(t.far));
        return;
    }
    move_far(ctx, {data, strides, t.near, t.near_strides, dims, nd, item_bytes(t.far), t.pe, true, true});
}

void get_strided(const Context& ctx, const StridedTransfer& t) {
    if (t.extent.bytes == 0) return ctx.check_pe(t.pe);
    char* data = PyArray_BYTES(t.far);
    const npy_intp* dims = PyArray_DIMS(t.far);
    const npy_intp* strides = PyArray_STRIDES(t.far);
    const int nd = PyArray_NDIM(t.far);
    const int slot = ctx.route(t.extent.low, t.extent.bytes, t.pe);
    if (slot >= 0) {
        ReleaseGil released(bytes_in(t.far) >= release_gil_bytes);
        copy_strided(t.near, t.near_strides, ctx.window().at(data, slot), strides, dims, nd,
                     item_bytes(t.far));
        return;
    }
    move_far(ctx, {data, strides, t.near, t.near_strides, dims, nd, item_bytes(t.far), t.pe, false, true});
}

}  // namespace atl::python
