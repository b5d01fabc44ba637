// atoll.DeviceArray: symmetric memory of a GPU, usable without an array library and exported to all of them.
#include "arrays/dlpack.hpp"
#include "calls/gil.hpp"
#include "gpu/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace atl::python {

PyTypeObject* device_array_type = nullptr;

namespace {

PyArrayObject* of(PyObject* self) { return header_of(self); }

void dealloc(PyObject* self) {
    Py_XDECREF(reinterpret_cast<DeviceArray*>(self)->header);
    PyTypeObject* type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/// Runs `body` and returns its reference; if it throws, null with an exception set.
template <class Body> PyObject* guarded(Body&& body) noexcept {
    return guard([&]() -> PyObject* { return Ref(body()).release(); });
}

PyObject* shape_tuple(PyObject* self) {
    return PyArray_IntTupleFromIntp(PyArray_NDIM(of(self)), PyArray_DIMS(of(self)));
}

PyObject* repr(PyObject* self) {
    return guarded([&] {
        const Ref shape(shape_tuple(self));
        const Block* block = block_of(of(self));
        return PyUnicode_FromFormat("<atoll.DeviceArray of shape %R, dtype %S, %s GPU %d%s%s>", shape.get(),
                                    dtype_name(of(self)).get(),
                                    block == nullptr || block->device < 0 ? "of the host, pinned for" : "on",
                                    g.device,
                                    block != nullptr && block->parent != nullptr ? ", other PEs'" : "",
                                    block == nullptr     ? ""
                                    : is_freed(block)    ? ", freed"
                                    : is_unmapped(block) ? ", of a job that was finalized"
                                                         : "");
    });
}

// ---- views

/// Accepts only indices that make a view: for a copy NumPy would read the elements.
void check_index(PyObject* item) {
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || PyUnicode_Check(item)) return;
    if (PyIndex_Check(item) && !PyBool_Check(item) && !PyArray_Check(item)) return;
    fail(ErrorCode::unsupported,
         "A DeviceArray takes integers, slices, None, ... and names of fields as indices, not %R; use "
         "x.cupy() or x.torch() for others.",
         reinterpret_cast<PyObject*>(Py_TYPE(item)));
}

Ref view_of(PyObject* self, PyObject* index) {
    bool has_ellipsis = false;
    if (PyUnicode_Check(index)) return Ref(PyObject_GetItem(reinterpret_cast<PyObject*>(of(self)), index));
    const Ref items = PyTuple_Check(index) ? Ref::borrow(index) : Ref(PyTuple_Pack(1, index));
    const Py_ssize_t n = PyTuple_Size(items.get());
    for (Py_ssize_t i = 0; i < n; ++i) {
        check_index(PyTuple_GetItem(items.get(), i));
        has_ellipsis = has_ellipsis || PyTuple_GetItem(items.get(), i) == Py_Ellipsis;
    }
    Ref full = Ref::borrow(items.get());
    if (!has_ellipsis) {
        const Ref rest(PyTuple_Pack(1, Py_Ellipsis));  // with an ellipsis one element is a view, not a number
        full = Ref(PySequence_Concat(items.get(), rest.get()));
    }
    return Ref(PyObject_GetItem(reinterpret_cast<PyObject*>(of(self)), full.get()));
}

PyObject* get_item(PyObject* self, PyObject* index) {
    return guarded([&] { return make_device_array(view_of(self, index)).release(); });
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
    PyObject* done = guarded([&]() -> PyObject* {
        if (value == nullptr) fail(ErrorCode::unsupported, "Elements of a DeviceArray cannot be deleted.");
        const Ref view = make_device_array(view_of(self, index));
        return PyObject_CallMethod(device_module(), "assign", "OO", view.get(), value);
    });
    Py_XDECREF(done);
    return done == nullptr ? -1 : 0;
}

Py_ssize_t length(PyObject* self) {
    if (PyArray_NDIM(of(self)) != 0) return PyArray_DIMS(of(self))[0];
    PyErr_SetString(PyExc_TypeError, "a DeviceArray without axes has no len()");
    return -1;
}

PyObject* reshape(PyObject* self, PyObject* args) {
    return guarded([&] {
        if (!c_contiguous(of(self)))
            fail(ErrorCode::unsupported,
                 "DeviceArray.reshape() needs a contiguous array; use x.cupy() or x.torch() for others.");
        PyObject* first = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : nullptr;
        PyObject* shape = first != nullptr && !PyIndex_Check(first) ? first : args;
        return make_device_array(
                   Ref(PyObject_CallMethod(reinterpret_cast<PyObject*>(of(self)), "reshape", "(O)", shape)))
            .release();
    });
}

PyObject* view(PyObject* self, PyObject* dtype) {
    return guarded([&] {
        const Ref wanted(PyObject_CallMethod(device_module(), "numpy_dtype", "O", dtype));
        return make_device_array(
                   Ref(PyObject_CallMethod(reinterpret_cast<PyObject*>(of(self)), "view", "O", wanted.get())))
            .release();
    });
}

PyObject* transposed(PyObject* self, void*) {
    return guarded([&] { return make_device_array(Ref(PyArray_Transpose(of(self), nullptr))).release(); });
}

// ---- to other libraries

/// Checks that kernels can access the memory. Pinned memory of the host also ends with the job. A view of it
/// that lost its owner has no block.
void check_shareable(const Spec& spec, PyArrayObject* header) {
    const Block* block = block_of(header);
    if (block == nullptr) return;
    if (is_past(block)) fail_unmapped(spec, "the array", block);
}

dlpack::DataType data_type(PyArray_Descr* descr) {
    const auto bits = static_cast<std::uint8_t>(8 * PyDataType_ELSIZE(descr));
    if (const SpecialType* special = special_type(descr))
        return {static_cast<std::uint8_t>(special->dlpack_code), bits, 1};
    switch (descr->kind) {
        case 'i':
            return {dlpack::integer, bits, 1};
        case 'u':
            return {dlpack::unsigned_integer, bits, 1};
        case 'f':
            return {dlpack::floating, bits, 1};
        case 'c':
            return {dlpack::complex, bits, 1};
        case 'b':
            return {dlpack::boolean, 8, 1};
        default:
            PyErr_Format(PyExc_BufferError,
                         "DLPack has no name for dtype %S; use x.view() with a dtype of numbers.",
                         reinterpret_cast<PyObject*>(descr));
            throw Raised{};
    }
}

/// A tensor, and the arrays to which it points.
template <class Managed> struct Exported {
    Managed managed{};
    std::vector<std::int64_t> numbers;
    PyObject* owner = nullptr;

    static void release(Managed* managed) {
        auto* exported = static_cast<Exported*>(managed->context);
        if (Py_IsInitialized()) {  // otherwise the process ends, and the memory with it
            const EnsureGil held;
            Py_DECREF(exported->owner);
        }
        delete exported;
    }
};

template <class Managed> PyObject* capsule(PyObject* self, const char* name) {
    PyArrayObject* header = of(self);
    const int nd = PyArray_NDIM(header);
    const auto item = static_cast<npy_intp>(item_bytes(header));
    auto exported = std::make_unique<Exported<Managed>>();
    auto& numbers = exported->numbers;
    for (int i = 0; i < nd; ++i) numbers.push_back(PyArray_DIMS(header)[i]);
    for (int i = 0; i < nd; ++i) {
        if (PyArray_STRIDES(header)[i] % item != 0) {
            PyErr_SetString(PyExc_BufferError, "DLPack's strides count elements; this view's do not.");
            throw Raised{};
        }
        numbers.push_back(PyArray_STRIDES(header)[i] / item);
    }
    dlpack::Tensor& tensor = exported->managed.tensor;
    tensor.data = PyArray_DATA(header);
    tensor.device = {dlpack::on_cuda, g.device};
    tensor.ndim = nd;
    tensor.dtype = data_type(PyArray_DESCR(header));
    tensor.shape = numbers.data();
    tensor.strides = numbers.data() + nd;
    exported->managed.context = exported.get();
    exported->managed.deleter = &Exported<Managed>::release;
    if constexpr (requires { exported->managed.version; }) exported->managed.version = {1, 0};
    const auto destroy = [](PyObject* unused) {
        const char* called = PyCapsule_GetName(unused);
        auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(unused, called));
        const bool consumed = std::string_view(called).starts_with("used");
        if (managed != nullptr && !consumed) managed->deleter(managed);
    };
    Ref made(PyCapsule_New(&exported->managed, name, destroy));
    Py_INCREF(self);
    exported.release()->owner = self;
    return made.release();
}

