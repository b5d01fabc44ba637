#include "arrays/transfer.hpp"

#include "arrays/far_moves.hpp"
#include "core/team/context_state.hpp"

#include <cstring>

namespace atl::python {

void copy_large(char* dst, const char* src, std::size_t bytes) {
    ReleaseGil released(bytes >= release_gil_bytes);
    std::memmove(dst, src, bytes);
}

atl::detail::Measured measure_move(const Context& ctx, const char* operation, std::size_t bytes, int pe) {
    const bool is_on = ctx.window().counts;
    if (is_on) ctx.check_pe(pe);
    return {ctx.job(), is_on, atl::detail::Measured::Kind::move,
            operation, bytes, is_on ? ctx.world_pe(pe) : -1};
}

void put_elsewhere(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe, bool blocking) {
    // A move to a near PE comes here only while moves are counted.
    char* const there = ctx.window().counts ? unchecked_address(ctx, dst, pe) : nullptr;
    if (there == nullptr) return ctx.put_bytes(dst, src, bytes, pe, blocking);
    atl::detail::Measured measured = measure_move(ctx, blocking ? "put" : "put_nbi", bytes, pe);
    measured.set_subject(dst);
    if (!blocking) atl::core::note_context(measured, ctx.state());
    copy_bytes(there, src, bytes);
}

void get_elsewhere(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe, bool blocking) {
    const char* const there = ctx.window().counts ? unchecked_address(ctx, src, pe) : nullptr;
    if (there == nullptr) return ctx.get_bytes(dst, src, bytes, pe, blocking);
    atl::detail::Measured measured = measure_move(ctx, blocking ? "get" : "get_nbi", bytes, pe);
    measured.set_subject(src);
    if (!blocking) atl::core::note_context(measured, ctx.state());
    copy_bytes(dst, there, bytes);
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

void move_strided(const Context& ctx, const FarTransfer& t, const Extent& extent) {
    if (extent.bytes == 0) return ctx.check_pe(t.pe);
    atl::detail::Measured measured = measure_move(ctx, t.put ? "put" : "get", bytes_of(t), t.pe);
    measured.set_subject(t.far);
    char* const far = near_address(ctx, t.far, extent.low, extent.bytes, t.pe);
    if (far == nullptr) return move_far(ctx, t);
    copy_to_or_from(far, t);
}

void copy_to_or_from(char* far, const FarTransfer& t) {
    ReleaseGil released(bytes_of(t) >= release_gil_bytes);
    if (t.put)
        copy_strided(far, t.far_strides, t.near, t.near_strides, t.dims, t.nd, t.item);
    else
        copy_strided(t.near, t.near_strides, far, t.far_strides, t.dims, t.nd, t.item);
}

void put_strided(const Context& ctx, const StridedTransfer& t) {
    move_strided(ctx, whole(t.far, t.near, t.near_strides, t.pe, true, true), t.extent);
}
void get_strided(const Context& ctx, const StridedTransfer& t) {
    move_strided(ctx, whole(t.far, t.near, t.near_strides, t.pe, false, true), t.extent);
}

}  // namespace atl::python
