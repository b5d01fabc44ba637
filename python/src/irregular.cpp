// take, put_at, add_at: many single elements of many PEs in one call, in a loop as tight as C++'s own.
#include "registry.hpp"
#include "transfer.hpp"

#include <algorithm>
#include <limits>

namespace atl::python {
namespace {

Spec take_spec, put_at_spec, add_at_spec;

/// One operand: 64-bit integers, or one for all.
struct Integers {
    Ref held;
    const npy_int64* data = nullptr;  ///< null: `scalar` for all
    npy_int64 scalar = 0;

    npy_int64 operator[](std::size_t i) const noexcept { return data ? data[i] : scalar; }
};

/// The shape that several operands broadcast to, and each brought to it.
class Broadcast {
  public:
    void join(PyArrayObject* array) {
        const int nd = PyArray_NDIM(array);
        if (nd > nd_) {
            std::copy_backward(dims_, dims_ + nd_, dims_ + nd);
            std::fill(dims_, dims_ + (nd - nd_), npy_intp{1});
            nd_ = nd;
        }
        for (int i = 0; i < nd; ++i) {
            npy_intp& dim = dims_[nd_ - nd + i];
            const npy_intp other = PyArray_DIMS(array)[i];
            if (dim == 1)
                dim = other;
            else if (other != 1 && other != dim)
                fits_ = false;
        }
    }
    bool fits() const noexcept { return fits_; }
    int nd() const noexcept { return nd_; }
    const npy_intp* dims() const noexcept { return dims_; }
    std::size_t size() const noexcept {
        std::size_t size = 1;
        for (int i = 0; i < nd_; ++i) size *= static_cast<std::size_t>(dims_[i]);
        return size;
    }
    bool is_shape_of(PyArrayObject* array) const noexcept {
        return PyArray_NDIM(array) == nd_ && std::equal(dims_, dims_ + nd_, PyArray_DIMS(array));
    }
    /// `array` itself if it is contiguous and of this shape, else a contiguous copy spread over it.
    Ref spread(Ref array) const {
        if (is_shape_of(array.array()) && c_contiguous(array.array())) return array;
        PyArray_Descr* descr = PyArray_DESCR(array.array());
        Py_INCREF(reinterpret_cast<PyObject*>(descr));
        Ref made(PyArray_NewFromDescr(g.ndarray, descr, nd_, dims_, nullptr, nullptr, 0, nullptr));
        if (PyArray_CopyInto(made.array(), array.array()) < 0) throw Raised{};
        return made;
    }

