#include "arrays/adopt.hpp"
#include "arrays/special_types.hpp"
#include "calls/names.hpp"

#include "core/job/job_state.hpp"
#include "gpu/heap/device_memory.hpp"

namespace atl::python {
namespace {

PyObject* descr_object(PyArrayObject* array) { return reinterpret_cast<PyObject*>(PyArray_DESCR(array)); }

/// The order of NumPy's kinds by generality, for lists of Python numbers.
int kind_rank(char kind) {
    switch (kind) {
        case 'b':
            return 0;
        case 'i':
        case 'u':
            return 1;
        case 'f':
            return 2;
        case 'c':
            return 3;
        default:
            return 4;
    }
}

}  // namespace

Ref shape_of(PyArrayObject* array) {
    return Ref(PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_DIMS(array)));
}

void refuse_masked(PyObject* array) {
    const Ref name(PyUnicode_FromString("numpy.ma"));
    PyObject* const module = PyImport_GetModule(name.get());
    if (module == nullptr) {  // it is not imported, so there are no masked arrays
        if (PyErr_Occurred() != nullptr) throw Raised{};
        return;
    }
    const Ref held(module), masked(PyObject_GetAttrString(module, "MaskedArray"));
    const int is_masked = PyObject_IsInstance(array, masked.get());
    if (is_masked == 1)
        PyErr_SetString(PyExc_TypeError, "a masked array would lose its mask; pass x.filled(value)");
    if (is_masked != 0) throw Raised{};
}

/// Throws for values that have another way: distributed arrays, objects in a message, and the None of a PE
/// that is not the root.
static void fail_with_cure(const Spec& spec, const char* which, PyObject* value) {
    const std::string_view call = spec.name;
    const char* cure = "";
    if (PyObject_TypeCheck(value, g.boxes_class))
        cure = call == "free" ? "a distributed array; free it by x.free()."
                              : "a distributed array. Assign to a part of it, x[box] = values; or pass "
                                "x.local, the part of this PE.";
    else if (value == Py_None && (call == "scatter" || call == "broadcast"))
        cure = call == "scatter"
                   ? "None; every PE passes an array of the same shape if dst is left out. Or pass dst: "
                     "scatter(part, data), where data may be None on PEs other than the root."
                   : "None; every PE passes an array of the same shape if dst is left out. Or pass an array "
                     "of that shape as both: broadcast(x, x). For objects: bcast_object(data).";
    else if (call == "send")
        cure =
            "no array, list or number. For other objects: atoll.bcast_object, gather_object and "
            "alltoall_object; or send np.frombuffer(pickle.dumps(x), np.uint8).";
    if (*cure == '\0') return;
    PyErr_Format(PyExc_TypeError, "%s(): %s is %s", spec.name, which, cure);
    throw Raised{};
}

void fail_not_array(const Spec& spec, const char* which, PyObject* value) {
    if (value == nullptr) value = Py_None;
    fail_with_cure(spec, which, value);
    if (const std::string why = why_not_adopted(value); !why.empty()) {
        PyErr_Clear();
        fail(ErrorCode::not_symmetric, "%s(): %s is %s.", spec.name, which, why.c_str());
    }
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
    if (PyObject_HasAttrString(value, "__dlpack__") != 0)
        PyErr_Format(PyExc_TypeError,
                     "%s(): %s is %R, whose memory is known by __dlpack__ alone; pass what from_dlpack() of "
                     "NumPy, CuPy or PyTorch makes of it.",
                     spec.name, which, type);
    else
        PyErr_Format(PyExc_TypeError,
                     "%s(): %s is %R, %R; pass a NumPy array (atoll.zeros() and similar functions make "
                     "symmetric ones)%s.",
                     spec.name, which, value, type,
                     spec.takes_device_arrays ? ", or an array of this PE's GPU (any with "
                                                "__cuda_array_interface__)"
                                              : "");
    throw Raised{};
}

void fail_read_only(const Spec& spec, const char* which, PyArrayObject* array) {
    fail(ErrorCode::invalid_argument,
         "%s(): %s (shape %S, dtype %S) is read-only, but this call writes it; pass a writeable array.",
         spec.name, which, shape_of(array).get(), descr_object(array));
}