PyObject* to_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
    return guarded([&]() -> PyObject* {
        static const char* const words[] = {"stream", "max_version", "dl_device", "copy", nullptr};
        PyObject* stream = nullptr;
        PyObject* version = nullptr;
        PyObject* device = nullptr;
        PyObject* copy = nullptr;
        if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", const_cast<char**>(words), &stream,
                                         &version, &device, &copy))
            throw Raised{};
        if (copy == Py_True) {
            PyErr_SetString(PyExc_BufferError, "a DeviceArray is shared, never copied; copy what you got.");
            throw Raised{};
        }
        if (given(device)) {
            int type = 0;
            int id = 0;
            if (!PyArg_ParseTuple(device, "ii", &type, &id)) throw Raised{};
            if (type != dlpack::on_cuda || id != g.device) {
                PyErr_Format(PyExc_BufferError, "the array is on device (2, %d), not (%d, %d).", g.device,
                             type, id);
                throw Raised{};
            }
        }
        check_shareable(Spec{"DeviceArray.__dlpack__"}, of(self));
        const bool versioned =
            given(version) && PyTuple_Check(version) && PyLong_AsLong(PyTuple_GetItem(version, 0)) >= 1;
        return versioned ? capsule<dlpack::ManagedVersioned>(self, "dltensor_versioned")
                         : capsule<dlpack::Managed>(self, "dltensor");
    });
}

PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("ii", dlpack::on_cuda, g.device); }

PyObject* cuda_array_interface(PyObject* self, void*) {
    return guarded([&]() -> PyObject* {
        PyArrayObject* header = of(self);
        check_shareable(Spec{"DeviceArray.__cuda_array_interface__"}, header);
        if (special_type(PyArray_DESCR(header)) != nullptr) {
            PyErr_Format(PyExc_AttributeError,
                         "__cuda_array_interface__ has no name for dtype %S; use x.torch(), or DLPack.",
                         reinterpret_cast<PyObject*>(PyArray_DESCR(header)));
            throw Raised{};
        }
        const Ref typestr(PyObject_GetAttrString(reinterpret_cast<PyObject*>(PyArray_DESCR(header)), "str"));
        const Ref shape(shape_tuple(self));
        const Ref strides =
            c_contiguous(header)
                ? Ref::borrow(Py_None)
                : Ref(PyArray_IntTupleFromIntp(PyArray_NDIM(header), PyArray_STRIDES(header)));
        const bool empty = size_of(header) == 0;
        return Py_BuildValue(
            "{sO sO sO s(KO) sO si}", "shape", shape.get(), "typestr", typestr.get(), "strides",
            strides.get(), "data",
            empty ? 0ULL
                  : static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(PyArray_DATA(header))),
            Py_False, "stream", Py_None, "version", 3);
    });
}

/// x.cupy() and similar methods are functions of atoll._device.
template <const char* const& Name> PyObject* by_module(PyObject* self, PyObject*) {
    return guarded([&] { return PyObject_CallMethod(device_module(), Name, "O", self); });
}
const char* const to_cupy = "to_cupy";
const char* const to_torch = "to_torch";
const char* const to_buffer = "to_buffer";

PyObject* to_numpy(PyObject* self, PyObject*) {
    return guarded([&] { return contents_of(of(self)).release(); });
}

PyObject* refuse_array(PyObject*, PyObject*) {
    PyErr_SetString(
        PyExc_TypeError,
        "a DeviceArray is in the memory of a GPU, which NumPy cannot read; use x.numpy() for a copy.");
    return nullptr;
}

// ---- attributes

