// Data between the device heaps of PEs and local memory, for calls that block the host and for streams.
#include "device.hpp"
#include "pool.hpp"
#include "stream_cache.hpp"
#include "transfer.hpp"

#include <cstring>

namespace atl::python {
namespace {

/// Any of Context and StreamContext, which spell these alike.
template <class On>
void move_blocks(const On& on, const DeviceTransfer& t, const CopyPlan& plan, char* dst, const char* src) {
    const auto one = [&](npy_intp d, npy_intp s) {
        if (t.put)
            on.put_bytes(dst + d, src + s, plan.block, t.pe);
        else
            on.get_bytes(dst + d, src + s, plan.block, t.pe);
    };
    if (plan.n == 0) return one(0, 0);
    // The innermost axis is one call where both strides go forward; where both go back, from its other end.
    CopyPlan outer = plan;
    Axis inner = outer.axes[--outer.n];
    if (inner.dst < 0 && inner.src < 0) {
        dst += inner.dst * (inner.dim - 1);
        src += inner.src * (inner.dim - 1);
        inner.dst = -inner.dst;
        inner.src = -inner.src;
    } else if (inner.dst <= 0 || inner.src <= 0) {
        return for_each_block(plan, one);
    }
    const auto n = static_cast<std::size_t>(inner.dim);
    for_each_block(outer, [&](npy_intp d, npy_intp s) {
        auto* to = reinterpret_cast<unsigned char*>(dst + d);
        const auto* from = reinterpret_cast<const unsigned char*>(src + s);
        if (t.put)
            on.ibput(to, from, inner.dst, inner.src, plan.block, n, t.pe);
        else
            on.ibget(to, from, inner.dst, inner.src, plan.block, n, t.pe);
    });
}

template <class On> void move_all(const On& on, const DeviceTransfer& t) {
    const CopyPlan plan = t.put ? plan_copy(t.far_strides, t.near_strides, t.dims, t.nd, t.item)
                                : plan_copy(t.near_strides, t.far_strides, t.dims, t.nd, t.item);
    if (t.put)
        move_blocks(on, t, plan, t.far, t.near);
    else
        move_blocks(on, t, plan, t.near, t.far);
}

/// A whole array; `near` is that of the other side, of the same shape.
DeviceTransfer whole(PyArrayObject* far, PyArrayObject* near, const Strides& near_strides, int pe, bool put) {
    return {PyArray_BYTES(far),
            PyArray_STRIDES(far),
            PyArray_BYTES(near),
            near_strides.of,
            PyArray_DIMS(far),
            PyArray_NDIM(far),
            item_bytes(far),
            pe,
            put};
}

}  // namespace

void move_on_device(const Context& ctx, StreamArg stream, const DeviceTransfer& t) {
    std::size_t bytes = t.item;
    for (int i = 0; i < t.nd; ++i) bytes *= static_cast<std::size_t>(t.dims[i]);
    if (bytes == 0) return ctx.check_pe(t.pe);
    if (stream.given) return move_all(stream_context(ctx, stream), t);
    ReleaseGil released(bytes >= release_gil_bytes);
    move_all(ctx, t);
}

Ref device_source(const Spec& spec, PyArrayObject* dst, PyObject* src, StreamArg stream) {
    if (is_array(src) && on_device(as_array(src))) {
        PyArrayObject* array = as_array(src);
        check_readable(spec, "src", array);
        if (!same_dtype(dst, array)) fail_dtypes(spec, "dst", dst, "src", array);
        if (!same_shape(dst, array)) fail_shapes(spec, "dst", dst, "src", array);
        return Ref::borrow(src);
    }
    Ref made;
    const bool is_number = src != nullptr && is_scalar(src);
    if (is_number) {
        made = Ref(PyArray_NewLikeArray(dst, NPY_CORDER, nullptr, 0));
        const std::size_t item = item_bytes(dst);
        const std::size_t n = size_of(dst);
        char* out = PyArray_BYTES(made.array());
        if (n != 0) write_element({spec, "src", reinterpret_cast<PyObject*>(PyArray_DESCR(dst))}, src, out);
        for (std::size_t i = 1; i < n; ++i) std::memcpy(out + i * item, out, item);
    } else if (is_array(src)) {
        made = Ref::borrow(src);
        check_readable(spec, "src", made.array());
        check_dtype(spec, "src", made.array());
        if (!same_dtype(dst, made.array())) fail_dtypes(spec, "dst", dst, "src", made.array());
    } else {
        made = source_like(spec, "src", src, "dst", dst);
    }
    if (!same_shape(dst, made.array())) fail_shapes(spec, "dst", dst, "src", made.array());
    if (stream.given && made.get() != src)
        fail(ErrorCode::unsupported,
             "%s(): on a stream, src must be an array that stays until the stream comes to it, in memory of "
             "the "
             "GPU or pinned; one number is put by p(x, value, pe, stream=...).",
             spec.name);
    return made;
}

void put_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src, int pe,
                   StreamArg stream, const Adopted& adopted) {
    if (stream.given && !on_device(dst)) fail_on_host(spec, "dst", dst);
    const Extent extent = symmetric_arg(spec, "dst", dst, true);
    check_place(spec, "dst", extent.low, ctx, pe);
    const Ref source = device_source(spec, dst, src, stream);
    if (!stream.given) finish_current(adopted);
    if (stream.given && c_contiguous(dst) && c_contiguous(source.array()))
        return stream_context(ctx, stream)
            .put_bytes(extent.low, PyArray_BYTES(source.array()), extent.bytes, pe);
    move_on_device(ctx, stream, whole(dst, source.array(), strides_as(source.array(), dst), pe, true));
}

