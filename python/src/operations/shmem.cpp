// The one-sided copies of atoll.shmem. shmem4py's functions have the names put, get and put_signal but count
// elements in memory order, for any shapes. They need separate entries; the rest of atoll.shmem is written in
// Python.
#include "arrays/transfer.hpp"
#include "calls/registry.hpp"

#include <algorithm>

namespace atl::python {
namespace {

Spec put_spec, put_nbi_spec, get_spec, get_nbi_spec, put_signal_spec, put_signal_nbi_spec, barrier_spec,
    sync_spec;

/// The context of a shmem.Ctx; empty for the default one.
Ref handle_of(const Spec& spec, PyObject* ctx) {
    static PyObject* const name = PyUnicode_InternFromString("ob_ctx");
    PyObject* handle = PyObject_GetAttr(ctx, name);
    if (handle != nullptr) return Ref(handle);
    PyErr_Format(PyExc_TypeError, "%s(): ctx is %R; pass a shmem.Ctx, or None for the default context.",
                 spec.name, ctx);
    throw Raised{};
}

/// Calls `f(context)` with the context of a call.
template <class F> PyObject* with_context(const Spec& spec, PyObject* ctx, F&& f) {
    if (!given(ctx)) [[likely]]
        return f(context_of(spec, nullptr, nullptr));
    const Ref handle = handle_of(spec, ctx);
    return f(context_of(spec, handle.get(), nullptr));
}

[[noreturn, gnu::cold]] void fail_layout(const Spec& spec, const char* which) {
    fail(ErrorCode::invalid_argument,
         "%s(): %s is not contiguous; pass an array with adjacent elements (atoll.put and "
         "atoll.get "
         "take any view).",
         spec.name, which);
}

[[noreturn, gnu::cold]] void fail_size(const Spec& spec, PyObject* size, std::size_t target,
                                       std::size_t source) {
    fail(ErrorCode::shape_mismatch,
         "%s(): size is %R, but target has %zu elements and source %zu; pass at least 0 and at most the "
         "smaller.",
         spec.name, size, target, source);
}

PyArrayObject* contiguous_arg(const Spec& spec, const char* which, PyObject* object) {
    PyArrayObject* array = array_arg(spec, which, object);
    if (!(PyArray_FLAGS(array) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS))) [[unlikely]]
        fail_layout(spec, which);
    check_dtype(spec, which, array);
    return array;
}

/// The target and source of a call, and the number of bytes to move.
struct Moved {
    PyArrayObject* target;
    PyArrayObject* source;
    std::size_t bytes;

