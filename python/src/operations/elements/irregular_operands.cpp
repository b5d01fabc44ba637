// Broadcasts and checks the operands of take, put_at and add_at.
#include "operations/elements/irregular.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace atl::python {

void Broadcast::join(PyArrayObject* array) {
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

std::size_t Broadcast::size() const noexcept {
    std::size_t size = 1;
    for (int i = 0; i < nd_; ++i) size *= static_cast<std::size_t>(dims_[i]);
    return size;
}

bool Broadcast::is_shape_of(PyArrayObject* array) const noexcept {
    return PyArray_NDIM(array) == nd_ && std::equal(dims_, dims_ + nd_, PyArray_DIMS(array));
}

Ref Broadcast::spread(Ref array) const {
    if (is_shape_of(array.array()) && c_contiguous(array.array())) return array;
    PyArray_Descr* descr = PyArray_DESCR(array.array());
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    Ref made(PyArray_NewFromDescr(g.ndarray, descr, nd_, dims_, nullptr, nullptr, 0, nullptr));
    if (PyArray_CopyInto(made.array(), array.array()) < 0) throw Raised{};
    return made;
}

/// Unsigned numbers from 2**63 on would become negative, which count from the end.
static void check_not_wrapped(const Spec& spec, const char* which, PyArrayObject* numbers) {
    const auto* data = static_cast<const npy_int64*>(PyArray_DATA(numbers));
    for (std::size_t i = 0, n = size_of(numbers); i < n; ++i) {
        if (data[i] >= 0) continue;
        PyErr_Format(std::string_view(which) == "index" ? PyExc_IndexError : exception_class(ErrorCode::pe),
                     "%s(): %s holds %llu, which is out of range.", spec.name, which,
                     static_cast<unsigned long long>(data[i]));
        throw Raised{};
    }
}

Ref integer_array(const Spec& spec, const char* which, PyObject* value) {
    Ref loose(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
    const char kind = PyArray_DESCR(loose.array())->kind;
    if (kind != 'i' && kind != 'u' && size_of(loose.array()) != 0)
        fail(ErrorCode::dtype_mismatch, "%s(): %s has dtype %S; pass integers.", spec.name, which,
             reinterpret_cast<PyObject*>(PyArray_DESCR(loose.array())));
    Ref made(PyArray_FromAny(loose.get(), PyArray_DescrFromType(NPY_INT64), 0, 0,
                             NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
    if (kind == 'u') check_not_wrapped(spec, which, made.array());
    return made;
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

namespace {

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

}  // namespace

void check_indices(const Spec& spec, const char* which, PyArrayObject* array, const Integers& index,
                   std::size_t n) {
    const auto size = static_cast<npy_int64>(size_of(array));
    const Bounds at = bounds_of(index, n);
    if (at.low < -size || at.high >= size) fail_index(spec, which, array, at.low < -size ? at.low : at.high);
}

npy_int64 check_pes(const Spec& spec, const Context& ctx, const Integers& pe, std::size_t n) {
    const Bounds on = bounds_of(pe, n);
    if (on.low < 0 || on.high >= ctx.n_pes())
        fail(ErrorCode::pe, "%s(): pe holds %lld, but the team has PEs 0 to %d.", spec.name,
             static_cast<long long>(on.low < 0 ? on.low : on.high), ctx.n_pes() - 1);
    return on.low;
}

void fail_broadcast(const Spec& spec, PyArrayObject* index, PyArrayObject* pe, PyArrayObject* values) {
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
         "%s(): index has shape %R, pe %R and values %R, which do not broadcast together. Pass one of each, "
         "or as many "
         "as there are indices.",
         spec.name, i.get(), p.get(), v.get());
}

Ref values_of(const Spec& spec, PyArrayObject* dst, PyObject* value) {
    if (!is_scalar(value)) return source_like(spec, "values", value, "dst", dst);
    PyArray_Descr* descr = PyArray_DESCR(dst);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    Ref one(PyArray_NewFromDescr(g.ndarray, descr, 0, nullptr, nullptr, nullptr, 0, nullptr));
    write_element({spec, "values", reinterpret_cast<PyObject*>(descr)}, value, PyArray_DATA(one.array()));
    return one;
}

}  // namespace atl::python