void fail_freed(const Spec& spec, const char* which, const Block* block) {
    const std::string* name = block->parent != nullptr ? block->parent->freed_name : block->freed_name;
    const std::string origin = name != nullptr ? " (" + *name + ")" : std::string();
    fail(ErrorCode::use_after_free,
         "%s(): the memory of %s%s was freed by atoll.free(); allocate another array.", spec.name, which,
         origin.c_str());
}

void check_present(const Spec& spec, const char* which, const Block* block) {
    if (is_unmapped(block)) [[unlikely]]
        fail_unmapped(spec, which, block);
}

void fail_unmapped(const Spec& spec, const char* which, const Block* block) {
    if (is_freed(block)) fail_freed(spec, which, block);
    fail(ErrorCode::use_after_free, "%s(): %s belongs to a job that was finalized%s; allocate it again.",
         spec.name, which,
         g.rejoins ? ", since the pool's PEs leave their job after a call that failed on some of them" : "");
}

void fail_atomic_dtype(const Spec& spec, PyArrayObject* dst, bool integers_only) {
    fail(ErrorCode::dtype_mismatch, "%s(): dst has dtype %S; this takes 32- and 64-bit integers%s.",
         spec.name, dtype_name(dst).get(), integers_only ? "" : ", float32 and float64");
}

void fail_dtypes(const Spec& spec, const char* a, PyArrayObject* x, const char* b, PyArrayObject* y) {
    if (on_device(y))
        fail(ErrorCode::dtype_mismatch,
             "%s(): %s has dtype %S, but %s has %S. They must be equal, nothing is cast: make %s with the "
             "dtype of %s, or convert it by CuPy or PyTorch. (An atoll.DeviceArray has %s.cupy() and "
             "%s.torch().)",
             spec.name, b, dtype_name(y).get(), a, dtype_name(x).get(), b, a, b, b);
    if (special_type(PyArray_DESCR(x)) != nullptr)
        fail(ErrorCode::dtype_mismatch,
             "%s(): %s has dtype %S, but %s has %S. They must be equal, nothing is cast: convert it by "
             "ml_dtypes or PyTorch, or assign to an atoll.DeviceArray, x[...] = %s, which rounds.",
             spec.name, b, dtype_name(y).get(), a, dtype_name(x).get(), b);
    fail(
        ErrorCode::dtype_mismatch,
        "%s(): %s has dtype %S, but %s has %S; they must be equal, nothing is cast: use %s.astype(%s.dtype).",
        spec.name, b, dtype_name(y).get(), a, dtype_name(x).get(), b, a);
}

void fail_output_dtype(const Spec& spec, const char* input, PyArrayObject* x, const char* output,
                       PyArrayObject* y) {
    fail(ErrorCode::dtype_mismatch,
         "%s(): %s has dtype %S, but %s has %S; they must be equal, nothing is cast: make %s with "
         "dtype=%s.dtype.",
         spec.name, output, dtype_name(y).get(), input, dtype_name(x).get(), output, input);
}

/// Sentences that name the symmetric arrays of an error: " dst: the float64 array of shape (8,) allocated at
/// ring.py:12."
static std::string origins_of(std::initializer_list<std::pair<const char*, PyArrayObject*>> arrays) {
    std::string text;
    for (const auto& [which, array] : arrays) {
        const Block* block = block_of(array);
        const std::string name = block != nullptr && !block->foreign ? array_name(block->address) : "";
        if (!name.empty()) text += std::string(" ") + which + ": " + name + ".";
    }
    return text;
}

void fail_shapes(const Spec& spec, const char* a, PyArrayObject* x, const char* b, PyArrayObject* y) {
    const std::size_t n = size_of(x);
    const std::size_t m = size_of(y);
    const std::string origins = origins_of({{a, x}, {b, y}});
    if (n == m)
        fail(ErrorCode::shape_mismatch,
             "%s(): %s has shape %S, but %s has %S; they have as many elements, so reshape one of them.%s",
             spec.name, a, shape_of(x).get(), b, shape_of(y).get(), origins.c_str());
    fail(ErrorCode::shape_mismatch,
         "%s(): %s has shape %S (%zu elements), but %s has %S (%zu); pass arrays of one shape, e.g. a "
         "slice.%s",
         spec.name, a, shape_of(x).get(), n, b, shape_of(y).get(), m, origins.c_str());
}