    Moved(const Spec& spec, PyObject* target_object, PyObject* source_object, PyObject* size,
          bool gets = false)
        : target(contiguous_arg(spec, "target", target_object)),
          source(contiguous_arg(spec, "source", source_object)) {
        if (!same_dtype(target, source)) [[unlikely]] {
            if (gets) fail_output_dtype(spec, "source", source, "target", target);
            fail_dtypes(spec, "target", target, "source", source);
        }
        check_writeable(spec, "target", target);
        check_readable(spec, "source", source);
        const std::size_t most = std::min(size_of(target), size_of(source));
        std::size_t count = most;
        if (given(size)) {
            count =
                static_cast<std::size_t>(small_integer(spec, "size", size));  // negative ones become large
            if (count > most) [[unlikely]]
                fail_size(spec, size, size_of(target), size_of(source));
        }
        bytes = count * item_bytes(target);
    }
};

/// (target, source, pe, size, ctx)
template <Spec& S, bool Blocking> PyObject* put_body(const Arguments<5>& a) {
    return with_context(S, a[4], [&](const Context& ctx) {
        const Moved m(S, a[0], a[1], a[3]);
        const int pe = pe_of(S, a[2]);
        check_symmetric(S, "target", m.target, PyArray_BYTES(m.target), m.bytes);
        put_contiguous(ctx, PyArray_BYTES(m.target), PyArray_BYTES(m.source), m.bytes, pe, Blocking);
        return none();
    });
}

template <Spec& S, bool Blocking> PyObject* get_body(const Arguments<5>& a) {
    return with_context(S, a[4], [&](const Context& ctx) {
        const Moved m(S, a[0], a[1], a[3], true);
        const int pe = pe_of(S, a[2]);
        check_symmetric(S, "source", m.source, PyArray_BYTES(m.source), m.bytes);
        get_contiguous(ctx, PyArray_BYTES(m.target), PyArray_BYTES(m.source), m.bytes, pe, Blocking);
        return none();
    });
}

std::uint64_t* signal_word(const Spec& spec, PyObject* signal) {
    PyArrayObject* array = array_arg(spec, "signal", signal);
    const DTypeRow& row = row_of(array);
    if (!row.known || row.type != DType::uint64)
        fail(ErrorCode::dtype_mismatch, "%s(): signal has dtype %S; pass what shmem.new_signal() returned.",
             spec.name, reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
    return reinterpret_cast<std::uint64_t*>(symmetric_element(spec, "signal", array, Py_None, true));
}

SignalOp operation_of(const Spec& spec, PyObject* sigop) {
    const Py_ssize_t value = integer(spec, "sigop", sigop);
    if (value != 0 && value != 1)
        fail(ErrorCode::invalid_argument, "%s(): sigop is %R; pass shmem.SIGNAL_SET or shmem.SIGNAL_ADD.",
             spec.name, sigop);
    return value == 0 ? SignalOp::set : SignalOp::add;
}

/// Converts integers of any kind and width, NumPy's too.
std::uint64_t signal_value(const Spec& spec, PyObject* signal, PyObject* value) {
    const Ref number =
        PyLong_CheckExact(value) || !PyIndex_Check(value) ? Ref::borrow(value) : Ref(PyNumber_Index(value));
    return value_as<std::uint64_t>(
        {spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(signal)))}, number.get());
}

/// (target, source, pe, signal, value, sigop, size, ctx)
template <Spec& S> PyObject* put_signal_body(const Arguments<8>& a) {
    return with_context(S, a[7], [&](const Context& ctx) {
        const Moved m(S, a[0], a[1], a[6]);
        const int pe = pe_of(S, a[2]);
        check_symmetric(S, "target", m.target, PyArray_BYTES(m.target), m.bytes);
        std::uint64_t* word = signal_word(S, a[3]);
        const std::uint64_t value = signal_value(S, a[3], a[4]);
        const SignalOp op = operation_of(S, a[5]);
        ReleaseGil released(m.bytes >= release_gil_bytes);
        ctx.put_signal_bytes<&S == &put_signal_spec>(PyArray_BYTES(m.target), PyArray_BYTES(m.source),
                                                     m.bytes, word, value, op, pe);
        return none();
    });
}

#define ATOLL_MOVE \
    "(target: Array, source: Array, pe: int, size: int | None = None, ctx: Ctx | None = None) -> None"
#define ATOLL_PUT_SIGNAL                                                                                 \
    "(target: Array, source: Array, pe: int, signal: Array, value: int, sigop: int, size: int | None = " \
    "None, ctx: Ctx | None = None) -> None"
#define ATOLL_RAISES                                                                 \
    "Raises\n------\n"                                                               \
    "DtypeMismatch, NotSymmetric, PeError, UseAfterFree, NotInitialized\n"           \
    "ShapeMismatch\n    size is larger than an array.\n"                             \
    "InvalidArgument\n    An array is not contiguous, or a target is read-only.\n\n" \
    "Notes\n-----\n"

PyObject* barrier_body(const Arguments<0>&) {
    team_of(barrier_spec, nullptr).barrier();
    return none();
}
PyObject* sync_body(const Arguments<0>&) {
    team_of(sync_spec, nullptr).sync();
    return none();
}

