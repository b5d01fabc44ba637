// take, put_at, add_at: many single elements of many PEs in one call, in a C++ loop.
#include "operations/elements/irregular.hpp"
#include "arrays/transfer.hpp"
#include "calls/registry.hpp"
#include "core/sync/job_over.hpp"

namespace atl::python {
namespace {

Spec take_spec, put_at_spec, add_at_spec;

/// The common arguments of the three calls: the symmetric array, the elements, and the PEs.
struct Scattered {
    const Context& ctx;
    PyArrayObject* array;
    char* data;
    npy_int64 size;
    npy_int64 step;  ///< bytes between elements, where that is constant (contiguous or one axis)
    bool regular;
    Integers index;
    Integers pe;
    Broadcast shape;
    std::size_t n;

    char* element(std::size_t i) const noexcept {
        npy_int64 at = index[i];
        if (regular) return data + (at + ((at >> 63) & size)) * step;
        return element_at(array, at);
    }
};

Scattered scattered(const Spec& spec, const Context& ctx, const char* which, PyArrayObject* array,
                    PyObject* index, PyObject* pe, PyArrayObject* values, bool writes) {
    const Extent extent = symmetric_arg(spec, which, array, writes);
    Ref indices = integer_array(spec, "index", index);
    Ref pes = integer_array(spec, "pe", pe);
    Broadcast shape;
    shape.join(indices.array());
    shape.join(pes.array());
    if (values && shape.fits()) shape.join(values);
    if (!shape.fits()) fail_broadcast(spec, indices.array(), pes.array(), values);
    const std::size_t n = shape.size();
    const bool one_axis = PyArray_NDIM(array) == 1;
    Scattered s{ctx,
                array,
                PyArray_BYTES(array),
                static_cast<npy_int64>(size_of(array)),
                one_axis ? PyArray_STRIDES(array)[0] : static_cast<npy_int64>(item_bytes(array)),
                one_axis || c_contiguous(array),
                {},
                {},
                shape,
                n};
    if (n == 0) return s;
    s.index = integers_of(shape, std::move(indices));
    s.pe = integers_of(shape, std::move(pes));
    // All numbers are checked before the first access, so that an error leaves all memory unchanged.
    check_indices(spec, which, array, s.index, n);
    const npy_int64 lowest = check_pes(spec, ctx, s.pe, n);
    ctx.route(extent.low, extent.bytes, static_cast<int>(lowest));
    return s;
}

atl::detail::Measured measure_scattered(const Scattered& s, const char* operation) {
    return {s.ctx.job(), s.ctx.window().counts, atl::detail::Measured::Kind::call, operation,
            s.n * item_bytes(s.array)};
}

bool releases(const Scattered& s) { return s.n >= releases_gil_from; }

/// Calls `window(i, T* element)` for elements in the window, `routed(i, element, pe)` for the others.
template <class T, class Window, class Routed>
void for_each(const Scattered& s, Window&& window, Routed&& routed) {
    const auto& w = s.ctx.window();
    const auto& map = s.ctx.map();
    const auto one = [&](std::size_t i, char* element, int pe) {
        if (char* const there = unchecked_address(s.ctx, element, pe)) [[likely]]
            window(i, reinterpret_cast<T*>(there));
        else
            routed(i, reinterpret_cast<T*>(element), pe);
    };
    const bool simple = s.regular && s.index.data && !map.table;
    if (!simple) {
        for (std::size_t i = 0; i < s.n; ++i) one(i, s.element(i), static_cast<int>(s.pe[i]));
        return;
    }
    const npy_int64* index = s.index.data;
    const auto at = [&](std::size_t i) { return s.data + (index[i] + ((index[i] >> 63) & s.size)) * s.step; };
    const auto each = [&](auto&& address_of) {
        std::size_t i = 0;
        for (; i + prefetched_ahead < s.n; ++i) {
            __builtin_prefetch(address_of(i + prefetched_ahead), 1);
            window(i, reinterpret_cast<T*>(address_of(i)));
        }
        for (; i < s.n; ++i) window(i, reinterpret_cast<T*>(address_of(i)));
    };
    if (!s.pe.data) {
        const std::ptrdiff_t distance = w.distance(map.slot(static_cast<int>(s.pe.scalar)));
        each([&](std::size_t i) { return at(i) + distance; });
    } else {
        const npy_int64* pe = s.pe.data;
        each([&](std::size_t i) { return at(i) + w.distance(map.slot(static_cast<int>(pe[i]))); });
    }
}

template <class Word> struct Moved {
    static void take(const Scattered& s, char* out) {
        auto* dst = reinterpret_cast<Word*>(out);
        for_each<Word>(
            s, [&](std::size_t i, Word* p) { dst[i] = __atomic_load_n(p, __ATOMIC_RELAXED); },
            [&](std::size_t i, Word* p, int pe) { s.ctx.get_bytes(dst + i, p, sizeof(Word), pe); });
    }
    static void put(const Scattered& s, const char* in, bool one) {
        const auto* src = reinterpret_cast<const Word*>(in);
        for_each<Word>(
            s, [&](std::size_t i, Word* p) { __atomic_store_n(p, src[one ? 0 : i], __ATOMIC_RELAXED); },
            [&](std::size_t i, Word* p, int pe) {
                s.ctx.put_bytes(p, src + (one ? 0 : i), sizeof(Word), pe);
            });
    }
};

bool aligned(const Scattered& s, std::size_t item) {
    return !s.regular || ((reinterpret_cast<std::uintptr_t>(s.data) | static_cast<std::uintptr_t>(s.step)) &
                          (item - 1)) == 0;
}

void take_into(const Scattered& s, char* out) {
    const std::size_t item = item_bytes(s.array);
    const atl::detail::Measured measured = measure_scattered(s, "take");
    ReleaseGil released(releases(s));
    if (item == 8 && aligned(s, 8)) return Moved<std::uint64_t>::take(s, out);
    if (item == 4 && aligned(s, 4)) return Moved<std::uint32_t>::take(s, out);
    if (item == 2 && aligned(s, 2)) return Moved<std::uint16_t>::take(s, out);
    for (std::size_t i = 0; i < s.n; ++i)
        s.ctx.get_bytes(out + i * item, s.element(i), item, static_cast<int>(s.pe[i]));
}

void put_from(const Scattered& s, const char* in, bool one) {
    const std::size_t item = item_bytes(s.array);
    const atl::detail::Measured measured = measure_scattered(s, "put_at");
    ReleaseGil released(releases(s));
    if (item == 8 && aligned(s, 8)) return Moved<std::uint64_t>::put(s, in, one);
    if (item == 4 && aligned(s, 4)) return Moved<std::uint32_t>::put(s, in, one);
    if (item == 2 && aligned(s, 2)) return Moved<std::uint16_t>::put(s, in, one);
    for (std::size_t i = 0; i < s.n; ++i)
        s.ctx.put_bytes(s.element(i), in + (one ? 0 : i * item), item, static_cast<int>(s.pe[i]));
}

PyObject* take_body(const Arguments<7>& a) {
    const Context& ctx = context_of(take_spec, a[4], a[5]);
    if (is_device_call(a.adopted, a[6])) [[unlikely]]
        return take_on_device(take_spec, ctx, a);
    PyArrayObject* src = array_arg(take_spec, "src", a[0]);
    const Scattered s = scattered(take_spec, ctx, "src", src, a[1], a[2], nullptr, false);
    if (!given(a[3])) {
        PyArray_Descr* descr = PyArray_DESCR(src);
        Py_INCREF(reinterpret_cast<PyObject*>(descr));
        Ref made(PyArray_NewFromDescr(g.ndarray, descr, s.shape.nd(), s.shape.dims(), nullptr, nullptr, 0,
                                      nullptr));
        if (s.n != 0) take_into(s, PyArray_BYTES(made.array()));
        return made.release();
    }
    PyArrayObject* out = array_arg(take_spec, "out", a[3]);
    check_writeable(take_spec, "out", out);
    if (!same_dtype(src, out)) fail_output_dtype(take_spec, "src", src, "out", out);
    if (!s.shape.is_shape_of(out) || !c_contiguous(out))
        fail(ErrorCode::shape_mismatch,
             "take(): out must be contiguous and have the shape of index and pe together (%zu elements).",
             s.n);
    if (s.n != 0) take_into(s, PyArray_BYTES(out));
    return Ref::borrow(a[3]).release();
}

/// The common body of put_at and add_at; calls `apply(s, data, one)`.
template <Spec& S, class Apply> PyObject* scatter(const Arguments<7>& a, Apply&& apply) {
    const Context& ctx = context_of(S, a[4], a[5]);
    PyArrayObject* dst = array_arg(S, "dst", a[0]);
    check_dtype(S, "dst", dst);
    Ref values = values_of(S, dst, a[2]);
    const Scattered s = scattered(S, ctx, "dst", dst, a[1], a[3], values.array(), true);
    if (s.n == 0) return none();
    const bool one = size_of(values.array()) == 1;
    if (!one) values = s.shape.spread(std::move(values));
    apply(s, PyArray_BYTES(values.array()), one);
    return none();
}

PyObject* put_at_body(const Arguments<7>& a) {
    if (is_device_call(a.adopted, a[6])) [[unlikely]] {
        scatter_on_device(put_at_spec, context_of(put_at_spec, a[4], a[5]), a, false, DType::uint8);
        return none();
    }
    return scatter<put_at_spec>(a, put_from);
}

template <class T> void add_from(const Scattered& s, const char* in, bool one) {
    const auto* src = reinterpret_cast<const T*>(in);
    if (!aligned(s, sizeof(T))) atl::detail::throw_misaligned(s.data, sizeof(T));
    use_atomics_on(block_of(s.array));
    core::throw_if_over(s.ctx.job(),
                        "add_at");  // checked here: a program that only adds never waits
    const atl::detail::Measured measured = measure_scattered(s, "add_at");
    ReleaseGil released(releases(s));
    const auto routed = [&](std::size_t i, T* p, int pe) { s.ctx.atomic_add(p, src[one ? 0 : i], pe); };
    if (one) {
        const T value = src[0];
        for_each<T>(
            s, [&](std::size_t, T* p) { atl::detail::atomic_add(p, value); }, routed);
    } else {
        for_each<T>(
            s, [&](std::size_t i, T* p) { atl::detail::atomic_add(p, src[i]); }, routed);
    }
}

PyObject* add_at_body(const Arguments<7>& a) {
    PyArrayObject* dst = array_arg(add_at_spec, "dst", a[0]);
    const DTypeRow& row = row_of(dst);
    const auto refuse = [&] { fail_atomic_dtype(add_at_spec, dst); };
    if (!row.known) refuse();
    if (is_device_call(a.adopted, a[6])) [[unlikely]] {
        const auto on_device = [&]<class T>(T*) {
            scatter_on_device(add_at_spec, context_of(add_at_spec, a[4], a[5]), a, true, dtype<T>);
        };
        visit_atomic(row.type, on_device, refuse);
        return none();
    }
    return scatter<add_at_spec>(a, [&](const Scattered& s, const char* in, bool one) {
        visit_atomic(
            row.type, [&]<class T>(T*) { add_from<T>(s, in, one); }, refuse);
    });
}

const Function irregular_functions[] = {
    {"take", entry<7, take_spec, take_body>,
     "(src: AnyArray, index: AnySource, pe: AnySource, out: AnyArray | None = None, *, ctx: Context | None = "
     "None, team: Team | None = None, stream: Stream = None) -> Any\n"
     "(src: AnyArray, index: AnySource, pe: AnySource, out: None = None, *, ctx: Context | None = None, "
     "team: Team | None = None, stream: None = None) -> Array\n"
     "(src: AnyArray, index: AnySource, pe: AnySource, out: OutArray, *, ctx: Context | None = None, team: "
     "Team "
     "| None = None, stream: Stream = None) -> OutArray",
     R"(Return src.flat[index] of PE pe, for many elements of many PEs in one call, at C speed.

Local; the data are there on return. All numbers are checked before the first element is read.

Parameters
----------
src
    A symmetric array or any view of one.
index
    Element numbers in C order, an int or an array of integers. Negative numbers count from the end.
pe
    The PEs of the elements, an int or an array. It broadcasts against index; that gives the
    result's shape.
out
    A contiguous array of that shape and src's dtype for the result. It is also returned.

Returns
-------
array
    out, or a new NumPy array of src's dtype. On a stream None.

Raises
------
IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree
KernelError
    A wrong number in memory of the GPU stopped the kernel.

Notes
-----
For an array of a GPU, src is contiguous or has one axis. `index` and `pe` have one shape, or one of
them has one element. They are numbers, lists, arrays of the host, or int64 or int32 arrays of the
GPU. out may be in any memory.

On a stream, index and pe are ints, or arrays of the GPU or in pinned memory. There out is needed,
in such memory too.

Examples
--------
>>> values = atoll.take(x, [3, 3, 0], [0, 1, 1])  # x[3] of PE 0, x[3] of PE 1, x[0] of PE 1)"},
    {"put_at", entry<7, put_at_spec, put_at_body>,
     "(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, "
     "team: "
     "Team | None = None, stream: Stream = None) -> None",
     R"(Store dst.flat[index] = values on PE pe, for many elements of many PEs in one call, at C speed.

Local; completed like put. All numbers are checked before the first element is written. If one
element gets several values, any of them may remain.

Parameters
----------
dst
    A symmetric array or any view of one.
index
    Element numbers in C order, an int or an array of integers. Negative numbers count from the end.
values
    An array of dst's dtype, or a number. index, values and pe broadcast against each other.
pe
    The PEs of the elements, an int or an array.

Raises
------
IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree

Notes
-----
For an array of a GPU, index, pe and stream are as for take. values has their shape, or one element.)"},
    {"add_at", entry<7, add_at_spec, add_at_body>,
     "(dst: AnyArray, index: AnySource, values: AnySource, pe: AnySource, *, ctx: Context | None = None, "
     "team: "
     "Team | None = None, stream: Stream = None) -> None",
     R"(Add values to dst.flat[index] on PE pe atomically, for many elements of many PEs in one call, at C speed.

Local; completed like put. Each addition is an atomic_add: an element that occurs several times,
here or on other PEs at the same time, gets every value. Integers wrap.

Parameters
----------
dst
    A symmetric array or view of 32- or 64-bit integers, float32 or float64.
index, values, pe
    As for put_at, also for arrays of a GPU.

Raises
------
IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree
    As for put_at.

Examples
--------
>>> atoll.add_at(histogram, keys % m, 1, keys // m)  # m counts on each PE)"},
};

}  // namespace

void register_irregular(PyObject* module) { register_functions(module, irregular_functions); }

}  // namespace atl::python
