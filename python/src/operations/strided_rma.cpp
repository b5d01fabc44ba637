// OpenSHMEM's own strided operations: iput, iget, ibput, ibget. (put and get take any NumPy view, which is
// more general.)
#include "arrays/far_moves.hpp"
#include "arrays/transfer.hpp"
#include "calls/registry.hpp"
#include "gpu/device.hpp"
#include "pool/pool.hpp"

namespace atl::python {
namespace {

Spec iput_spec, iget_spec, ibput_spec, ibget_spec;

/// `nblocks` blocks of `block` elements, `stride` elements from one block's start to the next.
struct Layout {
    Py_ssize_t stride;
    Py_ssize_t block;
    Py_ssize_t nblocks;

    Py_ssize_t span() const { return (nblocks - 1) * stride + block; }
};

void check_layout(const Spec& spec, const char* which, PyArrayObject* array, const Layout& layout) {
    const auto size = static_cast<Py_ssize_t>(size_of(array));
    if (layout.nblocks > 1 && layout.stride < layout.block)
        fail(ErrorCode::invalid_argument,
             "%s(): the stride of %s is %zd, but a block has %zd elements; it must be at least that.",
             spec.name, which, layout.stride, layout.block);
    if (layout.nblocks > size || layout.block > size || (layout.nblocks > 1 && layout.stride > size) ||
        layout.span() > size)
        fail(ErrorCode::shape_mismatch,
             "%s(): %zd blocks of %zd elements, %zd apart, reach past the %zd elements of %s.", spec.name,
             layout.nblocks, layout.block, layout.stride, size, which);
}

PyArrayObject* contiguous_arg(const Spec& spec, const char* which, PyObject* object) {
    PyArrayObject* array = array_arg(spec, which, object);
    check_dtype(spec, which, array);
    if (!c_contiguous(array))
        fail(ErrorCode::invalid_argument,
             "%s(): %s is not contiguous, and this call counts its strides in elements of memory; use "
             "put or get, which take any view.",
             spec.name, which);
    return array;
}

/// The common part; `far` is symmetric, `near` local. The arguments are dst, src, tst, sst, block, nblocks,
/// pe, ctx, team.
template <Spec& S, bool Put>
void move(PyObject* dst_object, PyObject* src_object, Layout dst_layout, Layout src_layout, int pe,
          const Context& ctx, PyObject* stream, const Adopted& adopted) {
    PyArrayObject* dst = contiguous_arg(S, "dst", dst_object);
    PyArrayObject* src = contiguous_arg(S, "src", src_object);
    if (!same_dtype(dst, src)) {
        if constexpr (Put)
            fail_dtypes(S, "dst", dst, "src", src);
        else
            fail_output_dtype(S, "src", src, "dst", dst);
    }
    if (dst_layout.block < 0 || dst_layout.nblocks < 0)
        fail(ErrorCode::invalid_argument, "%s(): counts must be at least 0 (%zd, %zd).", S.name,
             dst_layout.block, dst_layout.nblocks);
    PyArrayObject* far = Put ? dst : src;
    if (Put)
        check_readable(S, "src", src);
    else
        check_writeable(S, "dst", dst);
    const char* which = Put ? "dst" : "src";
    check_pool_block(S, which, symmetric_arg(S, which, far, Put).low, ctx, pe);
    if (dst_layout.block == 0 || dst_layout.nblocks == 0) return ctx.check_pe(pe);
    check_layout(S, "dst", dst, dst_layout);
    check_layout(S, "src", src, src_layout);
    const auto item = static_cast<npy_intp>(item_bytes(dst));
    const npy_intp dims[2] = {dst_layout.nblocks, dst_layout.block};
    const npy_intp to[2] = {dst_layout.stride * item, item};
    const npy_intp from[2] = {src_layout.stride * item, item};
    char* near = PyArray_BYTES(Put ? src : dst);
    char* data = PyArray_BYTES(far);
    const auto transfer = [&](bool near_on_host) {
        return FarTransfer{
            data, Put ? to : from, near, Put ? from : to, dims, 2, static_cast<std::size_t>(item), pe,
            Put,  near_on_host};
    };
    if (is_device_call(adopted, stream)) [[unlikely]] {
        const StreamArg on = stream_of(S, stream, adopted);
        if (!on_device(far)) fail_on_host(S, Put ? "dst" : "src", far);
        if (!on.given) finish_current(adopted);
        return move_on_device(ctx, on, transfer(!on_device(Put ? src : dst)));
    }
    const Layout& layout = Put ? dst_layout : src_layout;
    atl::detail::Measured measured =
        measure_move(ctx, Put ? "iput" : "iget", static_cast<std::size_t>(dims[0] * dims[1] * item), pe);
    measured.set_subject(data);
    if (char* remote = near_address(ctx, data, static_cast<std::size_t>(layout.span() * item), pe)) {
        ReleaseGil released(static_cast<std::size_t>(dims[0] * dims[1] * item) >= release_gil_bytes);
        copy_strided(Put ? remote : near, to, Put ? near : remote, from, dims, 2,
                     static_cast<std::size_t>(item));
        return;
    }
    move_far(ctx, transfer(true));
}

template <Spec& S, bool Put> PyObject* elements_body(const Arguments<9>& a) {
    const Context& ctx = context_of(S, a[6], a[7]);
    const Py_ssize_t n = integer(S, "nelems", a[4]);
    const Layout to{integer(S, "tst", a[2]), 1, n};
    const Layout from{integer(S, "sst", a[3]), 1, n};
    if (to.stride < 1 || from.stride < 1)
        fail(ErrorCode::invalid_argument, "%s(): tst is %zd and sst %zd; strides count elements, at least 1.",
             S.name, to.stride, from.stride);
    move<S, Put>(a[0], a[1], to, from, pe_of(S, a[5]), ctx, a[8], a.adopted);
    return none();
}

template <Spec& S, bool Put> PyObject* blocks_body(const Arguments<10>& a) {
    const Context& ctx = context_of(S, a[7], a[8]);
    const Py_ssize_t block = integer(S, "bsize", a[4]);
    const Py_ssize_t n = integer(S, "nblocks", a[5]);
    move<S, Put>(a[0], a[1], {integer(S, "tst", a[2]), block, n}, {integer(S, "sst", a[3]), block, n},
                 pe_of(S, a[6]), ctx, a[9], a.adopted);
    return none();
}

#define ATOLL_ELEMENTS                                                                                    \
    "tst: int, sst: int, nelems: int, pe: int, *, ctx: Context | None = None, team: Team | None = None, " \
    "stream: Stream = None) -> None"
#define ATOLL_BLOCKS                                                                                      \
    "tst: int, sst: int, bsize: int, nblocks: int, pe: int, *, ctx: Context | None = None, team: Team | " \
    "None = None, stream: Stream = None) -> None"

const Function strided_functions[] = {
    {"iput", entry<9, iput_spec, elements_body<iput_spec, true>>,
     "(dst: AnyArray, src: AnyArray, " ATOLL_ELEMENTS,
     R"(Copy src[i * sst] to dst[i * tst] on PE pe, for i < nelems.

Local; completed like put. put(dst[::tst], src[::sst], pe) does the same in NumPy's terms.

Parameters
----------
dst
    A contiguous symmetric array or view.
src
    A contiguous array of dst's dtype.
tst, sst
    Strides of dst and src in elements, at least 1.
nelems
    Number of elements; 0 is legal.
pe
    As for put.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_iput).)"},
    {"iget", entry<9, iget_spec, elements_body<iget_spec, false>>,
     "(dst: AnyArray, src: AnyArray, " ATOLL_ELEMENTS,
     R"(Copy src[i * sst] of PE pe to dst[i * tst], for i < nelems.

Local; the data are in dst on return. get(dst[::tst], src[::sst], pe) does the same in NumPy's
terms.

Parameters
----------
dst
    A contiguous array of src's dtype.
src
    A contiguous symmetric array or view.
tst, sst
    Strides of dst and src in elements, at least 1.
nelems
    Number of elements; 0 is legal.
pe
    As for get.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for get.

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_iget).)"},
    {"ibput", entry<10, ibput_spec, blocks_body<ibput_spec, true>>,
     "(dst: AnyArray, src: AnyArray, " ATOLL_BLOCKS,
     R"(Copy nblocks blocks of bsize elements to PE pe: block i from src[i * sst] on, to dst[i * tst] on.

Local; completed like put.

Parameters
----------
dst
    A contiguous symmetric array or view.
src
    A contiguous array of dst's dtype.
tst, sst
    Elements from one block's start to the next in dst and src, at least bsize.
bsize
    Elements of a block.
nblocks
    Number of blocks; 0 is legal.
pe
    As for put.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_ibput).)"},
    {"ibget", entry<10, ibget_spec, blocks_body<ibget_spec, false>>,
     "(dst: AnyArray, src: AnyArray, " ATOLL_BLOCKS,
     R"(Copy nblocks blocks of bsize elements from PE pe: block i from src[i * sst] on, to dst[i * tst] on.

Local; the data are in dst on return.

Parameters
----------
dst
    A contiguous array of src's dtype.
src
    A contiguous symmetric array or view.
tst, sst
    Elements from one block's start to the next in dst and src, at least bsize.
bsize
    Elements of a block.
nblocks
    Number of blocks; 0 is legal.
pe
    As for get.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for get.

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_ibget).)"},
};

}  // namespace

void register_strided(PyObject* module) { register_functions(module, strided_functions); }

}  // namespace atl::python
