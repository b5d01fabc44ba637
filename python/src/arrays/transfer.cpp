#include "arrays/transfer.hpp"

#include "gpu/far_moves.hpp"

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
    const int slot = ctx.window().counts ? ctx.map().slot(pe) : -1;
    if (slot < 0) return ctx.put_bytes(dst, src, bytes, pe, blocking);
    atl::detail::Measured measured = measure_move(ctx, blocking ? "put" : "put_nbi", bytes, pe);
    measured.set_subject(dst);
    copy_bytes(ctx.window().at(dst, slot), src, bytes);
}

void get_elsewhere(const Context& ctx, char* dst, const char* src, std::size_t bytes, int pe, bool blocking) {
    const int slot = ctx.window().counts ? ctx.map().slot(pe) : -1;
    if (slot < 0) return ctx.get_bytes(dst, src, bytes, pe, blocking);
    atl::detail::Measured measured = measure_move(ctx, blocking ? "get" : "get_nbi", bytes, pe);
    measured.set_subject(src);
    copy_bytes(dst, ctx.window().at(src, slot), bytes);
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

template <bool Put> void move_strided(const Context& ctx, const StridedTransfer& t) {
    if (t.extent.bytes == 0) return ctx.check_pe(t.pe);
    const atl::detail::Measured measured =
        measure_move(ctx, Put ? "put" : "get", size_of(t.far) * item_bytes(t.far), t.pe);
    const FarTransfer all = whole(t.far, t.near, t.near_strides, t.pe, Put, true);
    const int slot = ctx.route(t.extent.low, t.extent.bytes, t.pe);
    if (slot < 0) return move_far(ctx, all);
    char* const far = ctx.window().at(all.far, slot);
    ReleaseGil released(bytes_of(all) >= release_gil_bytes);
    if constexpr (Put)
        copy_strided(far, all.far_strides, all.near, all.near_strides, all.dims, all.nd, all.item);
    else
        copy_strided(all.near, all.near_strides, far, all.far_strides, all.dims, all.nd, all.item);
}

}  // namespace

void put_strided(const Context& ctx, const StridedTransfer& t) { move_strided<true>(ctx, t); }
void get_strided(const Context& ctx, const StridedTransfer& t) { move_strided<false>(ctx, t); }

}  // namespace atl::python