PyObject* get_shape(PyObject* self, void*) { return shape_tuple(self); }
PyObject* get_strides(PyObject* self, void*) {
    return PyArray_IntTupleFromIntp(PyArray_NDIM(of(self)), PyArray_STRIDES(of(self)));
}
PyObject* get_dtype(PyObject* self, void*) {
    return Ref::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(of(self)))).release();
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(PyArray_NDIM(of(self))); }
PyObject* get_size(PyObject* self, void*) { return PyLong_FromSize_t(size_of(of(self))); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(item_bytes(of(self))); }
PyObject* get_nbytes(PyObject* self, void*) {
    return PyLong_FromSize_t(size_of(of(self)) * item_bytes(of(self)));
}
PyObject* get_device(PyObject*, void*) { return PyLong_FromLong(g.device); }
PyObject* get_ptr(PyObject* self, void*) { return PyLong_FromVoidPtr(PyArray_DATA(of(self))); }

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "Lengths of the axes.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from element to element, axis by axis.", nullptr},
    {"dtype", get_dtype, nullptr, "numpy.dtype; of bfloat16 and float8 a field of that name.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of axes.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"device", get_device, nullptr, "Number of the GPU that reaches it, this PE's.", nullptr},
    {"ptr", get_ptr, nullptr, "Address of the first element, on the GPU.", nullptr},
    {"T", transposed, nullptr, "A view with the axes in reverse order.", nullptr},
    {"__cuda_array_interface__", cuda_array_interface, nullptr, "Version 3.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"reshape", reshape, METH_VARARGS,
     "reshape($self, *shape)\n--\n\nReturn a view of another shape; for contiguous arrays. Local.\n\n"
     "Parameters\n----------\n*shape\n    Integers, or one sequence of them; -1 is the axis that follows "
     "from the others.\n\n"
     "Returns\n-------\nDeviceArray\n\n"
     "Raises\n------\nUnsupported\n    The array is not contiguous.\nValueError\n    The sizes differ."},
    {"view", view, METH_O,
     "view($self, dtype, /)\n--\n\nReturn a view with another dtype. Local.\n\n"
     "Parameters\n----------\ndtype\n    As for atoll.empty; its elements divide the last axis without a "
     "rest.\n\n"
     "Returns\n-------\nDeviceArray\n\n"
     "Raises\n------\nDtypeMismatch, ValueError"},
    {"numpy", to_numpy, METH_NOARGS,
     "numpy($self)\n--\n\nReturn a copy in memory of the host; waits for it, but for no stream. Local.\n\n"
     "Returns\n-------\nnumpy.ndarray"},
    {"cupy", by_module<to_cupy>, METH_NOARGS,
     "cupy($self)\n--\n\nReturn the same memory as an array of CuPy. Local.\n\n"
     "Returns\n-------\ncupy.ndarray"},
    {"torch", by_module<to_torch>, METH_NOARGS,
     "torch($self)\n--\n\nReturn the same memory as a tensor of PyTorch. Local.\n\n"
     "Returns\n-------\ntorch.Tensor"},
    {"buffer", by_module<to_buffer>, METH_NOARGS,
     "buffer($self)\n--\n\nReturn the same memory as a buffer of cuda.core; for contiguous arrays. Local.\n\n"
     "Returns\n-------\ncuda.core.Buffer"},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(refuse_array)), METH_VARARGS,
     nullptr},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(to_dlpack)),
     METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nDLPack 1.0, also "
     "without version. Orders nothing: no stream is waited for."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\n(2, number of this PE's GPU)."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_methods, methods},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_array_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(device_array_hash)},
    {Py_nb_bool, reinterpret_cast<void*>(device_array_truth)},
    {Py_tp_getset, attributes},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_tp_doc, const_cast<char*>(
                    R"(A symmetric array in the memory of this PE's GPU, or a view of one.

atoll.zeros(..., device="cuda") and similar functions make it. It has no arithmetic. x.cupy() and
x.torch() return the same memory as arrays of those libraries. Numba and others accept it directly
(__cuda_array_interface__, DLPack). x.numpy() copies it to the host.

Slices, x.reshape(), x.view() and x.T are views. `x[...] = value` copies from the host, or from an
array of the GPU, and waits for the copy. `==` is an error that names the libraries. Every view,
and every array of another library made from it, keeps the memory alive. Free it with atoll.free(x).

atoll.pin(x) also returns a DeviceArray, over memory of the host that kernels can access. Atoll's
functions treat it like x.)")},
    {0, nullptr},
};
PyType_Spec spec{"atoll.DeviceArray", sizeof(DeviceArray), 0,
                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

Ref make_device_array(Ref header) {
    using Allocate = PyObject* (*)(PyTypeObject*, Py_ssize_t);
    auto allocate = reinterpret_cast<Allocate>(PyType_GetSlot(device_array_type, Py_tp_alloc));
    Ref made(allocate(device_array_type, 0));
    reinterpret_cast<DeviceArray*>(made.get())->header = header.release();
    return made;
}

Ref in_library(Ref device_array, Library library) {
    if (library == Library::torch)
        return Ref(PyObject_CallMethod(device_module(), to_torch, "O", device_array.get()));
    if (library == Library::cupy)
        return Ref(PyObject_CallMethod(device_module(), to_cupy, "O", device_array.get()));
    return device_array;
}

void register_device_array(PyObject* module) {
    device_array_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (!device_array_type ||
        PyModule_AddObjectRef(module, "DeviceArray", reinterpret_cast<PyObject*>(device_array_type)) < 0)
        throw Raised{};
}

}  // namespace atl::python
