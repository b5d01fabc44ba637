// The one header that names Python, NumPy and nanobind.
#pragma once

#include <Python.h>

#define PY_ARRAY_UNIQUE_SYMBOL atoll_numpy_api
#ifndef ATOLL_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <nanobind/nanobind.h>

#include "calls/gil.hpp"

/// A local variable that lasts between calls. Without the GIL each thread has a separate one.
#ifdef Py_GIL_DISABLED
#define ATOLL_PER_THREAD static thread_local
#else
#define ATOLL_PER_THREAD static
#endif

namespace atl::python {

namespace nb = nanobind;

/// Thrown after a Python exception has been set.
struct Raised {};

/// An owned reference. A smaller replacement of nanobind's `object`.
class Ref {
  public:
    Ref() = default;
    explicit Ref(PyObject* owned) : object_(owned) {
        if (owned == nullptr) throw Raised{};
    }
    Ref(Ref&& other) noexcept : object_(other.release()) {}
    Ref& operator=(Ref&& other) noexcept {
        PyObject* mine = object_;
        object_ = other.object_;
        other.object_ = mine;
        return *this;
    }
    ~Ref() { Py_XDECREF(object_); }
    static Ref borrow(PyObject* object) {
        Py_XINCREF(object);
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    PyObject* get() const noexcept { return object_; }
    PyArrayObject* array() const noexcept { return reinterpret_cast<PyArrayObject*>(object_); }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    PyObject* release() noexcept {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }

  private:
    PyObject* object_ = nullptr;
};

inline PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}
inline bool given(PyObject* argument) { return argument != nullptr && argument != Py_None; }

}  // namespace atl::python
