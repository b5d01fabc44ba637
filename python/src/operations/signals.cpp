// Signals: words of uint64 that a put sets or increases once its data have arrived.
#include "arrays/far_moves.hpp"
#include "calls/enums.hpp"
#include "calls/registry.hpp"
#include "core/context/update_notes.hpp"
#include "core/team/context_state.hpp"
#include "gpu/stream_cache.hpp"
#include "operations/notes.hpp"
#include "operations/signal_puts.hpp"
#include "pool/pool.hpp"

#include <cstring>

namespace atl::python {
namespace {

Spec put_signal_spec, put_signal_nbi_spec, set_spec, add_spec, fetch_spec, wait_spec, consume_spec;

std::uint64_t value_of(const Spec& spec, PyObject* sig, PyObject* value) {
    return value_as<std::uint64_t>({spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(as_array(sig)))},
                                   value);
}

/// put_signal for dst on a GPU.
void put_signal_on_device(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src,
                          const SignalUpdate& s, StreamArg stream, const Adopted& adopted) {
    if (stream.given && !on_device(dst)) fail_on_host(spec, "dst", dst);
    const Extent extent = symmetric_arg(spec, "dst", dst, true);
    check_pool_block(spec, "dst", extent.low, ctx, s.pe);
    const Ref source = device_source(spec, dst, src, stream);
    if (!stream.given) finish_current(adopted);
    if (!c_contiguous(dst) || !c_contiguous(source.array())) {
        move_whole_on_device(ctx, stream, dst, source.array(), s.pe, true);
        if (stream.given)
            stream_context(ctx, stream).put_signal_bytes(s.word, s.word, 0, s.word, s.value, s.op, s.pe);
        else
            ctx.put_signal_bytes(nullptr, nullptr, 0, s.word, s.value, s.op, s.pe);
        return;
    }
    const char* from = PyArray_BYTES(source.array());
    if (stream.given)
        stream_context(ctx, stream)
            .put_signal_bytes(extent.low, from, extent.bytes, s.word, s.value, s.op, s.pe);
    else
        ctx.put_signal_bytes(extent.low, from, extent.bytes, s.word, s.value, s.op, s.pe);
}

/// Reports a PE that was passed in the position of the operation.
[[noreturn, gnu::cold]] void fail_without_pe(const Spec& spec, PyObject* op) {
    if (op != nullptr && !PyUnicode_Check(op) && PyIndex_Check(op))
        PyErr_Format(PyExc_TypeError,
                     "%s() misses the argument 'pe', and op is %R; pass pe=%R, or an operation before it.",
                     spec.name, op, op);
    else
        PyErr_Format(PyExc_TypeError,
                     "%s() misses the argument 'pe'; pass the number of the target PE as pe=.", spec.name);
    throw Raised{};
}

/// (dst, src, sig, value, op, pe, index, ctx, team, stream)
template <Spec& S> PyObject* put_signal_body(const Arguments<10>& a) {
    constexpr bool blocking = &S == &put_signal_spec;
    const Context& ctx = context_of(S, a[7], a[8]);
    PyArrayObject* dst = array_arg(S, "dst", a[0]);
    if (!given(a[5])) [[unlikely]]
        fail_without_pe(S, a[4]);
    const int pe = pe_of(S, a[5]);
    std::uint64_t* word = signal_word(S, a[2], a[6]);
    check_pool_block(S, "sig", word, ctx, pe);
    const std::uint64_t value = value_of(S, a[2], a[3]);
    const SignalOp op = a[4] == nullptr ? SignalOp::set : signal_op_of(S, a[4]);
    if (is_device_call(a.adopted, a[9]) && (given(a[9]) || on_device(dst) || is_array(a[1]))) [[unlikely]] {
        if (given(a[9]) || on_device(dst) || on_device(as_array(a[1]))) {
            put_signal_on_device(S, ctx, dst, a[1], {word, value, op, pe}, stream_of(S, a[9], a.adopted),
                                 a.adopted);
            return none();
        }
    }
    const Extent extent = symmetric_arg(S, "dst", dst, true);
    Ref made;
    PyArrayObject* src = nullptr;
    if (is_array(a[1]) && PyArray_NDIM(as_array(a[1])) > 0) {
        src = as_array(a[1]);
        check_readable(S, "src", src);
        if (!same_dtype(dst, src)) fail_dtypes(S, "dst", dst, "src", src);
    } else if (given(a[1]) && is_scalar(a[1])) {
        // A number fills dst: it is sent as a contiguous array of dst's shape.
        made = Ref(PyArray_NewLikeArray(dst, NPY_CORDER, nullptr, 0));
        char element[64];
        if (item_bytes(dst) > sizeof element) fail_not_array(S, "src", a[1]);
        write_element({S, "src", reinterpret_cast<PyObject*>(PyArray_DESCR(dst))}, a[1], element);
        char* out = PyArray_BYTES(made.array());
        for (std::size_t i = 0; i < size_of(dst); ++i)
            std::memcpy(out + i * item_bytes(dst), element, item_bytes(dst));
        src = made.array();
    } else {
        made = source_like(S, "src", a[1], "dst", dst);
        src = made.array();
    }
    if (!same_shape(dst, src)) fail_shapes(S, "dst", dst, "src", src);
    put_with_signal<blocking>(ctx, dst, extent, src, {word, value, op, pe});
    return none();
}

template <Spec& S, bool Set> PyObject* update_body(const Arguments<7>& a) {
    const Context& ctx = context_of(S, a[4], a[5]);
    const int pe = pe_of(S, a[2]);
    std::uint64_t* word = signal_word(S, a[0], a[3]);
    check_pool_block(S, "sig", word, ctx, pe);
    const std::uint64_t value = value_of(S, a[0], a[1]);
    if (given(a[6])) [[unlikely]] {  // not noted: the stream may never come so far
        stream_context(ctx, stream_of(S, a[6], a.adopted))
            .put_signal_bytes(word, word, 0, word, value, Set ? SignalOp::set : SignalOp::add, pe);
        return none();
    }
    if constexpr (Set)
        ctx.signal_set(word, value, pe);
    else
        ctx.signal_add(word, value, pe);
    core::note_signal(ctx.state(), word, value, !Set, pe);
    return none();
}

PyObject* fetch_body(const Arguments<2>& a) {
    const Context& ctx = context_of(fetch_spec, nullptr, nullptr);
    const std::uint64_t* const word = signal_word(fetch_spec, a[0], a[1]);
    const std::uint64_t found = ctx.signal_fetch(word);
    note_poll(ctx, "a loop of signal_fetch", word, found, ctx.my_pe());
    return PyLong_FromUnsignedLongLong(found);
}

PyObject* wait_body(const Arguments<6>& a) {
    const Context& ctx = context_of(wait_spec, nullptr, nullptr);
    const std::uint64_t* word = signal_word(wait_spec, a[0], a[4]);
    const Compare cmp = compare_of(wait_spec, a[1]);
    const std::uint64_t value = value_of(wait_spec, a[0], a[2]);
    if (given(a[5])) [[unlikely]] {
        if (given(a[3]))
            fail(ErrorCode::unsupported,
                 "signal_wait_until(): a wait on a stream has no timeout of its own; "
                 "ATOLL_WAIT_TIMEOUT bounds it.");
        stream_context(ctx, stream_of(wait_spec, a[5], a.adopted)).signal_wait_until(word, cmp, value);
        return none();
    }
    return PyLong_FromUnsignedLongLong(ctx.signal_wait_until(word, cmp, value, timeout_of(wait_spec, a[3])));
}

/// (sig, n, index, stream)
PyObject* consume_body(const Arguments<4>& a) {
    const Context& ctx = context_of(consume_spec, nullptr, nullptr);
    std::uint64_t* word = signal_word(consume_spec, a[0], a[2]);
    const std::uint64_t n = value_of(consume_spec, a[0], a[1]);
    if (given(a[3])) {
        stream_context(ctx, stream_of(consume_spec, a[3], a.adopted)).signal_consume(word, n);
    } else {
        atl::detail::Measured measured(ctx.job(), ctx.window().counts, atl::detail::Measured::Kind::wait,
                                       "signal_consume");
        measured.set_subject(word, n);
        ctx.signal_wait_until(word, Compare::ge, n);
        ctx.signal_add(word, ~n + 1, ctx.my_pe());  // modulo 2**64
    }
    return none();
}

#define ATOLL_PUT_SIGNAL_TAIL                                                                              \
    "index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, stream: Stream = " \
    "None) -> None"
#define ATOLL_PUT_SIGNAL_HEAD "(dst: AnyArray, src: AnySource, sig: AnyArray, value: int, "
#define ATOLL_PUT_SIGNAL                                                                               \
    ATOLL_PUT_SIGNAL_HEAD                                                                              \
    "op: SignalName = 'set', pe: int | None = None, " ATOLL_PUT_SIGNAL_TAIL "\n" ATOLL_PUT_SIGNAL_HEAD \
    "op: SignalName, pe: int, " ATOLL_PUT_SIGNAL_TAIL "\n" ATOLL_PUT_SIGNAL_HEAD                       \
    "op: SignalName = 'set', *, pe: int, index: int | None = None, ctx: Context | None = None, "       \
    "team: Team | None = None, stream: Stream = None) -> None"
#define ATOLL_UPDATE                                                                                       \
    "(sig: AnyArray, value: int, pe: int, index: int | None = None, *, ctx: Context | None = None, team: " \
    "Team "                                                                                                \
    "| None = None, stream: Stream = None) -> None"

const Function signals_functions[] = {
    {"put_signal", entry<10, put_signal_spec, put_signal_body<put_signal_spec>>, ATOLL_PUT_SIGNAL,
     R"(Copy src into dst on PE pe, then set or increase a signal there.

Local. On return src may be changed. A PE that sees the signal (signal_wait_until, signal_fetch)
sees the data of this call. Earlier puts may come later. If dst has no elements, only the signal
is sent.

Parameters
----------
dst, src, pe
    As for put.
sig
    Symmetric words of uint64 (atoll.signal()).
value
    0 to 2**64 - 1.
op
    "set" or "add", or atoll.SIGNAL_SET, atoll.SIGNAL_ADD. Sums wrap. If it is left out, it is
    "set", and pe is passed as pe=.
index
    The word of sig on PE pe that is the signal. It may be left out if there is one word.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.

See Also
--------
put : without a signal
signal_wait_until : the wait of the target

Notes
-----
Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal).

Examples
--------
>>> atoll.put_signal(x, data, sig, 1, pe=right)
>>> atoll.signal_wait_until(sig, ">=", 1)  # the left PE's data is in x
1)"},
    {"put_signal_nbi", entry<10, put_signal_nbi_spec, put_signal_body<put_signal_nbi_spec>>, ATOLL_PUT_SIGNAL,
     R"(Like put_signal, but src must not be changed before quiet(). Local.

Parameters
----------
dst, src, sig, value, op, pe, index
    As for put_signal.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.

Notes
-----
Source: OpenSHMEM 1.6, section 9.8 (shmem_put_signal_nbi).)"},
    {"signal_set", entry<7, set_spec, update_body<set_spec, true>>, ATOLL_UPDATE,
     R"(Set signal word number `index` of sig on PE pe to value.

Local. It is not ordered after puts: call fence() first, or use put_signal.

Parameters
----------
sig
    Symmetric words of uint64.
value
    0 to 2**64 - 1.
pe
    The PE of the word; within `team`, or the context's team, if given.
index
    The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

Raises
------
DtypeMismatch, NotSymmetric, PeError, IndexError, ShapeMismatch, UseAfterFree

Notes
-----
Source: OpenSHMEM 1.6, section 9.8.)"},
    {"signal_add", entry<7, add_spec, update_body<add_spec, false>>, ATOLL_UPDATE,
     R"(Add value to signal word number `index` of sig on PE pe, atomically.

Local. It is not ordered after puts: call fence() first, or use put_signal.

Parameters
----------
sig
    Symmetric words of uint64.
value
    0 to 2**64 - 1. Sums wrap.
pe
    The PE of the word; within `team`, or the context's team, if given.
index
    The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

Raises
------
DtypeMismatch, NotSymmetric, PeError, IndexError, ShapeMismatch, UseAfterFree

Notes
-----
Source: OpenSHMEM 1.6, section 9.8.)"},
    {"signal_fetch", entry<2, fetch_spec, fetch_body>, "(sig: AnyArray, index: int | None = None) -> int",
     R"(Return this PE's own signal word number `index` of sig.

Local. Acquires: data that the signalling PE put by put_signal are visible.

Parameters
----------
sig
    Symmetric words of uint64.
index
    The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

Returns
-------
int
    0 to 2**64 - 1.

Raises
------
DtypeMismatch, NotSymmetric, IndexError, ShapeMismatch, UseAfterFree

Notes
-----
Source: OpenSHMEM 1.6, section 9.8 (shmem_signal_fetch).)"},
    {"signal_wait_until", entry<6, wait_spec, wait_body>,
     "(sig: AnyArray, cmp: CompareName, value: int, timeout: float | None = None, index: int | None = None, "
     "stream: Stream = None) -> int | None\n"
     "(sig: AnyArray, cmp: CompareName, value: int, timeout: float | None = None, index: int | None = None, "
     "stream: None = None) -> int\n"
     "(sig: AnyArray, cmp: CompareName, value: int, timeout: None = None, index: int | None = None, *, "
     "stream: GivenStream) -> None",
     R"(Wait until `sig[index] cmp value` is true on this PE; return the value found.

Acquires: data that the signalling PE put by put_signal are visible. Other threads run meanwhile,
and Ctrl-C interrupts the wait.

Parameters
----------
sig
    Symmetric words of uint64.
cmp
    "==", "!=", ">", ">=", "<" or "<=" (or atoll.EQ and so on).
value
    0 to 2**64 - 1.
timeout
    Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.
index
    The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

Returns
-------
value
    The value found. On a stream None: the stream waits, and a captured graph compares with the same
    value in each replay (see signal_consume).

Raises
------
Timeout
    The error names the wait.
PeDied, DtypeMismatch, NotSymmetric

See Also
--------
put_signal : data and their signal
wait_until : words of other dtypes

Notes
-----
Source: OpenSHMEM 1.6, section 9.12 (shmem_signal_wait_until).

Examples
--------
>>> atoll.put_signal(x, data, sig, 1, pe=right)
>>> atoll.signal_wait_until(sig, ">=", 1)  # the left PE's data is in x
1)"},
    {"signal_consume", entry<4, consume_spec, consume_body>,
     "(sig: AnyArray, n: int, index: int | None = None, stream: Stream = None) -> None",
     R"(Wait until this PE's own signal word is at least n, then subtract n.

Other PEs add to the word by signal_add or put_signal in each round, and each round waits again. A
captured graph can therefore be replayed.

Parameters
----------
sig
    Symmetric words of uint64. No other thread or PE may subtract from the word meanwhile.
n
    The number to wait for and to subtract.
index
    The word in C order. It may be left out if there is one word (ShapeMismatch otherwise).

Raises
------
Timeout, PeDied, DtypeMismatch, NotSymmetric

Notes
-----
An extension; OpenSHMEM has no such call.)"},
};

}  // namespace

void register_signals(PyObject* module) { register_functions(module, signals_functions); }

}  // namespace atl::python
