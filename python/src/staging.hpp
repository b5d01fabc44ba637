// What collectives take: any array. Those that are not contiguous are staged through one that is.
#pragma once

#include "array.hpp"

namespace atl::python {

/// A contiguous view of an array that a collective reads.
class SourceStage {
  public:
    SourceStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_readable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] {
            copy_ = Ref(PyArray_NewCopy(array, NPY_CORDER));
            array_ = copy_.array();
        }
    }
    char* data() const noexcept { return PyArray_BYTES(array_); }
    std::size_t size() const noexcept { return size_of(array_); }
    std::size_t bytes() const noexcept { return size() * item_bytes(array_); }
    PyArrayObject* array() const noexcept { return array_; }

  private:
    PyArrayObject* array_;
    Ref copy_;
};

/// Memory that a collective writes; `finish` brings it into the array where that is strided.
class TargetStage {
  public:
    TargetStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_writeable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] copy_ = Ref(PyArray_NewLikeArray(array, NPY_CORDER, nullptr, 0));
    }
    char* data() const noexcept { return PyArray_BYTES(copy_ ? copy_.array() : array_); }
    std::size_t size() const noexcept { return size_of(array_); }
    std::size_t bytes() const noexcept { return size() * item_bytes(array_); }
    void finish() {
        if (copy_ && PyArray_CopyInto(array_, copy_.array()) < 0) throw Raised{};
    }

  private:
    PyArrayObject* array_;
    Ref copy_;
};

/// A new ordinary array of `like`'s dtype.
inline Ref new_array(PyArrayObject* like, int nd, const npy_intp* dims) {
    PyArray_Descr* descr = PyArray_DESCR(like);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    return Ref(PyArray_NewFromDescr(g.ndarray, descr, nd, dims, nullptr, nullptr, 0, nullptr));
}

/// The arguments `(dst, src)` or `(src,)` of a collective. A second argument that is no array is an operator or root that
/// was passed by position, so it belongs to the caller.
struct Pair {
    PyArrayObject* dst;  ///< null: the result is a new array
    PyArrayObject* src;
};
inline Pair pair_of(const Spec& spec, PyObject* first, PyObject* second) {
    if (!given(second)) return {nullptr, array_arg(spec, "src", first)};
    return {array_arg(spec, "dst", first), array_arg(spec, "src", second)};
}

}  // namespace atl::python
