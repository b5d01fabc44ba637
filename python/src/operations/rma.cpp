// put, get, p, g, fence and quiet.
#include "arrays/transfer.hpp"
#include "calls/registry.hpp"
#include "operations/elements/irregular.hpp"
#include "operations/notes.hpp"

#include <memory>
#include <vector>

namespace atl::python {
namespace {

Spec put_spec, put_nbi_spec, get_spec, get_nbi_spec, p_spec, g_spec, fence_spec, quiet_spec, pe_quiet_spec;

/// A buffer for one element of a dtype of any size.
class Element {
  public:
    explicit Element(PyArrayObject* of)
        : large_(item_bytes(of) > sizeof small_ ? new char[item_bytes(of)] : nullptr) {}
    char* data() noexcept { return large_ ? large_.get() : small_; }

  private:
    alignas(16) char small_[64];
    std::unique_ptr<char[]> large_;
};

/// Fills the target with one value, which is converted once.
void put_value(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* value, int pe) {
    const Extent extent = symmetric_arg(spec, "dst", dst, true);
    const std::size_t item = item_bytes(dst);
    Element element(dst);
    write_element({spec, "src", reinterpret_cast<PyObject*>(PyArray_DESCR(dst))}, value, element.data());
    static const Strides repeat{};
    if (extent.bytes == item)
        put_contiguous(ctx, extent.low, element.data(), item, pe);
    else
        put_strided(ctx, {dst, extent, element.data(), repeat.of, pe});
    note_put(ctx, dst, extent, element.data(), pe);
}

[[gnu::cold]] void put_other(const Spec& spec, const Context& ctx, PyArrayObject* dst, PyObject* src,
                             int pe) {
    if (src != nullptr && is_scalar(src)) return put_value(spec, ctx, dst, src, pe);
    if (is_array(src)) fail_shapes(spec, "dst", dst, "src", as_array(src));
    const Ref made = source_like(spec, "src", src, "dst", dst);
    if (!same_shape(dst, made.array())) fail_shapes(spec, "dst", dst, "src", made.array());
    const Extent extent = symmetric_arg(spec, "dst", dst, true);
    const Strides near = strides_as(made.array(), dst);
    put_strided(ctx, {dst, extent, PyArray_BYTES(made.array()), near.of, pe});
    note_put(ctx, dst, extent, PyArray_BYTES(made.array()), pe);
}

/// The result of `check`, an argument's extent. Its error tells if `other` is symmetric in its place.
template <class Check> Extent or_swapped(PyObject* other, Check&& check) {
    try {
        return check();
    } catch (const Raised&) {
        hint_swapped(other);
        throw;
    }
}

template <Spec& S, bool Blocking> PyObject* put_body(const Arguments<6>& a) {
    const Context& ctx = context_of(S, a[3], a[4]);
    PyArrayObject* dst = array_arg(S, "dst", a[0]);
    const int pe = pe_of(S, a[2]);
    if (is_device_call(a.adopted, a[5])) [[unlikely]] {
        put_on_device(S, ctx, dst, a[1], pe, stream_of(S, a[5], a.adopted), a.adopted);
        return none();
    }
    if (Py_TYPE(a[1]) == &PyFloat_Type || Py_TYPE(a[1]) == &PyLong_Type) {
        put_value(S, ctx, dst, a[1], pe);
        return none();
    }
    if (!is_array(a[1]) || PyArray_NDIM(as_array(a[1])) == 0) [[unlikely]] {
        put_other(S, ctx, dst, a[1], pe);
        return none();
    }
    PyArrayObject* src = as_array(a[1]);
    const Extent extent = or_swapped(a[1], [&] { return symmetric_arg(S, "dst", dst, true); });
    check_readable(S, "src", src);
    if (!same_dtype(dst, src)) [[unlikely]]
        fail_dtypes(S, "dst", dst, "src", src);
    if (!same_shape(dst, src)) [[unlikely]]
        fail_shapes(S, "dst", dst, "src", src);
    if (c_contiguous(dst) && c_contiguous(src)) [[likely]] {
        put_contiguous(ctx, extent.low, PyArray_BYTES(src), extent.bytes, pe, Blocking);
    } else {
        const Strides near = strides_as(src, dst);
        put_strided(ctx, {dst, extent, PyArray_BYTES(src), near.of, pe});
    }
    note_put(ctx, dst, extent, PyArray_BYTES(src), pe);
    return none();
}

template <Spec& S, bool Blocking> PyObject* get_body(const Arguments<6>& a) {
    const Context& ctx = context_of(S, a[3], a[4]);
    PyArrayObject* dst = array_arg(S, "dst", a[0]);
    PyArrayObject* src = array_arg(S, "src", a[1]);
    const int pe = pe_of(S, a[2]);
    if (is_device_call(a.adopted, a[5])) [[unlikely]] {
        get_on_device(S, ctx, dst, src, pe, stream_of(S, a[5], a.adopted), a.adopted);
        return none();
    }
    check_writeable(S, "dst", dst);
    const Extent extent = or_swapped(a[0], [&] { return symmetric_arg(S, "src", src, false); });
    if (!same_dtype(src, dst)) [[unlikely]]
        fail_output_dtype(S, "src", src, "dst", dst);
    if (!same_shape(dst, src)) [[unlikely]]
        fail_shapes(S, "dst", dst, "src", src);
    if (c_contiguous(dst) && c_contiguous(src)) [[likely]] {
        get_contiguous(ctx, PyArray_BYTES(dst), extent.low, extent.bytes, pe, Blocking);
    } else {
        const Strides near = strides_as(dst, src);
        get_strided(ctx, {src, extent, PyArray_BYTES(dst), near.of, pe});
    }
    return none();
}

PyObject* p_body(const Arguments<7>& a) {
    const Context& ctx = context_of(p_spec, a[4], a[5]);
    PyArrayObject* dst = array_arg(p_spec, "dst", a[0]);
    const int pe = pe_of(p_spec, a[2]);
    check_dtype(p_spec, "dst", dst);
    char* target = symmetric_element(p_spec, "dst", dst, a[3], true);
    check_pool_block(p_spec, "dst", target, ctx, pe);
    const std::size_t item = item_bytes(dst);
    Element element(dst);
    write_element({p_spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(dst))}, a[1], element.data());
    if (given(a[6])) [[unlikely]] {
        store_on_stream(p_spec, ctx, stream_of(p_spec, a[6], a.adopted), target, element.data(), item, pe);
        return none();
    }
    ctx.p_bytes(target, element.data(), item, pe);
    note_put(ctx, dst, {target, item}, element.data(), pe);
    return none();
}

PyObject* g_body(const Arguments<5>& a) {
    const Context& ctx = context_of(g_spec, a[3], a[4]);
    PyArrayObject* src = array_arg(g_spec, "src", a[0]);
    const int pe = pe_of(g_spec, a[1]);
    check_dtype(g_spec, "src", src);
    char* source = symmetric_element(g_spec, "src", src, a[2], false);
    check_pool_block(g_spec, "src", source, ctx, pe);
    Element element(src);
    ctx.g_bytes(element.data(), source, item_bytes(src), pe);
    return read_element(element.data(), PyArray_DESCR(src));
}

PyObject* fence_body(const Arguments<1>& a) {
    context_of(fence_spec, a[0], nullptr).fence();
    return none();
}

PyObject* quiet_body(const Arguments<1>& a) {
    context_of(quiet_spec, a[0], nullptr).quiet();
    return none();
}

/// Floats are rejected rather than rounded: 0.9 is not a PE.
std::vector<int> pe_numbers(const Spec& spec, const Context& ctx, PyObject* pes) {
    PyObject* made = PyArray_FromAny(pes, nullptr, 0, 1, 0, nullptr);
    if (made == nullptr) PyErr_Clear();
    const Ref loose(made != nullptr ? made : none());
    const char kind = made != nullptr ? PyArray_DESCR(loose.array())->kind : 'O';
    if (kind != 'i' && kind != 'u' && (made == nullptr || size_of(loose.array()) != 0))
        fail(ErrorCode::invalid_argument,
             "%s(): pes is %R; pass PE numbers: one integer, or a sequence of them.", spec.name, pes);
    const Ref wide = integer_array(spec, "pes", loose.get());
    const auto* numbers = static_cast<const npy_int64*>(PyArray_DATA(wide.array()));
    std::vector<int> found(size_of(wide.array()));
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (numbers[i] < 0 || numbers[i] >= ctx.n_pes())
            fail(ErrorCode::pe, "%s(): pes holds %lld, but the team has PEs 0 to %d.", spec.name,
                 static_cast<long long>(numbers[i]), ctx.n_pes() - 1);
        found[i] = static_cast<int>(numbers[i]);
    }
    return found;
}