void check_dtype_slow(const Spec& spec, const char* which, PyArrayObject* array) {
    PyArray_Descr* descr = PyArray_DESCR(array);
    if (PyDataType_REFCHK(descr))
        fail(ErrorCode::dtype_mismatch,
             "%s(): %s has dtype %S, whose elements are Python objects; these mean nothing in another "
             "process. Use a dtype of numbers, or atoll.bcast_object and gather_object for set-up.",
             spec.name, which, descr_object(array));
    if (!PyArray_ISNBO(descr->byteorder))
        fail(ErrorCode::dtype_mismatch,
             "%s(): %s has dtype %S, whose byte order is not this machine's; %s: "
             "%s.%s(%s.dtype.newbyteorder('=')).",
             spec.name, which, descr_object(array),
             on_device(array) ? "take its bytes as they are" : "convert it", which,
             on_device(array) ? "view" : "astype", which);
}

bool same_dtype_slow(PyArrayObject* a, PyArrayObject* b) {
    return PyArray_EquivTypes(PyArray_DESCR(a), PyArray_DESCR(b)) != 0 ||
           same_special(PyArray_DESCR(a), PyArray_DESCR(b));
}

bool same_shape_slow(PyArrayObject* a, PyArrayObject* b) {
    int i = 0;
    int k = 0;
    for (;; ++i, ++k) {
        while (i < PyArray_NDIM(a) && PyArray_DIMS(a)[i] == 1) ++i;
        while (k < PyArray_NDIM(b) && PyArray_DIMS(b)[k] == 1) ++k;
        if (i == PyArray_NDIM(a) || k == PyArray_NDIM(b)) return i == PyArray_NDIM(a) && k == PyArray_NDIM(b);
        if (PyArray_DIMS(a)[i] != PyArray_DIMS(b)[k]) return false;
    }
}

bool is_ordinary_of_gpu(PyArrayObject* array, const char* low) {
    const Block* block = block_of(array);
    if (block == nullptr || !block->foreign || is_past(block) || g.job == nullptr) return false;
    const gpu::DeviceMemory* device = g.job->state().devices().memory();
    return device != nullptr && !device->in_window(low);
}

void check_symmetric_slow(const Spec& spec, const char* which, PyArrayObject* array, const char* low,
                          std::size_t bytes) {
    const Block* block = block_of(array);
    current(spec.name);
    if (block != nullptr && is_past(block)) fail_unmapped(spec, which, block);
    if (block != nullptr && block->foreign) {
        if (bytes == 0 || g.job->is_symmetric(low, bytes)) return;
        try {
            g.job->check_symmetric(low, bytes);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::use_after_free) fail_freed(spec, which, block);
        }
        fail(ErrorCode::not_symmetric,
             "%s(): %s (shape %S) is in the memory of a GPU, but not in this PE's symmetric memory. Allocate "
             "it with atoll.zeros(..., device=\"cuda\") or a similar function, on every PE. (Views of such "
             "an array are "
             "symmetric; results of operations, and what atoll.peer and global_view return, are not.)",
             spec.name, which, shape_of(array).get());
    }
    if (block != nullptr) {
        if (block->parent != nullptr)
            fail(ErrorCode::not_symmetric,
                 "%s(): %s is a view of other PEs' memory (atoll.peer, atoll.global_view); pass this "
                 "PE's own array and name the PE in the call.",
                 spec.name, which);
        if (bytes == 0) return;
        const std::string named = array_name(block->address);
        fail(ErrorCode::not_symmetric,
             "%s(): %s is a view that reaches outside its symmetric array. It spans bytes %zd to %zd of "
             "the %zu of %s; correct its shape and strides.",
             spec.name, which, static_cast<Py_ssize_t>(low - block->address),
             static_cast<Py_ssize_t>(low - block->address) + static_cast<Py_ssize_t>(bytes), block->bytes,
             named.empty() ? "its block" : named.c_str());
    }
    // Views that lost their base (through a memoryview or another library) are recognized by their address
    // alone.
    if (g.job->is_symmetric(low, bytes)) return;
    fail(ErrorCode::not_symmetric,
         "%s(): %s (shape %S, dtype %S) is an ordinary array; here it must be in symmetric memory. Allocate "
         "it with atoll.zeros() or a similar function, on every PE. (Slices of such an array are symmetric; "
         "copies, "
         "such as x[[0, 1]], x.copy() and x + 1, are not.)",
         spec.name, which, shape_of(array).get(), descr_object(array));
}

