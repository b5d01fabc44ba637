// The argument stream=: the type of the object is classified once, then the handle is read from the object.
#include "calls/kinds.hpp"
#include "gpu/stream_cache.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace atl::python {
namespace {

/// The protocol by which a stream type exposes its CUDA handle.
enum class Kind : unsigned char { torch, cupy, protocol, numba, torch_of_any_device, unknown };

bool has(PyTypeObject* type, const char* name) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), name) != 0;
}

Kind find_kind(PyTypeObject* type) {
    return has(type, "cuda_stream")                                   ? Kind::torch
           : has(type, "__cuda_stream__")                             ? Kind::protocol
           : has(type, "ptr") || has(type, "use")                     ? Kind::cupy
           : has(type, "async_done") || has(type, "auto_synchronize") ? Kind::numba
           : has(type, "stream_id") && has(type, "device_index")      ? Kind::torch_of_any_device
                                                                      : Kind::unknown;
}

Kind kind_of(PyTypeObject* type) {
    ATOLL_PER_THREAD KindsOfTypes<Kind> known;
    return known.of(type, find_kind);
}

[[noreturn]] void fail_stream(const Spec& spec, PyObject* stream) {
    PyErr_Clear();
    fail(ErrorCode::invalid_argument,
         "%s(): stream is %R. Pass None (the call blocks the host), \"current\", an integer handle, or a "
         "stream "
         "of cuda.core, CuPy, PyTorch or Numba (anything with __cuda_stream__).",
         spec.name, stream);
}

void* handle_from(const Spec& spec, PyObject* stream, PyObject* number) {
    if (number == nullptr) fail_stream(spec, stream);
    const Ref held(number);
    if (number == Py_None) return nullptr;
    const Ref value(PyNumber_Long(number));
    const std::size_t handle = PyLong_AsSize_t(value.get());  // rejects negative ones
    if (PyErr_Occurred()) fail_stream(spec, stream);
    return reinterpret_cast<void*>(handle);
}

/// Converts torch.Stream to torch.cuda.Stream, which alone shows its handle. torch.compile passes
/// torch.Stream to a function after a break of its graph.
PyObject* as_cuda_stream(const Spec& spec, PyObject* stream) {
    const Ref keywords(PyDict_New());
    for (const char* name : {"stream_id", "device_index", "device_type"}) {
        const Ref value(PyObject_GetAttrString(stream, name));
        if (PyDict_SetItemString(keywords.get(), name, value.get()) != 0) fail_stream(spec, stream);
    }
    const Ref cuda(PyImport_ImportModule("torch.cuda"));
    const Ref type(PyObject_GetAttrString(cuda.get(), "Stream"));
    const Ref nothing(PyTuple_New(0));
    return PyObject_Call(type.get(), nothing.get(), keywords.get());
}

bool is_of_cuda(PyObject* stream) {
    const Ref device(PyObject_GetAttrString(stream, "device"));
    const Ref type(PyObject_GetAttrString(device.get(), "type"));
    return PyUnicode_Check(type.get()) && PyUnicode_CompareWithASCIIString(type.get(), "cuda") == 0;
}

void* handle_of(const Spec& spec, PyObject* stream) {
    if (PyLong_Check(stream) && !PyBool_Check(stream)) {
        Py_INCREF(stream);
        return handle_from(spec, stream, stream);
    }
    switch (kind_of(Py_TYPE(stream))) {
        case Kind::torch:
            return handle_from(spec, stream, PyObject_GetAttrString(stream, "cuda_stream"));
        case Kind::cupy:
            return handle_from(spec, stream, PyObject_GetAttrString(stream, "ptr"));
        case Kind::protocol: {
            // A method that returns a tuple (version, handle). In early versions the tuple was an attribute.
            Ref found(PyObject_GetAttrString(stream, "__cuda_stream__"));
            if (PyCallable_Check(found.get())) found = Ref(PyObject_CallNoArgs(found.get()));
            if (!PyTuple_Check(found.get()) || PyTuple_Size(found.get()) < 2) fail_stream(spec, stream);
            return handle_from(spec, stream, Ref::borrow(PyTuple_GetItem(found.get(), 1)).release());
        }
        case Kind::numba: {
            const Ref handle(PyObject_GetAttrString(stream, "handle"));
            PyObject* value = PyObject_GetAttrString(handle.get(), "value");  // a ctypes pointer
            if (value == nullptr) PyErr_Clear();
            return handle_from(spec, stream, value != nullptr ? value : Ref::borrow(handle.get()).release());
        }
        case Kind::torch_of_any_device: {
            if (!is_of_cuda(stream)) fail_stream(spec, stream);
            const Ref same(as_cuda_stream(spec, stream));
            return handle_from(spec, stream, PyObject_GetAttrString(same.get(), "cuda_stream"));
        }
        default:
            fail_stream(spec, stream);
    }
}

}  // namespace

StreamArg stream_slow(const Spec& spec, PyObject* stream, Library library) {
    // The object used last. Holding it prevents reuse of its address.
    ATOLL_PER_THREAD PyObject* last = nullptr;
    ATOLL_PER_THREAD void* last_handle = nullptr;
    if (stream == last && !PyLong_CheckExact(stream)) return {true, last_handle};
    if (PyUnicode_Check(stream)) {
        if (PyUnicode_CompareWithASCIIString(stream, "current") != 0) fail_stream(spec, stream);
        return {true, current_stream_of(library)};
    }
    void* handle = handle_of(spec, stream);
    Py_INCREF(stream);
    PyObject* const before = std::exchange(last, stream);
    Py_XDECREF(before);
    last_handle = handle;
    return {true, handle};
}

void finish_current(const Adopted& adopted) {
    for (const Library library : {Library::torch, Library::cupy}) {
        if (!(library == Library::torch ? adopted.of_torch : adopted.of_cupy)) continue;
        const StreamArg stream{true, current_stream_of(library)};
        const StreamContext on = stream_context(current("atoll").context(), stream);
        ReleaseGil released(true);
        on.synchronize();
    }
}

const StreamContext& stream_context(const Context& ctx, StreamArg stream) {
    ATOLL_PER_THREAD std::optional<StreamContext> made;
    ATOLL_PER_THREAD const core::ContextState* of = nullptr;
    ATOLL_PER_THREAD void* handle = nullptr;
    ATOLL_PER_THREAD std::uint64_t epoch = 0;
    if (made && of == &ctx.state() && handle == stream.handle && epoch == g.epoch) return *made;
    made.reset();
    made.emplace(ctx, Stream{stream.handle});
    // Another context may be destroyed, and its address reused for one of another team.
    of = &ctx == g.context ? &ctx.state() : nullptr;
    handle = stream.handle;
    epoch = g.epoch;
    return *made;
}

const StreamTeam& stream_team(const Team& team, StreamArg stream) {
    ATOLL_PER_THREAD std::unique_ptr<StreamTeam> made;
    ATOLL_PER_THREAD const core::TeamState* of = nullptr;
    ATOLL_PER_THREAD void* handle = nullptr;
    ATOLL_PER_THREAD std::uint64_t epoch = 0;
    if (made && of == &team.state() && handle == stream.handle && epoch == g.epoch) return *made;
    made = std::make_unique<StreamTeam>(team, Stream{stream.handle});
    of = &team == g.world ? &team.state() : nullptr;
    handle = stream.handle;
    epoch = g.epoch;
    return *made;
}

}  // namespace atl::python