PyObject* pe_quiet_body(const Arguments<3>& a) {
    const Context& ctx = context_of(pe_quiet_spec, a[1], a[2]);
    if (PyIndex_Check(a[0]) && !PyArray_Check(a[0])) {
        const int pe = pe_of(pe_quiet_spec, a[0]);
        ctx.pe_quiet({&pe, 1});
        return none();
    }
    const std::vector<int> pes = pe_numbers(pe_quiet_spec, ctx, a[0]);
    ctx.pe_quiet({pes.data(), pes.size()});
    return none();
}

#define ATOLL_MOVE                                                                                       \
    "(dst: AnyArray, src: AnySource, pe: int, *, ctx: Context | None = None, team: Team | None = None, " \
    "stream: Stream = None) -> None"
#define ATOLL_FETCH                                                                                     \
    "(dst: AnyArray, src: AnyArray, pe: int, *, ctx: Context | None = None, team: Team | None = None, " \
    "stream: Stream = None) -> None"

const Function rma_functions[] = {
    {"put", entry<6, put_spec, put_body<put_spec, true>>, ATOLL_MOVE,
     R"(Copy src into dst on PE pe, without that PE's participation.

Local, not collective. On return src may be changed. The data are in the target after quiet() or
barrier_all(); fence() orders puts to one PE. A load never sees an aligned element of 1, 2, 4 or 8
bytes half written.

Parameters
----------
dst
    A symmetric array or any view of one (slice, reshape, transpose, field). The data go to the same
    place in PE pe's copy. This PE's own dst changes only if pe is this PE.
src
    An array of dst's dtype and shape (axes of length 1 are ignored), symmetric or not, of any
    strides. A Python number, NumPy scalar or 0-d array fills dst. A list is converted. Dtypes are
    not cast. src and dst may overlap, but not on a stream. There src must be in memory of the GPU,
    or pinned.
pe
    Number of the target PE, 0 to n_pes()-1; within `team`, or the context's team, if given.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized
InvalidArgument
    dst is read-only.

See Also
--------
get : the other direction
put_nbi : a put that quiet completes
put_signal : a put that the target can wait for
p : a put of one element

Notes
-----
Arrays without elements are legal and move nothing.

Source: OpenSHMEM 1.6, section 9.5 (shmem_put).

Examples
--------
>>> atoll.put(x, np.arange(8.0), pe=1)  # all of x on PE 1
>>> atoll.put(x[2:4], 0.0, pe=1)  # two of its elements)"},
    {"put_nbi", entry<6, put_nbi_spec, put_body<put_nbi_spec, false>>, ATOLL_MOVE,
     R"(Like put, but src must not be changed before quiet().

Local. Returns at once if the transport moves the data by itself; on one host it is put.

Parameters
----------
dst, src, pe
    As for put.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.

See Also
--------
put : a put that completes locally
quiet : completes it

Notes
-----
Source: OpenSHMEM 1.6, section 9.6 (shmem_put_nbi).

Examples
--------
>>> atoll.put_nbi(x, data, pe=right)
>>> atoll.quiet()  # now data may be changed)"},
    {"get", entry<6, get_spec, get_body<get_spec, true>>, ATOLL_FETCH,
     R"(Copy src of PE pe into the local array dst.

Local, not collective. The data are in dst on return. The call does not make PE pe's own writes
visible: order the two by a barrier, a signal or an atomic. A load never sees an aligned element of
1, 2, 4 or 8 bytes half written.

Parameters
----------
dst
    A writeable array, symmetric or not, of any strides.
src
    A symmetric array or any view of one, of dst's dtype and shape (axes of length 1 are ignored).
    The data come from the same place in PE pe's copy.
pe
    Number of the PE to read from, 0 to n_pes()-1; within `team`, or the context's team.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized
InvalidArgument
    dst is read-only.

See Also
--------
put : the other direction
get_nbi : a get that quiet completes
g : a get of one element

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_get).

Examples
--------
>>> atoll.get(y, x, pe=right)  # y is the right PE's x)"},
    {"get_nbi", entry<6, get_nbi_spec, get_body<get_nbi_spec, false>>, ATOLL_FETCH,
     R"(Like get, but the data are in dst only after quiet(). Local.

Parameters
----------
dst, src, pe
    As for get.

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for get.

See Also
--------
get : a get that is complete on return
quiet : completes it

Notes
-----
Source: OpenSHMEM 1.6, section 9.6 (shmem_get_nbi).

Examples
--------
>>> atoll.get_nbi(y, x, pe=right)
>>> atoll.quiet()  # now y is the right PE's x)"},
    {"p", entry<7, p_spec, p_body>,
     "(dst: AnyArray, value: Value, pe: int, index: int | None = None, *, ctx: Context | None = None, team: "
     "Team | None = None, stream: Stream = None) -> None",
     R"(Store one element, dst.flat[index] = value, on PE pe.

Local; ordered and completed like put.

Parameters
----------
dst
    A symmetric array or view; only its element `index` is written.
value
    A Python number that fits, or a NumPy scalar of dst's dtype.
pe
    As for put.
index
    The element in C order; negative numbers count from the end. It may be left out if dst has one
    element (ShapeMismatch otherwise).

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for put.
IndexError
    index is outside dst.

See Also
--------
g : the other direction
put : many elements

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_p).

Examples
--------
>>> atoll.p(counter, 1, pe=right))"},
    {"g", entry<5, g_spec, g_body>,
     "(src: AnyArray, pe: int, index: int | None = None, *, ctx: Context | None = None, "
     "team: Team | None = None) -> Any",
     R"(Return one element, src.flat[index], of PE pe. Local.

Parameters
----------
src
    A symmetric array or view.
pe
    As for get.
index
    The element in C order; negative numbers count from the end. It may be left out if src has one
    element.

Returns
-------
value
    A Python int, float, complex or bool if that is exact, else a NumPy scalar (float16, long
    double, dates, structured dtypes).

Raises
------
NotSymmetric, ShapeMismatch, DtypeMismatch, PeError, UseAfterFree, NotInitialized, InvalidArgument
    As for get.
IndexError
    index is outside src.

See Also
--------
p : the other direction
get : many elements

Notes
-----
Source: OpenSHMEM 1.6, section 9.5 (shmem_g).

Examples
--------
>>> value = atoll.g(x, right, 3)  # x[3] of the right PE)"},
    {"fence", entry<1, fence_spec, fence_body>, "(ctx: Context | None = None) -> None",
     R"(Order puts: those to a PE after the fence are delivered after those to that PE before it.

It orders puts, atomics and signals of the default context, or of ctx, for each target PE
separately. It completes nothing; quiet() does. Local.

Parameters
----------
ctx
    The Context whose operations are ordered. None: the default context.

See Also
--------
quiet : completes operations

Notes
-----
Source: OpenSHMEM 1.6, section 9.10.

Examples
--------
>>> atoll.put(x, data, pe=right)
>>> atoll.fence()
>>> atoll.p(counter, 1, pe=right)  # arrives after the data)"},
    {"quiet", entry<1, quiet_spec, quiet_body>, "(ctx: Context | None = None) -> None",
     R"(Wait until all operations of this PE are complete and visible to every PE.

It covers puts, atomics, signals and the nbi operations of the default context, or of ctx, and this
thread's plain stores into symmetric arrays. Local: it does not wait for calls of other PEs.

Parameters
----------
ctx
    The Context whose operations are completed. None: the default context.

See Also
--------
fence : orders operations
barrier_all : completes them, and waits for all PEs

Notes
-----
Source: OpenSHMEM 1.6, section 9.10.

Examples
--------
>>> atoll.put_nbi(x, data, pe=right)
>>> atoll.quiet()  # the data are in the right PE's x)"},
    {"pe_quiet", entry<3, pe_quiet_spec, pe_quiet_body>,
     "(pes: ArrayLike, ctx: Context | None = None, *, team: Team | None = None) -> None",
     R"(Like quiet(), for the operations to some PEs only.

Parameters
----------
pes
    One PE number or a sequence of them.
ctx
    The Context whose operations are completed. None: the default context.

Raises
------
PeError

Notes
-----
Source: OpenSHMEM 1.6, section 9.10.)"},
};

}  // namespace

void register_rma(PyObject* module) { register_functions(module, rma_functions); }

}  // namespace atl::python