Extent extent_of_strided(PyArrayObject* array) noexcept {
    char* low = PyArray_BYTES(array);
    std::size_t span = item_bytes(array);
    for (int i = 0; i < PyArray_NDIM(array); ++i) {
        const npy_intp dim = PyArray_DIMS(array)[i];
        if (dim == 0) return {PyArray_BYTES(array), 0};
        const npy_intp reach = (dim - 1) * PyArray_STRIDES(array)[i];
        if (reach < 0) low += reach;
        span += static_cast<std::size_t>(reach < 0 ? -reach : reach);
    }
    return {low, span};
}

char* element_at(PyArrayObject* array, Py_ssize_t index) noexcept {
    const auto size = static_cast<Py_ssize_t>(size_of(array));
    if (index < 0) index += size;
    if (index < 0 || index >= size) return nullptr;
    char* element = PyArray_BYTES(array);
    for (int i = PyArray_NDIM(array) - 1; i >= 0; --i) {
        const npy_intp dim = PyArray_DIMS(array)[i];
        element += (index % dim) * PyArray_STRIDES(array)[i];
        index /= dim;
    }
    return element;
}

void fail_not_one(const Spec& spec, const char* which, PyArrayObject* array, bool may_choose) {
    if (size_of(array) == 0) fail_index(spec, which, array, 0);
    fail(ErrorCode::shape_mismatch, "%s(): %s has %zu elements (shape %S), but this call takes one; pass %s.",
         spec.name, which, size_of(array), shape_of(array).get(),
         may_choose ? "index=, such as index=0, or a slice of length 1" : "a slice of length 1");
}

void fail_index(const Spec& spec, const char* which, PyArrayObject* array, Py_ssize_t index) {
    PyErr_Format(PyExc_IndexError, "%s(): index %zd is out of bounds for %s of %zu elements (shape %S).",
                 spec.name, index, which, size_of(array), shape_of(array).get());
    throw Raised{};
}

Ref loose_source(const Spec& spec, const char* which, PyObject* value) {
    const bool is_loose =
        value != nullptr && (is_scalar(value) || PyList_Check(value) || PyTuple_Check(value));
    if (!is_loose) fail_not_array(spec, which, value);
    return Ref(PyArray_FromAny(value, nullptr, 0, 0, NPY_ARRAY_CARRAY, nullptr));
}

void hint_swapped(PyObject* other) {
    if (!is_array(other) || block_of(as_array(other)) == nullptr ||
        PyErr_ExceptionMatches(exception_class(ErrorCode::not_symmetric)) == 0)
        return;
    PyObject *kind = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    PyErr_Format(kind, "%S The arguments may be swapped: the target comes first.", value);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

Ref source_like(const Spec& spec, const char* which, PyObject* value, const char* like_name,
                PyArrayObject* like) {
    if (is_array(value)) {
        PyArrayObject* array = as_array(value);
        check_readable(spec, which, array);
        check_dtype(spec, which, array);
        if (!same_dtype(like, array)) fail_dtypes(spec, like_name, like, which, array);
        if (c_contiguous(array)) return Ref::borrow(value);
        return Ref(PyArray_NewCopy(array, NPY_CORDER));
    }
    if (!given(value) || !PySequence_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value) ||
        !why_not_adopted(value).empty())
        fail_not_array(spec, which, value);
    Ref loose(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
    const PyArray_Descr* want = PyArray_DESCR(like);
    if (size_of(loose.array()) != 0 && kind_rank(PyArray_DESCR(loose.array())->kind) > kind_rank(want->kind))
        fail(ErrorCode::dtype_mismatch,
             "%s(): the numbers of %s have dtype %S, but %s has %S; nothing is cast: use np.array(%s, "
             "%s.dtype).",
             spec.name, which, dtype_name(loose.array()).get(), like_name, dtype_name(like).get(), which,
             like_name);
    if (special_type(PyArray_DESCR(like)) != nullptr)
        return Ref(PyObject_CallMethod(device_module(), "on_host", "OO", descr_object(like), value));
    Py_INCREF(descr_object(like));
    return Ref(PyArray_FromAny(value, PyArray_DESCR(like), 0, 0, NPY_ARRAY_CARRAY, nullptr));
}

}  // namespace atl::python