void get_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyArrayObject* src, int pe,
                   StreamArg stream, const Adopted& adopted) {
    if (stream.given && !on_device(src)) fail_on_host(spec, "src", src);
    check_writeable(spec, "dst", dst);
    check_place(spec, "src", symmetric_arg(spec, "src", src, false).low, ctx, pe);
    if (!same_dtype(src, dst)) fail_output_dtype(spec, "src", src, "dst", dst);
    if (!same_shape(dst, src)) fail_shapes(spec, "dst", dst, "src", src);
    if (!stream.given) finish_current(adopted);
    move_on_device(ctx, stream, whole(src, dst, strides_as(dst, src), pe, false));
}

void store_on_stream(const Spec& spec, const Context& ctx, StreamArg stream, char* dst, const char* element,
                     std::size_t bytes, int pe) {
    const StreamContext& on = stream_context(ctx, stream);
    const auto store = [&]<class T>(T value) {
        std::memcpy(&value, element, sizeof(T));
        on.p(reinterpret_cast<T*>(dst), value, pe);
    };
    if (bytes == 1) return store(std::uint8_t{});
    if (bytes == 2) return store(std::uint16_t{});
    if (bytes == 4) return store(std::uint32_t{});
    if (bytes == 8) return store(std::uint64_t{});
    fail(ErrorCode::dtype_mismatch, "%s(): on a stream, elements have 1, 2, 4 or 8 bytes, not %zu; use put.",
         spec.name, bytes);
}

Ref contents_of(PyArrayObject* header) {
    static const Spec spec{"DeviceArray.numpy"};
    const Context& ctx = context_of(spec, nullptr, nullptr);
    const Block* block = block_of(header);
    if (block != nullptr && is_gone(block)) fail_gone(spec, "the array", block);
    if (block == nullptr || block->device < 0)  // pinned memory of the host
        return Ref(PyArray_NewCopy(header, NPY_CORDER));
    PyArray_Descr* descr = PyArray_DESCR(header);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    Ref made(PyArray_NewFromDescr(g.ndarray, descr, PyArray_NDIM(header), PyArray_DIMS(header), nullptr,
                                  nullptr, 0, nullptr));
    if (size_of(header) == 0) return made;
    const CopyPlan plan = plan_copy(PyArray_STRIDES(made.array()), PyArray_STRIDES(header),
                                    PyArray_DIMS(header), PyArray_NDIM(header), item_bytes(header));
    char* out = PyArray_BYTES(made.array());
    for_each_block(plan, [&](npy_intp to, npy_intp from) {
        char* address = PyArray_BYTES(header) + from;
        if (g.job->is_symmetric(address, 1))
            return ctx.get_bytes(out + to, address, plan.block, g.job->my_pe());
        // Another PE's copy, in the window: its slots are the PEs of `shared`, in order.
        const Team& shared = g.job->shared();
        const device::Team team = shared.device(Memory::device);
        const auto slot = static_cast<int>((address - team.window) / team.stride);
        ctx.get_bytes(out + to, address + (team.my_slot - slot) * team.stride, plan.block,
                      shared.world_pe(slot));
    });
    return made;
}

void fail_on_host(const Spec& spec, const char* which, PyArrayObject* array) {
    fail(
        ErrorCode::not_symmetric,
        "%s(): %s (dtype %S) is in memory of the host; on a stream, and beside an array of a GPU, it must be "
        "on this PE's GPU: allocate it with atoll.zeros(..., device=\"cuda\").",
        spec.name, which, reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
}

}  // namespace atl::python
