// Truth, equality and hash of an atoll.DeviceArray.
#include "gpu/device.hpp"

namespace atl::python {

// Like NumPy: the truth of the only element, which is read from the GPU.
int device_array_truth(PyObject* self) {
    PyObject* answer = guard([&]() -> PyObject* {
        PyArrayObject* header = header_of(self);
        if (size_of(header) != 1) {
            const Ref shape(PyArray_IntTupleFromIntp(PyArray_NDIM(header), PyArray_DIMS(header)));
            PyErr_Format(PyExc_ValueError,
                         "The truth value of a DeviceArray of shape %R is ambiguous: it has not one element. "
                         "Use x.size > 0, or x.numpy(), x.cupy() or x.torch() with .any() or .all().",
                         shape.get());
            throw Raised{};
        }
        const Ref element(contents_of(header));
        return PyBool_FromLong(PyObject_IsTrue(element.get()) > 0);
    });
    const int is_true = answer == nullptr ? -1 : static_cast<int>(answer == Py_True);
    Py_XDECREF(answer);
    return is_true;
}

// Comparing identity would return an answer that looks like a comparison of elements.
PyObject* device_array_compare(PyObject*, PyObject*, int operation) {
    if (operation != Py_EQ && operation != Py_NE) return Py_NewRef(Py_NotImplemented);
    const char* sign = operation == Py_EQ ? "==" : "!=";
    return PyErr_Format(PyExc_TypeError,
                        "A DeviceArray computes nothing, so x %s y compares no elements. Use x.cupy() %s y, "
                        "x.torch() %s y or x.numpy() %s y. `x is y` tells whether both are one object.",
                        sign, sign, sign, sign);
}

Py_hash_t device_array_hash(PyObject* self) {
    return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(self) >> 4);
}

}  // namespace atl::python