  private:
    int nd_ = 0;
    npy_intp dims_[NPY_MAXDIMS] = {};
    bool fits_ = true;
};

/// An operand as an int64 array; refuses what is no integer.
Ref integer_array(const Spec& spec, const char* which, PyObject* value) {
    Ref loose(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
    const char kind = PyArray_DESCR(loose.array())->kind;
    if (kind != 'i' && kind != 'u' && size_of(loose.array()) != 0)
        fail(ErrorCode::dtype_mismatch, "%s(): %s has dtype %S; pass integers.", spec.name, which,
             reinterpret_cast<PyObject*>(PyArray_DESCR(loose.array())));
    return Ref(PyArray_FromAny(loose.get(), PyArray_DescrFromType(NPY_INT64), 0, 0,
                               NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
}

Integers integers_of(const Broadcast& shape, Ref array) {
    Integers made;
    if (size_of(array.array()) == 1) {
        made.scalar = *static_cast<npy_int64*>(PyArray_DATA(array.array()));
        return made;
    }
    made.held = shape.spread(std::move(array));
    made.data = static_cast<npy_int64*>(PyArray_DATA(made.held.array()));
    return made;
}

struct Bounds {
    npy_int64 low = std::numeric_limits<npy_int64>::max();
    npy_int64 high = std::numeric_limits<npy_int64>::min();
};
Bounds bounds_of(const Integers& values, std::size_t n) {
    if (!values.data) return {values.scalar, values.scalar};
    Bounds b;
    for (std::size_t i = 0; i < n; ++i) {
        b.low = std::min(b.low, values.data[i]);
        b.high = std::max(b.high, values.data[i]);
    }
    return b;
}

/// What the three calls share: the symmetric array, and which of its elements on which PEs.
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

[[noreturn, gnu::cold]] void fail_broadcast(const Spec& spec, PyArrayObject* index, PyArrayObject* pe,
                                            PyArrayObject* values) {
    const auto shape = [](PyArrayObject* array) {
        return Ref(array ? PyObject_GetAttrString(reinterpret_cast<PyObject*>(array), "shape") : none());
    };
    const Ref i = shape(index), p = shape(pe), v = shape(values);
    if (values == nullptr)
        fail(ErrorCode::shape_mismatch,
             "%s(): index has shape %R and pe %R, which do not broadcast together; pass one PE, or one for "
             "each index.",
             spec.name, i.get(), p.get());
    fail(ErrorCode::shape_mismatch,
         "%s(): index has shape %R, pe %R and values %R, which do not broadcast together; pass one of each, "
         "or as many "
         "as there are indices.",
         spec.name, i.get(), p.get(), v.get());
}

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
    // All are checked before the first is touched, so that a bad one leaves everything as it was.
    const Bounds at = bounds_of(s.index, n);
    if (at.low < -s.size || at.high >= s.size)
        fail_index(spec, which, array, at.low < -s.size ? at.low : at.high);
    const Bounds on = bounds_of(s.pe, n);
    if (on.low < 0 || on.high >= ctx.n_pes())
        fail(ErrorCode::pe, "%s(): pe holds %lld, but the team has PEs 0 to %d.", spec.name,
             static_cast<long long>(on.low < 0 ? on.low : on.high), ctx.n_pes() - 1);
    ctx.route(extent.low, extent.bytes, static_cast<int>(on.low));
    return s;
}

bool releases(const Scattered& s) { return s.n >= 16 * 1024; }

/// Calls `window(i, T* element)` for elements in the window, `routed(i, element, pe)` for the others.
template <class T, class Window, class Routed>
void for_each(const Scattered& s, Window&& window, Routed&& routed) {
    const auto& w = s.ctx.window();
    const auto& map = s.ctx.map();
    const auto one = [&](std::size_t i, char* element, int pe) {
        const int slot = map.slot(pe);
        if (slot >= 0) [[likely]]
            window(i, reinterpret_cast<T*>(w.at(element, slot)));
        else
            routed(i, reinterpret_cast<T*>(element), pe);
    };
    const bool simple = s.regular && s.index.data && !map.table && map.first >= 0;
    if (!simple) {
        for (std::size_t i = 0; i < s.n; ++i) one(i, s.element(i), static_cast<int>(s.pe[i]));
        return;
    }
    const npy_int64* index = s.index.data;
    const auto at = [&](std::size_t i) { return s.data + (index[i] + ((index[i] >> 63) & s.size)) * s.step; };
    if (!s.pe.data) {
        const std::ptrdiff_t distance = w.distance(map.slot(static_cast<int>(s.pe.scalar)));
        for (std::size_t i = 0; i < s.n; ++i) window(i, reinterpret_cast<T*>(at(i) + distance));
    } else {
        const npy_int64* pe = s.pe.data;
        for (std::size_t i = 0; i < s.n; ++i)
            window(i, reinterpret_cast<T*>(at(i) + w.distance(map.slot(static_cast<int>(pe[i])))));
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
    ReleaseGil released(releases(s));
    if (item == 8 && aligned(s, 8)) return Moved<std::uint64_t>::take(s, out);
    if (item == 4 && aligned(s, 4)) return Moved<std::uint32_t>::take(s, out);
    if (item == 2 && aligned(s, 2)) return Moved<std::uint16_t>::take(s, out);
    for (std::size_t i = 0; i < s.n; ++i)
        s.ctx.get_bytes(out + i * item, s.element(i), item, static_cast<int>(s.pe[i]));
}

void put_from(const Scattered& s, const char* in, bool one) {
    const std::size_t item = item_bytes(s.array);
    ReleaseGil released(releases(s));
    if (item == 8 && aligned(s, 8)) return Moved<std::uint64_t>::put(s, in, one);
    if (item == 4 && aligned(s, 4)) return Moved<std::uint32_t>::put(s, in, one);
    if (item == 2 && aligned(s, 2)) return Moved<std::uint16_t>::put(s, in, one);
    for (std::size_t i = 0; i < s.n; ++i)
        s.ctx.put_bytes(s.element(i), in + (one ? 0 : i * item), item, static_cast<int>(s.pe[i]));
}

PyObject* take_body(const Arguments<6>& a) {
    const Context& ctx = context_of(take_spec, a[4], a[5]);
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

/// The values of put_at and add_at: an array of the target's dtype, or one number.
Ref values_of(const Spec& spec, PyArrayObject* dst, PyObject* value) {
    if (!is_scalar(value)) return source_like(spec, "values", value, "dst", dst);
    PyArray_Descr* descr = PyArray_DESCR(dst);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    Ref one(PyArray_NewFromDescr(g.ndarray, descr, 0, nullptr, nullptr, nullptr, 0, nullptr));
    write_element({spec, "values", reinterpret_cast<PyObject*>(descr)}, value, PyArray_DATA(one.array()));
    return one;
}

/// put_at and add_at alike: `apply(s, data, one)`.
template <Spec& S, class Apply> PyObject* scatter(const Arguments<6>& a, Apply&& apply) {
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

PyObject* put_at_body(const Arguments<6>& a) { return scatter<put_at_spec>(a, put_from); }

template <class T> void add_from(const Scattered& s, const char* in, bool one) {
    const auto* src = reinterpret_cast<const T*>(in);
    if (!aligned(s, sizeof(T))) atl::detail::throw_misaligned(s.data, sizeof(T));
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

PyObject* add_at_body(const Arguments<6>& a) {
    PyArrayObject* dst = array_arg(add_at_spec, "dst", a[0]);
    const DTypeRow& row = row_of(dst);
    const auto refuse = [&] {
        fail(ErrorCode::dtype_mismatch,
             "add_at(): dst has dtype %S; this takes 32- and 64-bit integers, float32 and float64.",
             reinterpret_cast<PyObject*>(PyArray_DESCR(dst)));
    };
    if (!row.known) refuse();
    return scatter<add_at_spec>(a, [&](const Scattered& s, const char* in, bool one) {
        visit_atomic(
            row.type, [&]<class T>(T*) { add_from<T>(s, in, one); }, refuse);
    });
}

const Function functions[] = {
    {"take", entry<6, take_spec, take_body>, &take_spec,
     "(src: Array, index: ArrayLike, pe: ArrayLike, out: Array | None = None, *, ctx: Context | None = None, "
     "team: Team | None = None) -> Array",
     R"(Return src.flat[index] of PE pe, for many elements of many PEs in one call, at C speed.

src:   a symmetric array or any view of one.
index: element numbers in C order, negative ones from the end: an int or an array of integers.
pe:    whose elements: an int or an array; broadcasts against index, which gives the result's shape.
out:   a contiguous array of that shape and src's dtype to write into, and to return.

Local; the data are there on return. All numbers are checked before the first element is read.
Raises IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree.

    atoll.take(x, [3, 3, 0], [0, 1, 1])      # x[3] of PE 0, x[3] of PE 1, x[0] of PE 1)"},
    {"put_at", entry<6, put_at_spec, put_at_body>, &put_at_spec,
     "(dst: Array, index: ArrayLike, values: ArrayLike, pe: ArrayLike, *, ctx: Context | None = None, team: "
     "Team | None = None) -> None",
     R"(Store dst.flat[index] = values on PE pe, for many elements of many PEs in one call, at C speed.

dst:    a symmetric array or any view of one.
index:  element numbers in C order, negative ones from the end: an int or an array of integers.
values: an array of dst's dtype, or a number. index, values and pe broadcast against each other.
pe:     whose elements: an int or an array.

Local; completed like put. Of several values for one element any one is kept. All numbers are
checked before the first element is written.
Raises IndexError, PeError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree.)"},
    {"add_at", entry<6, add_at_spec, add_at_body>, &add_at_spec,
     "(dst: Array, index: ArrayLike, values: ArrayLike, pe: ArrayLike, *, ctx: Context | None = None, team: "
     "Team | None = None) -> None",
     R"(Add values to dst.flat[index] on PE pe atomically, for many elements of many PEs in one call, at C speed.

dst: a symmetric array or view of 32- or 64-bit integers, float32 or float64. Other arguments as for
put_at. Each addition is an atomic_add: elements that occur more than once, here or on other PEs
at the same time, get every value. Integers wrap. Local; completed like put; errors as put_at.

    atoll.add_at(histogram, keys % m, 1, keys // m)       # counts kept by m a PE)"},
};

}  // namespace

void register_irregular(PyObject* module) { register_functions(module, functions); }

}  // namespace atl::python
