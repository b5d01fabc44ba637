// Recognizes arrays of other libraries by a protocol of their type. The protocol is looked up once for each
// type.
#include "arrays/adopt.hpp"
#include "arrays/dlpack.hpp"
#include "calls/kinds.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace atl::python {
namespace {

/// The protocol by which objects of a type show an array.
enum class Kind : unsigned char {
    nothing,
    device_array,
    torch,
    cupy,
    interface,
    buffer,
    maybe_interface  ///< objects of the type may have the attributes themselves
};

struct Names {
    PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
    PyObject* shape = PyUnicode_InternFromString("shape");
    PyObject* stride = PyUnicode_InternFromString("stride");
    PyObject* strides = PyUnicode_InternFromString("strides");
    PyObject* dtype = PyUnicode_InternFromString("dtype");
    PyObject* get_device = PyUnicode_InternFromString("get_device");
    PyObject* data = PyUnicode_InternFromString("data");
    PyObject* ptr = PyUnicode_InternFromString("ptr");
    PyObject* device_id = PyUnicode_InternFromString("device_id");
    PyObject* interface = PyUnicode_InternFromString("__cuda_array_interface__");
};
const Names& names() {
    static const Names all;
    return all;
}

Ref attribute(PyObject* object, PyObject* name) { return Ref(PyObject_GetAttr(object, name)); }
/// PyObject_CallMethodNoArgs, which the stable ABI lacks.
Ref called(PyObject* object, PyObject* method) {
    return Ref(PyObject_VectorcallMethod(method, &object, 1, nullptr));
}
std::uintptr_t address_of(PyObject* number) {
    const std::uintptr_t address = PyLong_AsSize_t(number);
    if (address == SIZE_MAX && PyErr_Occurred()) throw Raised{};
    return address;
}

/// A class of a module that the program has imported; borrowed, null if the module is not imported.
PyTypeObject* class_of(const char* module, const char* name) {
    PyObject* found = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    PyObject* type = found != nullptr ? PyObject_GetAttrString(found, name) : nullptr;
    PyErr_Clear();
    if (type == nullptr) return nullptr;
    Py_DECREF(type);  // the module keeps it
    return PyType_Check(type) ? reinterpret_cast<PyTypeObject*>(type) : nullptr;
}

Kind find_kind(PyTypeObject* type) {
    if (type == device_array_type) return Kind::device_array;
    if (PyType_IsSubtype(type, &PyArray_Type)) return Kind::nothing;
    const auto is_a = [&](PyTypeObject* base) { return base != nullptr && PyType_IsSubtype(type, base); };
    const auto of_library = [](const char* library, Kind kind) {
        const Ref checked(PyObject_CallMethod(device_module(), "check_version", "s", library));
        return kind;
    };
    if (is_a(class_of("torch", "Tensor"))) return of_library("torch", Kind::torch);
    if (is_a(class_of("cupy", "ndarray"))) return of_library("cupy", Kind::cupy);
    const bool offers = PyObject_HasAttr(reinterpret_cast<PyObject*>(type), names().interface) != 0;
    if (offers) return Kind::interface;
    const Ref module(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
    const char* from = PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8AndSize(module.get(), nullptr) : "";
    const bool of_core = std::string_view(from).starts_with("cuda.core");
    const bool is_buffer =
        of_core && PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), "memory_resource") != 0;
    if (is_buffer) return Kind::buffer;
    const Ref dict_offset(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dictoffset__"));
    return PyLong_AsLong(dict_offset.get()) != 0 ? Kind::maybe_interface : Kind::nothing;
}

Kind kind_of_type(PyTypeObject* type) {
    ATOLL_PER_THREAD KindsOfTypes<Kind> known;
    return known.of(type, find_kind);
}

Kind kind_of(PyObject* value) {
    const Kind kind = kind_of_type(Py_TYPE(value));
    if (kind != Kind::maybe_interface) [[likely]]
        return kind;
    return PyObject_HasAttr(value, names().interface) != 0 ? Kind::interface : Kind::nothing;
}

/// NumPy's dtype for another library's dtype objects, which live as long as that library.
PyArray_Descr* descr_for(PyObject* dtype) {
    struct Row {
        PyObject* dtype;
        PyArray_Descr* descr;
    };
    ATOLL_PER_THREAD std::vector<Row> known;
    for (const Row& row : known)
        if (row.dtype == dtype) return row.descr;
    Ref found(PyObject_CallMethod(device_module(), "numpy_dtype", "O", dtype));
    auto* descr = reinterpret_cast<PyArray_Descr*>(found.release());
    Py_INCREF(dtype);
    known.push_back({dtype, descr});
    return descr;
}

struct Lengths {
    npy_intp of[NPY_MAXDIMS];
    int n = 0;

