// Contiguous memory for any array: strided ones are staged through a buffer.
#pragma once

#include "arrays/elements.hpp"

namespace atl::python {

/// Throws for a strided GPU array, which the host cannot stage.
inline void check_may_stage(const Spec& spec, const char* which, PyArrayObject* array) {
    if (on_device(array)) [[unlikely]]
        fail(ErrorCode::unsupported,
             "%s(): %s is a view of an array of a GPU that is not contiguous; collectives take contiguous "
             "ones: "
             "copy it into one.",
             spec.name, which);
}

/// A contiguous view of an array that a collective reads.
class SourceStage {
  public:
    SourceStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_readable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] {
            check_may_stage(spec, which, array);
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

/// Memory that a collective writes; `finish` copies it to a strided array.
class TargetStage {
  public:
    TargetStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_writeable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] {
            check_may_stage(spec, which, array);
            copy_ = Ref(PyArray_NewLikeArray(array, NPY_CORDER, nullptr, 0));
        }
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

/// True for a number or a sequence of numbers, which is accepted for an array.
bool is_values(PyObject* value);
/// Sizes of a collective's dst and src. If they are equal, one number as src fills dst's shape; else it is
/// one element.
enum class Sizes { differ, equal };
/// The array made from such a value: of dst's dtype, or of NumPy's choice if dst is null.
[[gnu::cold]] Ref values_for(const Spec& spec, PyObject* value, PyArrayObject* dst, Sizes sizes);

}  // namespace atl::python
