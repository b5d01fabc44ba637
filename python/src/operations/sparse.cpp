// A part of atoll.sparse in C++: the product of rows and a vector, written in place.
#include "arrays/array_arguments.hpp"
#include "calls/registry.hpp"

namespace atl::python {
namespace {

Spec row_products_spec;

/// An array of one axis without gaps, of NumPy's type number.
PyArrayObject* vector_of(const char* which, PyObject* object, int type) {
    PyArrayObject* const array = array_arg(row_products_spec, which, object);
    if (PyArray_NDIM(array) != 1 || !c_contiguous(array) || PyArray_DESCR(array)->type_num != type ||
        !plain_native(array))
        fail(ErrorCode::shape_mismatch,
             "row_products(): %s must be contiguous, of one axis, with indices of int32 and one dtype of all "
             "values.",
             which);
    return array;
}

template <class T>
void multiply(const npy_int32* ends, const npy_int32* columns, const T* values, const T* x, T* out,
              npy_intp rows) {
    for (npy_intp row = 0; row < rows; ++row) {
        T sum{};
        for (npy_int32 at = ends[row]; at < ends[row + 1]; ++at) sum += values[at] * x[columns[at]];
        out[row] = sum;
    }
}

PyObject* row_products_body(const Arguments<5>& a) {
    const int type = PyArray_DESCR(array_arg(row_products_spec, "data", a[2]))->type_num;
    PyArrayObject *const ends = vector_of("indptr", a[0], NPY_INT32),
                         *const columns = vector_of("indices", a[1], NPY_INT32),
                         *const values = vector_of("data", a[2], type), *const x = vector_of("x", a[3], type),
                         *const out = vector_of("out", a[4], type);
    check_writeable(row_products_spec, "out", out);
    check_readable(row_products_spec, "x", x);
    const npy_intp rows = PyArray_DIMS(out)[0];
    if (PyArray_DIMS(ends)[0] != rows + 1 || PyArray_DIMS(columns)[0] != PyArray_DIMS(values)[0])
        fail(ErrorCode::shape_mismatch,
             "row_products(): indptr must have a number more than out, and indices as many as data.");
    const auto run = [&]<class T>(T*) {
        ReleaseGil released(size_of(values) * sizeof(T) >= release_gil_bytes);
        multiply(static_cast<const npy_int32*>(PyArray_DATA(ends)),
                 static_cast<const npy_int32*>(PyArray_DATA(columns)),
                 static_cast<const T*>(PyArray_DATA(values)), static_cast<const T*>(PyArray_DATA(x)),
                 static_cast<T*>(PyArray_DATA(out)), rows);
    };
    if (type == NPY_DOUBLE)
        run(static_cast<double*>(nullptr));
    else if (type == NPY_FLOAT)
        run(static_cast<float*>(nullptr));
    else
        fail(ErrorCode::dtype_mismatch, "row_products(): data must be of float32 or float64, not %S.",
             reinterpret_cast<PyObject*>(PyArray_DESCR(values)));
    return none();
}

const Function sparse_functions[] = {
    {"_row_products", entry<5, row_products_spec, row_products_body>,
     "(indptr: Array, indices: Array, data: Array, x: Array, out: Array) -> None",
     R"(Write the products of compressed rows and a vector; for atoll.sparse, whose indices are in range.

Parameters
----------
indptr, indices, data
    Rows as in SciPy's CSR, with indices of int32 and values of float32 or float64.
x
    A vector of that dtype.
out
    The result; it shares no memory with x.

Raises
------
ShapeMismatch, DtypeMismatch)"},
};

}  // namespace

void register_sparse(PyObject* module) { register_functions(module, sparse_functions); }

}  // namespace atl::python
