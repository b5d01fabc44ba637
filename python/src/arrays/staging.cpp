#include "arrays/staging.hpp"

#include "arrays/adopt.hpp"

namespace atl::python {

bool is_values(PyObject* value) {
    if (!given(value) || PyUnicode_Check(value) || PyBytes_Check(value)) return false;
    return PyArray_CheckScalar(value) || PyNumber_Check(value) || PySequence_Check(value);
}

Ref values_for(const Spec& spec, PyObject* value, PyArrayObject* dst, Sizes sizes) {
    if (!why_not_adopted(value).empty()) fail_not_array(spec, "src", value);
    if (dst == nullptr || on_device(dst)) {
        Ref made(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
        if (PyArray_DESCR(made.array())->type_num == NPY_OBJECT) fail_not_array(spec, "src", value);
        return made;
    }
    if (!is_scalar(value)) return source_like(spec, "src", value, "dst", dst);
    PyArray_Descr* descr = PyArray_DESCR(dst);
    Ref one = new_array(dst, 0, nullptr);
    write_element({spec, "src", reinterpret_cast<PyObject*>(descr)}, value, PyArray_DATA(one.array()));
    if (sizes == Sizes::differ) return one;
    Ref made(PyArray_NewLikeArray(dst, NPY_CORDER, nullptr, 0));
    if (PyArray_CopyInto(made.array(), one.array()) < 0) throw Raised{};
    return made;
}

}  // namespace atl::python
