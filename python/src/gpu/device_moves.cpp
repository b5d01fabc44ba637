// Copies between the device heaps of PEs and local memory, for calls that block the host and for streams.
#include "arrays/far_moves.hpp"
#include "gpu/device.hpp"
#include "gpu/stream_cache.hpp"
#include "pool/pool.hpp"

#include <cstring>

namespace atl::python {
void move_on_device(const Context& ctx, StreamArg stream, const FarTransfer& t) {
    if (!stream.given) return move_far(ctx, t);
    if (bytes_of(t) == 0) return ctx.check_pe(t.pe);
    move_on_stream(stream_context(ctx, stream), t);
}

void move_whole_on_device(const Context& ctx, StreamArg stream, PyArrayObject* far, PyArrayObject* near,
                          int pe, bool put) {
    const Strides strides = strides_as(near, far);
    move_on_device(ctx, stream, whole(far, PyArray_BYTES(near), strides.of, pe, put, !on_device(near)));
}

namespace {

/// One element with strides of 0, in the shape of `dst`.
Ref repeated(const Spec& spec, PyObject* number, PyArrayObject* dst) {
    auto* descr = reinterpret_cast<PyObject*>(PyArray_DESCR(dst));
    Py_INCREF(descr);
    Ref one(PyArray_SimpleNewFromDescr(0, nullptr, reinterpret_cast<PyArray_Descr*>(descr)));
    write_element({spec, "src", descr}, number, PyArray_BYTES(one.array()));
    const Strides still{};
    Py_INCREF(descr);
    Ref all(PyArray_NewFromDescr(g.ndarray, reinterpret_cast<PyArray_Descr*>(descr), PyArray_NDIM(dst),
                                 PyArray_DIMS(dst), still.of, PyArray_BYTES(one.array()), 0, nullptr));
    if (PyArray_SetBaseObject(all.array(), one.release()) < 0) throw Raised{};
    return all;
}

}  // namespace

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
        made = repeated(spec, src, dst);
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
             "the GPU or pinned. One number is put by p(x, value, pe, stream=...).",
             spec.name);
    return made;
}

void put_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src, int pe,
                   StreamArg stream, const Adopted& adopted) {
    if (stream.given && !on_device(dst)) fail_on_host(spec, "dst", dst);
    const Extent extent = symmetric_arg(spec, "dst", dst, true);
    check_pool_block(spec, "dst", extent.low, ctx, pe);
    const Ref source = device_source(spec, dst, src, stream);
    if (!stream.given) finish_current(adopted);
    if (stream.given && c_contiguous(dst) && c_contiguous(source.array()))
        return stream_context(ctx, stream)
            .put_bytes(extent.low, PyArray_BYTES(source.array()), extent.bytes, pe);
    move_whole_on_device(ctx, stream, dst, source.array(), pe, true);
}

void get_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyArrayObject* src, int pe,
                   StreamArg stream, const Adopted& adopted) {
    if (stream.given && !on_device(src)) fail_on_host(spec, "src", src);
    check_writeable(spec, "dst", dst);
    check_pool_block(spec, "src", symmetric_arg(spec, "src", src, false).low, ctx, pe);
    if (!same_dtype(src, dst)) fail_output_dtype(spec, "src", src, "dst", dst);
    if (!same_shape(dst, src)) fail_shapes(spec, "dst", dst, "src", src);
    if (!stream.given) finish_current(adopted);
    move_whole_on_device(ctx, stream, src, dst, pe, false);
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
    if (block != nullptr && is_unmapped(block)) fail_unmapped(spec, "the array", block);
    if (block == nullptr || block->device < 0)  // pinned memory of the host
        return Ref(PyArray_NewCopy(header, NPY_CORDER));
    PyArray_Descr* descr = PyArray_DESCR(header);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    Ref made(PyArray_NewFromDescr(g.ndarray, descr, PyArray_NDIM(header), PyArray_DIMS(header), nullptr,
                                  nullptr, 0, nullptr));
    if (size_of(header) == 0) return made;
    move_in_window(ctx, whole(header, PyArray_BYTES(made.array()), PyArray_STRIDES(made.array()),
                              g.job->my_pe(), false, true));
    return made;
}

void fail_on_host(const Spec& spec, const char* which, PyArrayObject* array) {
    fail(ErrorCode::not_symmetric,
         "%s(): %s (dtype %S) is in memory of the host. On a stream, and beside an array of a GPU, it must "
         "be on this PE's GPU: allocate it with atoll.zeros(..., device=\"cuda\").",
         spec.name, which, reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
}

}  // namespace atl::python