    Lengths() = default;
    explicit Lengths(PyObject* tuple, npy_intp factor = 1) {
        const Ref items(PySequence_Tuple(tuple));
        n = static_cast<int>(PyTuple_Size(items.get()));
        if (n > NPY_MAXDIMS)
            fail(ErrorCode::shape_mismatch, "An array has %d axes; at most %d are taken.", n, NPY_MAXDIMS);
        for (int i = 0; i < n; ++i) of[i] = factor * PyLong_AsSsize_t(PyTuple_GetItem(items.get(), i));
        if (PyErr_Occurred()) throw Raised{};
    }
};

Ref header(std::uintptr_t address, PyArray_Descr* descr, const Lengths& shape, const npy_intp* strides,
           bool writeable = true) {
    auto* data = reinterpret_cast<char*>(address);
    const bool has_elements = std::find(shape.of, shape.of + shape.n, 0) == shape.of + shape.n;
    auto* owner = reinterpret_cast<PyObject*>(block_at(data, has_elements));
    // With null, NumPy would allocate. An array without elements may have any address.
    static char nowhere;
    Ref made = array_over(descr, shape.n, shape.of, strides, data != nullptr ? data : &nowhere, owner);
    PyArray_UpdateFlags(made.array(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
    if (!writeable) PyArray_CLEARFLAGS(made.array(), NPY_ARRAY_WRITEABLE);
    return made;
}

/// PyTorch's table, from 2.10 on; null before, and for another version of it.
const dlpack::ExchangeApi* torch_api() {
    static const dlpack::ExchangeApi* const api = []() -> const dlpack::ExchangeApi* {
        auto* type = reinterpret_cast<PyObject*>(class_of("torch", "Tensor"));
        PyObject* offered =
            type != nullptr ? PyObject_GetAttrString(type, "__dlpack_c_exchange_api__") : nullptr;
        const void* found = offered != nullptr && PyCapsule_CheckExact(offered)
                                ? PyCapsule_GetPointer(offered, "dlpack_exchange_api")
                                : nullptr;
        PyErr_Clear();
        Py_XDECREF(offered);  // the class keeps it
        const auto* known = static_cast<const dlpack::ExchangeApi*>(found);
        return known != nullptr && known->version.major == 1 ? known : nullptr;
    }();
    return api;
}

/// NumPy's dtype for DLPack's, or null.
PyArray_Descr* descr_for(dlpack::DataType type) {
    static PyArray_Descr* known[16][17] = {};  // by code, and by bytes
    const unsigned bytes = type.bits / 8u;
    if (type.lanes != 1 || type.code >= 16 || bytes > 16 || type.bits % 8 != 0) return nullptr;
    PyArray_Descr*& descr = known[type.code][bytes];
    if (descr == nullptr) {
        const Ref found(PyObject_CallMethod(device_module(), "dtype_of_dlpack", "ii", type.code, type.bits));
        if (found.get() == Py_None) return nullptr;
        descr = reinterpret_cast<PyArray_Descr*>(Ref::borrow(found.get()).release());
    }
    return descr;
}

/// Rejects PyTorch's lazy conjugates and negatives: they share their base's memory and set a bit instead of
/// changing it.
void check_carried_out(PyObject* tensor, PyArray_Descr* descr, const Lengths& strides) {
    const bool is_complex = PyTypeNum_ISCOMPLEX(descr->type_num);
    const bool apart = strides.n > 0 && strides.of[strides.n - 1] != PyDataType_ELSIZE(descr);
    if (!is_complex && !(apart && PyTypeNum_ISFLOAT(descr->type_num))) return;
    for (const char* bit : {"is_conj", "is_neg"}) {
        const Ref found(PyObject_CallMethod(tensor, bit, nullptr));
        if (found.get() == Py_True)
            fail(ErrorCode::invalid_argument,
                 "A torch.Tensor is the view of a conjugate that PyTorch has not carried out (%s()); pass "
                 "x.resolve_conj().resolve_neg().",
                 bit);
    }
}

/// Fills `made` without a Python call; false if torch's table does not apply.
bool quick_torch_header(PyObject* tensor, Ref& made) {
    const dlpack::ExchangeApi* api = torch_api();
    dlpack::Tensor t{};
    if (api == nullptr || api->tensor_of == nullptr) return false;
    if (api->tensor_of(tensor, &t) != 0) {
        PyErr_Clear();
        return false;
    }
    if (t.device.type != dlpack::on_cuda || t.device.id != g.device || t.ndim > NPY_MAXDIMS) return false;
    PyArray_Descr* descr = descr_for(t.dtype);
    if (descr == nullptr) return false;
    const auto item = static_cast<npy_intp>(PyDataType_ELSIZE(descr));
    Lengths shape;
    Lengths strides;
    shape.n = t.ndim;
    for (int i = 0; i < t.ndim; ++i) shape.of[i] = t.shape[i];
    for (int i = 0; t.strides != nullptr && i < t.ndim; ++i) strides.of[i] = t.strides[i] * item;
    strides.n = t.strides != nullptr ? t.ndim : 0;
    check_carried_out(tensor, descr, strides);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset;
    made = header(address, descr, shape, t.strides != nullptr || t.ndim == 0 ? strides.of : nullptr);
    return true;
}

Ref torch_header(PyObject* tensor) {
    if (Ref made; quick_torch_header(tensor, made)) return made;
    const Ref device = called(tensor, names().get_device);
    if (PyLong_AsLong(device.get()) != g.device) return {};
    PyArray_Descr* descr = descr_for(attribute(tensor, names().dtype).get());
    const Lengths shape(attribute(tensor, names().shape).get());
    const Lengths strides(called(tensor, names().stride).get(), PyDataType_ELSIZE(descr));
    check_carried_out(tensor, descr, strides);
    return header(address_of(called(tensor, names().data_ptr).get()), descr, shape, strides.of);
}

Ref cupy_header(PyObject* array) {
    const Ref memory = attribute(array, names().data);
    const Ref address = attribute(memory.get(), names().ptr);
    if (address_of(address.get()) != 0 &&
        PyLong_AsLong(attribute(memory.get(), names().device_id).get()) != g.device)
        return {};
    const Ref dtype = attribute(array, names().dtype);
    const Lengths shape(attribute(array, names().shape).get());
    const Lengths strides(attribute(array, names().strides).get());
    if (!PyArray_DescrCheck(dtype.get())) return {};
    return header(address_of(address.get()), reinterpret_cast<PyArray_Descr*>(dtype.get()), shape,
                  strides.of);
}

/// Makes a header from __cuda_array_interface__, version 2 or 3.
Ref interface_header(PyObject* object) {
    const Ref found = attribute(object, names().interface);
    const auto entry = [&](const char* key) {
        PyObject* value = PyDict_Check(found.get()) ? PyDict_GetItemString(found.get(), key) : nullptr;
        return value == Py_None ? nullptr : value;
    };
    PyObject* data = entry("data");
    if (data == nullptr || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || entry("shape") == nullptr ||
        entry("typestr") == nullptr || (entry("mask") != nullptr))
        fail(ErrorCode::invalid_argument,
             "%R: its __cuda_array_interface__ lacks data, shape or typestr, or has a mask.",
             reinterpret_cast<PyObject*>(Py_TYPE(object)));
    PyArray_Descr* descr = nullptr;
    if (!PyArray_DescrConverter(entry("typestr"), &descr)) throw Raised{};
    const Ref held(reinterpret_cast<PyObject*>(descr));
    const Lengths shape(entry("shape"));
    const bool writeable = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 0;
    const std::uintptr_t address = address_of(PyTuple_GetItem(data, 0));
    if (entry("strides") == nullptr) return header(address, descr, shape, nullptr, writeable);
    return header(address, descr, shape, Lengths(entry("strides")).of, writeable);
}

/// Makes a header of bytes from a cuda.core.Buffer.
Ref buffer_header(PyObject* buffer) {
    const Ref handle(PyObject_GetAttrString(buffer, "handle"));
    const Ref number(PyNumber_Long(handle.get()));
    // a buffer without memory resource has none
    PyObject* known = PyObject_GetAttrString(buffer, "device_id");
    PyErr_Clear();
    const Ref on = known != nullptr ? Ref(known) : Ref::borrow(Py_None);
    const Ref size(PyObject_GetAttrString(buffer, "size"));
    if (on.get() != Py_None && PyLong_AsLong(on.get()) != g.device) return {};
    Lengths shape;
    shape.n = 1;
    shape.of[0] = PyLong_AsSsize_t(size.get());
    if (PyErr_Occurred()) throw Raised{};
    static PyArray_Descr* const bytes = PyArray_DescrFromType(NPY_UINT8);
    return header(address_of(number.get()), bytes, shape, nullptr);
}

}  // namespace

Ref header_for(PyObject* value, Library& library) {
    switch (kind_of(value)) {
        case Kind::device_array:
            library = Library::atoll;
            return Ref::borrow(reinterpret_cast<DeviceArray*>(value)->header);
        case Kind::torch:
            library = Library::torch;
            return torch_header(value);
        case Kind::cupy:
            library = Library::cupy;
            return cupy_header(value);
        case Kind::interface:
            library = Library::other;
            return interface_header(value);
        case Kind::buffer:
            library = Library::other;
            return buffer_header(value);
        default:
            return {};
    }
}

void adopt(PyObject** values, int n, Adopted& adopted) {
    for (int i = 0; i < n; ++i) {
        PyObject* value = values[i];
        if (value == nullptr || value == Py_None || Py_TYPE(value) == g.ndarray || PyLong_CheckExact(value) ||
            PyFloat_CheckExact(value) || PyUnicode_CheckExact(value))
            continue;
        Library library = Library::none;
        Ref header = header_for(value, library);
        if (!header) continue;
        adopted.of_torch |= library == Library::torch;
        adopted.of_cupy |= library == Library::cupy;
        const bool known = adopted.library == Library::torch || adopted.library == Library::cupy;
        if (!known && (adopted.library != Library::other || library != Library::atoll))
            adopted.library = library;
        values[i] = header.get();
        adopted.passed[adopted.n] = value;
        adopted.headers[adopted.n++] = header.release();
    }
}

std::string why_not_adopted(PyObject* value) {
    const Kind kind = kind_of(value);
    if (kind == Kind::nothing) return {};
    if (kind == Kind::torch) {
        const Ref device = called(value, names().get_device);
        if (PyLong_AsLong(device.get()) < 0)
            return "a torch.Tensor in memory of the host; pass x.numpy(), which shares it";
    }
    if (!g.has_device)
        return "in the memory of a GPU, where nothing is symmetric yet: allocate it with "
               "atoll.zeros(..., device=\"cuda\") or a similar function, on every PE";
    if (kind == Kind::torch || kind == Kind::cupy) {
        Library library{};
        if (!header_for(value, library))
            return "on another GPU than this PE's symmetric memory, which is on GPU " +
                   std::to_string(g.device) + "; copy it there first";
    }
    return "in the memory of a GPU; this function takes memory of the host only: pass x.numpy(), or "
           "x.get() in CuPy, a copy";
}

void* current_stream_of(Library library) {
    if (library == Library::torch) {
        const dlpack::ExchangeApi* api = torch_api();
        void* stream = nullptr;
        if (api != nullptr && api->current_stream != nullptr &&
            api->current_stream(dlpack::on_cuda, g.device, &stream) == 0)
            return stream;
        PyErr_Clear();
    }
    if (library == Library::cupy) {
        static PyObject* const current =
            Ref(PyObject_CallMethod(device_module(), "cupy_current_stream", nullptr)).release();
        const Ref stream(PyObject_CallNoArgs(current));
        return reinterpret_cast<void*>(address_of(attribute(stream.get(), names().ptr).get()));
    }
    const char* name = library == Library::torch ? "torch" : nullptr;
    const Ref handle(PyObject_CallMethod(device_module(), "current_stream", "zi", name, g.device));
    return reinterpret_cast<void*>(address_of(handle.get()));
}

PyObject* device_module() {
    static PyObject* module = nullptr;
    if (module == nullptr) module = PyImport_ImportModule("atoll._device");
    if (module == nullptr) throw Raised{};
    return module;
}

}  // namespace atl::python