const Function shmem_functions[] = {
    {"shmem.barrier_all", entry<0, barrier_spec, barrier_body>, "() -> None",
     R"(Wait until all PEs have called it, and all their earlier puts are complete and visible.

Collective over all PEs.

Raises
------
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

Notes
-----
Source: OpenSHMEM 1.6, section 9.11.)"},
    {"shmem.sync_all", entry<0, sync_spec, sync_body>, "() -> None",
     R"(Wait until all PEs have called it; completes no puts.

Collective over all PEs. Each PE's plain stores before it are visible to all PEs after it.

Raises
------
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.
PeDied, Timeout

Notes
-----
Source: OpenSHMEM 1.6, section 9.11.)"},
    {"shmem.put", entry<5, put_spec, put_body<put_spec, true>>, ATOLL_MOVE,
     R"(Copy the first elements of source into target on PE pe.

Local, not collective. On return source may be changed. The data are in the target after quiet or
barrier_all; fence orders puts to one PE. Shapes are ignored: elements are copied in memory order.

Parameters
----------
target
    A contiguous symmetric array, C or Fortran. The data go to the same place in PE pe's copy.
source
    A contiguous array of target's dtype, symmetric or not.
pe
    Number of the target PE.
size
    The number of elements; None: that of the smaller array.
ctx
    A shmem.Ctx, whose team numbers the PEs; None: the default context.

)" ATOLL_RAISES "Source: OpenSHMEM 1.6, section 9.5 (shmem_put)."},
    {"shmem.put_nbi", entry<5, put_nbi_spec, put_body<put_nbi_spec, false>>, ATOLL_MOVE,
     R"(Like put, but source must not be changed before quiet. Local.

Parameters
----------
target, source, pe, size, ctx
    As for put.

Notes
-----
Raises the errors of put. Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).)"},
    {"shmem.get", entry<5, get_spec, get_body<get_spec, true>>, ATOLL_MOVE,
     R"(Copy the first elements of source on PE pe into the local array target.

Local, not collective. The data are in target on return. The call does not make PE pe's own writes
visible: order the two by a barrier, a signal or an atomic. Shapes are ignored: elements are copied
in memory order.

Parameters
----------
target
    A contiguous writeable array, C or Fortran, symmetric or not.
source
    A contiguous symmetric array of target's dtype. The data come from the same place in PE pe's
    copy.
pe
    Number of the PE to read from.
size
    The number of elements; None: that of the smaller array.
ctx
    A shmem.Ctx, whose team numbers the PEs; None: the default context.

)" ATOLL_RAISES "Source: OpenSHMEM 1.6, section 9.5 (shmem_get)."},
    {"shmem.get_nbi", entry<5, get_nbi_spec, get_body<get_nbi_spec, false>>, ATOLL_MOVE,
     R"(Like get, but the data are in target only after quiet. Local.

Parameters
----------
target, source, pe, size, ctx
    As for get.

Notes
-----
Raises the errors of get. Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).)"},
    {"shmem.put_signal", entry<8, put_signal_spec, put_signal_body<put_signal_spec>>, ATOLL_PUT_SIGNAL,
     R"(Copy like put, then set or increase a signal on PE pe.

Local. On return source may be changed. A PE that sees the signal (signal_wait_until, signal_fetch)
sees this call's data, and no other.

Parameters
----------
target, source, pe, size, ctx
    As for put.
signal
    A result of new_signal.
value
    0 to 2**64 - 1.
sigop
    SIGNAL_SET or SIGNAL_ADD; sums wrap.

)" ATOLL_RAISES "Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal)."},
    {"shmem.put_signal_nbi", entry<8, put_signal_nbi_spec, put_signal_body<put_signal_nbi_spec>>,
     ATOLL_PUT_SIGNAL,
     R"(Like put_signal, but source must not be changed before quiet. Local.

Parameters
----------
target, source, pe, signal, value, sigop, size, ctx
    As for put_signal.

Notes
-----
Raises the errors of put_signal. Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).)"},
};

}  // namespace

void register_shmem(PyObject* module) { register_functions(module, shmem_functions); }

}  // namespace atl::python
