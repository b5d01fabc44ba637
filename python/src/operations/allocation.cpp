// Allocates and frees symmetric arrays, and makes views of other PEs' copies.
#include "arrays/elements.hpp"
#include "arrays/near_address.hpp"
#include "calls/names.hpp"
#include "calls/registry.hpp"
#include "core/job/allocation_call.hpp"
#include "gpu/device.hpp"
#include "pool/pool.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace atl::python {
namespace {

Spec empty_spec, register_spec, free_spec, pin_spec, is_symmetric_spec, peer_spec, global_view_spec,
    addr_spec, pe_accessible_spec;

/// A shape: one integer, or a sequence of them.
struct Shape {
    npy_intp dims[NPY_MAXDIMS];
    int nd = 0;

    Shape(const Spec& spec, PyObject* shape) {
        PyObject* lengths = PyIndex_Check(shape) ? PyTuple_Pack(1, shape) : PySequence_Tuple(shape);
        if (lengths == nullptr) {
            PyErr_Clear();
            fail(ErrorCode::invalid_argument, "%s(): shape is %R; pass an integer or a sequence of integers.",
                 spec.name, shape);
        }
        const Ref items(lengths);
        for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) add(spec, PyTuple_GetItem(items.get(), i));
    }
    void add(const Spec& spec, PyObject* length) {
        if (nd == NPY_MAXDIMS)
            fail(ErrorCode::shape_mismatch, "NumPy's arrays have at most %d axes.", NPY_MAXDIMS);
        dims[nd++] = integer(spec, "a length of the shape", length);
    }
};

std::size_t checked_bytes(const Spec& spec, const Shape& shape, PyArray_Descr* descr) {
    std::size_t bytes = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
    if (bytes == 0)
        fail(ErrorCode::dtype_mismatch, "%s(): dtype %S has no size; name one, such as 'S8'.", spec.name,
             reinterpret_cast<PyObject*>(descr));
    for (int i = 0; i < shape.nd; ++i) {
        if (shape.dims[i] < 0)
            fail(ErrorCode::shape_mismatch, "%s(): a length of the shape is %zd; pass 0 or more.", spec.name,
                 shape.dims[i]);
        if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(shape.dims[i]), &bytes) ||
            bytes > PTRDIFF_MAX)
            fail(ErrorCode::out_of_memory,
                 "%s(): this shape needs more bytes than an address can count; make it smaller.", spec.name);
    }
    return bytes;
}

/// Returns a text such as "int64 array of shape (8,)".
std::string described(PyArray_Descr* descr, int nd, const npy_intp* dims) {
    const Ref shape(PyArray_IntTupleFromIntp(nd, dims));
    const Ref text(
        PyUnicode_FromFormat("%S array of shape %S", reinterpret_cast<PyObject*>(descr), shape.get()));
    const char* data = PyUnicode_AsUTF8AndSize(text.get(), nullptr);
    if (data == nullptr) throw Raised{};
    return data;
}

/// _empty(shape, dtype, fortran, align, atomics, signal, zero, name, on_device)
PyObject* empty_body(const Arguments<9>& a) {
    const std::string name = PyUnicode_AsUTF8AndSize(a[7], nullptr);
    Spec spec;  // not hot: allocation waits for all PEs
    spec.name = name.c_str();
    Job& job = current(spec.name);
    PyArray_Descr* descr = nullptr;
    if (!PyArray_DescrConverter(a[1], &descr)) throw Raised{};
    const Ref held(reinterpret_cast<PyObject*>(descr));
    if (PyDataType_REFCHK(descr) || !PyArray_ISNBO(descr->byteorder))
        fail(ErrorCode::dtype_mismatch, "%s(): dtype %S is not possible in symmetric memory: %s.", spec.name,
             held.get(),
             PyDataType_REFCHK(descr) ? "its elements are Python objects, which mean nothing in another "
                                        "process; to give objects to "
                                        "others, call atoll.bcast_object, gather_object or allgather_object"
                                      : "its byte order is not this machine's; use dtype.newbyteorder('=')");
    const Shape shape(spec, a[0]);
    const std::size_t bytes = checked_bytes(spec, shape, descr);
    const Py_ssize_t align = integer(spec, "align", a[3]);
    if (align < 0)
        fail(ErrorCode::invalid_argument, "%s(): align is %zd; pass a power of two, or 0.", spec.name, align);
    // An array without elements takes a byte, so that it is allocated, compared between PEs and freed like
    // any other.
    const std::size_t asked = std::max<std::size_t>(bytes, 1);
    const bool on_gpu = a[8] != nullptr && PyObject_IsTrue(a[8]) == 1;
    const bool zero = PyObject_IsTrue(a[6]) == 1;
    const AllocationHints hints{PyObject_IsTrue(a[4]) == 1, PyObject_IsTrue(a[5]) == 1,
                                on_gpu ? Memory::device : Memory::host};
    // Allocation, zeroing and the meeting after it are one call in statistics and reports.
    const core::AllocationCall call(job);
    const core::Elements elements(job.world(), elements_of(descr));
    Allocation block;
    try {
        block = on_gpu && zero ? job.allocate_zeroed(asked, static_cast<std::size_t>(align), hints)
                               : job.allocate(asked, static_cast<std::size_t>(align), hints);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument) throw;
        fail(error.code(), "%s(): %s", spec.name, error.what());
    }
    if (on_gpu) note_device(job);
    release_dropped();
    const Ref owner = make_block(block, asked, on_gpu);
    if (zero && !on_gpu) {
        if (!block.zeroed) {
            ReleaseGil released(bytes >= release_gil_bytes);
            std::memset(block.address, 0, bytes);
        }
        job.world().sync();
    }
    Ref made = array_over(descr, shape.nd, shape.dims, nullptr, static_cast<char*>(block.address),
                          owner.get(), PyObject_IsTrue(a[2]) == 1);
    name_memory(block.address, asked, static_cast<std::size_t>(PyDataType_ELSIZE(descr)),
                described(descr, shape.nd, shape.dims));
    return on_gpu ? make_device_array(std::move(made)).release() : made.release();
}

/// The header of x if atoll.register accepts it; throws the reason otherwise.
Ref registrable(PyObject* x, Library& library) {
    Ref header = header_for(x, library);
    if (!header) {
        const std::string why = why_not_adopted(x);
        fail(ErrorCode::invalid_argument,
             "register(): x is %R%s%s; pass an array on this PE's GPU, number %d.",
             reinterpret_cast<PyObject*>(Py_TYPE(x)), why.empty() ? "" : ", ", why.c_str(), g.device);
    }
    check_readable(register_spec, "x", header.array());
    const Block* block = block_of(header.array());
    if (block == nullptr || !block->foreign)
        fail(ErrorCode::invalid_argument,
             "register(): x is symmetric already; pass it to the calls as it is.");
    if (size_of(header.array()) == 0) fail(ErrorCode::invalid_argument, "register(): x has no elements.");
    return header;
}

PyObject* register_body(const Arguments<1>& a) {
    Job& job = current("register");
    if (!g.has_device) {  // opens the PEs' GPUs, so that arrays of this PE's can be recognized
        job.free(job.malloc(1, Memory::device));
        note_device(job);
    }
    Library library = Library::none;
    Ref header;
    try {
        header = registrable(a[0], library);
    } catch (const Raised&) {
        nb::python_error mine;
        try {
            job.register_range(nullptr, 0);  // tells the other PEs that this one cannot
        } catch (const Error&) {
        }
        mine.restore();
        throw Raised{};
    }
    const Extent extent = extent_of(header.array());
    const Job::Registered registered = job.register_range(extent.low, extent.bytes);
    release_dropped();
    const Ref owner = make_registered_block(registered, extent.bytes, a[0]);
    PyArrayObject* old = header.array();
    char* data = static_cast<char*>(registered.address) + (PyArray_BYTES(old) - extent.low);
    Ref made = array_over(PyArray_DESCR(old), PyArray_NDIM(old), PyArray_DIMS(old), PyArray_STRIDES(old),
                          data, owner.get());
    PyArray_UpdateFlags(made.array(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    return in_library(make_device_array(std::move(made)), library).release();
}

std::string named(const void* address) {
    const std::string name = array_name(address);
    return name.empty() ? "the array" : name;
}

PyObject* free_body(const Arguments<1>& a) {
    Job& job = current("free");
    PyArrayObject* array = array_arg(free_spec, "x", a[0]);
    check_readable(free_spec, "x", array);
    Block* block = block_of(array);
    if (block == nullptr || block->foreign)
        fail(ErrorCode::not_symmetric,
             "free(): x is an ordinary array; only what atoll.zeros() and similar functions returned is "
             "freed.");
    const Extent extent = extent_of(array);
    check_symmetric(free_spec, "x", array, extent.low, extent.bytes);
    if (extent.low != block->address || std::max<std::size_t>(extent.bytes, 1) != block->bytes)
        fail(ErrorCode::invalid_argument,
             "free(): x is a view of %zu of the %zu bytes of %s; pass the array that was allocated.",
             extent.bytes, block->bytes, named(block->address).c_str());
    job.free(block->whole);
    free_block(block);
    return none();
}

bool symmetric_now(PyArrayObject* array) {
    const Block* block = block_of(array);
    const Extent extent = extent_of(array);
    if (block == nullptr || block->foreign)
        return g.job->is_symmetric(extent.low, std::max<std::size_t>(extent.bytes, 1));
    if (block->parent || is_past(block)) return false;
    const auto offset = static_cast<std::size_t>(extent.low - block->address);
    return offset <= block->bytes && extent.bytes <= block->bytes - offset;
}

PyObject* is_symmetric_body(const Arguments<1>& a) {
    if (g.job == nullptr || !is_array(a[0])) Py_RETURN_FALSE;
    return PyBool_FromLong(symmetric_now(as_array(a[0])));
}

[[noreturn]] void fail_unreachable(const Spec& spec, int pe) {
    fail(ErrorCode::unsupported,
         "%s(): PE %d's memory cannot be loaded and stored from here (another host, or "
         "ATOLL_TRANSPORT forces a transport); use put and get.",
         spec.name, pe);
}

/// The address at which this PE's GPU maps the memory of other PEs, as an array of `like`'s library.
Ref on_other_pes(PyArrayObject* like, const Extent& extent, std::ptrdiff_t distance, int nd,
                 const npy_intp* dims, const npy_intp* strides, Library library) {
    Block* block = block_of(like);
    if (block == nullptr || block->foreign)
        fail(ErrorCode::not_symmetric, "x has lost its owner on the way; pass the array that was allocated.");
    const Ref owner = make_remote_block(block, extent.low + distance, extent.bytes);
    Ref made =
        array_over(PyArray_DESCR(like), nd, dims, strides, PyArray_BYTES(like) + distance, owner.get());
    PyArray_UpdateFlags(made.array(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    return in_library(make_device_array(std::move(made)), library);
}

Ref peer_on_device(const Context& ctx, PyArrayObject* array, const Extent& extent, int pe, Library library) {
    ctx.check_pe(pe);
    const char* there = ctx.ptr(extent.low, pe);
    if (there == nullptr) fail_unreachable(peer_spec, pe);
    return on_other_pes(array, extent, there - extent.low, PyArray_NDIM(array), PyArray_DIMS(array),
                        PyArray_STRIDES(array), library);
}

PyObject* pin_body(const Arguments<1>& a) {
    const Job& job = current(pin_spec.name);
    PyArrayObject* array = array_arg(pin_spec, "x", a[0]);
    const Extent extent = symmetric_arg(pin_spec, "x", array, false);
    if (on_device(array))
        fail(ErrorCode::not_symmetric,
             "pin(): x is in the memory of a GPU, which its kernels reach as it is; pass an array of the "
             "host.");
    {
        ReleaseGil released(true);
        job.pin_bytes(extent.low, extent.bytes);
    }
    return make_device_array(Ref::borrow(reinterpret_cast<PyObject*>(array))).release();
}

PyObject* peer_body(const Arguments<3>& a) {
    const Context& ctx = context_of(peer_spec, nullptr, a[2]);
    PyArrayObject* array = array_arg(peer_spec, "x", a[0]);
    const Extent extent = symmetric_arg(peer_spec, "x", array, false);
    const int pe = pe_of(peer_spec, a[1]);
    check_pool_block(peer_spec, "x", extent.low, ctx, pe);
    if (on_device(array)) return peer_on_device(ctx, array, extent, pe, a.adopted.library).release();
    char* const there = near_address(ctx, extent.low, extent.bytes, pe);
    if (there == nullptr) fail_unreachable(peer_spec, pe);
    Block* block = block_of(array);
    if (block == nullptr)
        fail(ErrorCode::not_symmetric,
             "peer(): x has lost its owner on the way; pass the array that was allocated.");
    const Ref owner = make_remote_block(block, there, extent.bytes);
    return array_over(PyArray_DESCR(array), PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                      there + (PyArray_BYTES(array) - extent.low), owner.get())
        .release();
}

[[noreturn]] void fail_uneven() {
    fail(ErrorCode::unsupported,
         "global_view(): the team's PEs are not evenly spaced, so no strides describe it; use "
         "atoll.peer(x, pe) for each, or a team made by split_strided.");
}

/// The distance between consecutive PEs of a team in the window; throws if it is not constant.
std::ptrdiff_t team_stride(const Context& ctx) {
    std::ptrdiff_t stride = 0;
    for (int pe = 0; pe < ctx.n_pes(); ++pe) {
        if (!is_near(ctx, pe)) fail_unreachable(global_view_spec, pe);
        if (pe == 0) continue;
        const std::ptrdiff_t step =
            ctx.window().distance(ctx.map().slot(pe)) - ctx.window().distance(ctx.map().slot(pe - 1));
        if (pe > 1 && step != stride) fail_uneven();
        stride = step;
    }
    return stride;
}

PyObject* global_view_body(const Arguments<2>& a) {
    const Context& ctx = context_of(global_view_spec, nullptr, a[1]);
    PyArrayObject* array = array_arg(global_view_spec, "x", a[0]);
    const Extent extent = symmetric_arg(global_view_spec, "x", array, false);
    Block* block = block_of(array);
    if (block == nullptr)
        fail(ErrorCode::not_symmetric,
             "global_view(): x has lost its owner on the way; pass the array that was allocated.");
    const int nd = PyArray_NDIM(array);
    if (nd + 1 > NPY_MAXDIMS)
        fail(ErrorCode::shape_mismatch,
             "global_view(): x has as many axes as NumPy allows; there is no room for one more.");
    npy_intp dims[NPY_MAXDIMS];
    npy_intp strides[NPY_MAXDIMS];
    dims[0] = ctx.n_pes();
    std::copy_n(PyArray_DIMS(array), nd, dims + 1);
    std::copy_n(PyArray_STRIDES(array), nd, strides + 1);
    if (on_device(array)) {
        check_in_window("global_view", team_of(global_view_spec, a[1]));
        const device::Team team = team_of(global_view_spec, a[1]).device(Memory::device);
        if (team.table != nullptr) fail_uneven();
        strides[0] = team.step * team.stride;
        return on_other_pes(array, extent, (team.first - team.my_slot) * team.stride, nd + 1, dims, strides,
                            a.adopted.library)
            .release();
    }
    strides[0] = team_stride(ctx);
    const atl::detail::Slot first = ctx.map().slot(0);
    const Ref owner = make_remote_block(block, ctx.window().at(extent.low, first), extent.bytes);
    return array_over(PyArray_DESCR(array), nd + 1, dims, strides,
                      ctx.window().at(PyArray_BYTES(array), first), owner.get())
        .release();
}

PyObject* addr_accessible_body(const Arguments<3>& a) {
    const Context& ctx = context_of(addr_spec, nullptr, a[2]);
    pe_within(addr_spec, a[1], ctx.n_pes());  // checks the number
    return PyBool_FromLong(is_array(a[0]) && symmetric_now(as_array(a[0])));
}

PyObject* pe_accessible_body(const Arguments<2>& a) {
    const Context& ctx = context_of(pe_accessible_spec, nullptr, a[1]);
    const int pe = pe_of(pe_accessible_spec, a[0]);
    return PyBool_FromLong(pe >= 0 && pe < ctx.n_pes());
}

const Function arrays_functions[] = {
    {"_empty", entry<9, empty_spec, empty_body>,
     "(shape: Any, dtype: Any, fortran: bool, align: int, atomics: bool, signal: bool, zero: bool, name: "
     "str, on_device: bool = False) -> Any",
     "Allocate; see atoll.empty."},
    {"register", entry<1, register_spec, register_body>, "(x: Any) -> Any",
     R"(Return a symmetric view of an array of this PE's GPU that another library has allocated.

Collective over all PEs; an error on one PE raises on all.

Parameters
----------
x
    An array of PyTorch, CuPy or Numba, a cuda.core.Buffer, or any object with DLPack's or CUDA's
    array interface. Its memory must come from the driver's virtual memory management: PyTorch's
    with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or cuda.core's VirtualMemoryResource.
    Memory of cudaMalloc cannot be mapped by other processes. Views keep their offset and strides.
    Every PE passes an array of equal size, at an equal offset of equal allocations.

Returns
-------
array
    An array of x's library with its shape and dtype, over the same memory. It keeps x alive. x
    itself is not symmetric, but each shows what was written through the other.

Raises
------
InvalidArgument
    The memory is cudaMalloc's, another GPU's or the host's, cannot be shared, or is symmetric
    already.
CollectiveMismatch, Unsupported, OutOfMemory

Notes
-----
The complete allocations that contain x (at least 2 MiB) are mapped on all PEs. free() unmaps them
and leaves x unchanged.)"},
    {"free", entry<1, free_spec, free_body>, "(x: AnyArray) -> None",
     R"(Free a symmetric array. Collective over all PEs, in the same order on all.

The call waits for all PEs. Puts into x must be complete (barrier_all).

Parameters
----------
x
    An array of atoll.zeros() and similar functions, or a view of all of it.

Raises
------
NotSymmetric, UseAfterFree
InvalidArgument
    x is a part of an array.
CollectiveMismatch
    The PEs' calls differ; they are always compared.

Notes
-----
Afterwards the array and every view of it (peer and global_view too) raise UseAfterFree when passed
to a call. Reads through NumPy are not detected.

An array need not be freed. Once the garbage collectors of all PEs have dropped it, the next
collective allocation reclaims its memory.

Source: OpenSHMEM 1.6, section 9.3 (shmem_free).)"},
    {"pin", entry<1, pin_spec, pin_body>, "(x: AnyArray) -> DeviceArray",
     R"(Make a symmetric array of the host accessible to kernels of this PE's GPU. Local.

Parameters
----------
x
    A symmetric NumPy array, or a view of one.

Returns
-------
array
    A DeviceArray with x's address on the GPU, shape, dtype and strides. CuPy, Numba, PyTorch and
    Triton accept it (__cuda_array_interface__, DLPack, .cupy(), .torch()). It keeps the memory
    alive. Atoll's functions treat it like x.

Raises
------
NotInitialized
    No array of a GPU has been allocated yet.
NotSymmetric, UseAfterFree, SystemFailure

Notes
-----
Kernels may load elements and wait for them (signal_wait_until, wait_until, test and similar
functions, also on a stream). Hosts of other PEs may put, signal and update them meanwhile. Only
CPUs may update them atomically: atomics of CPU and GPU on one word are not atomic with each other.

The chunks of 2 MiB that contain x are pinned, and their pages allocated. They stay pinned until
finalize(), or until an array of at least 1 MiB is freed.
Other arrays in the memory pinned with it keep it pinned. Call pin, and free such an array, while no kernel of this process waits: the GPU's driver
may wait for running kernels.)"},
    {"is_symmetric", entry<1, is_symmetric_spec, is_symmetric_body>, "(x: AnyArray | object) -> bool",
     R"(True if x is an array, or a view of one, in this PE's symmetric memory and not freed. Local, without errors.

Parameters
----------
x
    Any object, of any library.

Returns
-------
bool)"},
    {"peer", entry<3, peer_spec, peer_body>,
     "(x: AnyArray, pe: int, *, team: Team | None = None) -> Any\n"
     "(x: Array, pe: int, *, team: Team | None = None) -> Array\n"
     "(x: DeviceLike, pe: int, *, team: Team | None = None) -> Any",
     R"(Return PE pe's copy of x as a plain array: reading and writing it are loads and stores there.

Local. Order such accesses by barriers, signals or atomics.

Parameters
----------
x
    A symmetric array or view.
pe
    A PE number; within `team` if given.

Returns
-------
array
    An array with x's shape, dtype, strides and library. For an array of a GPU, kernels of this PE's
    GPU may access it. It keeps the memory mapped.

Raises
------
Unsupported
    PE pe cannot be reached by loads and stores.
NotSymmetric, PeError, UseAfterFree

See Also
--------
get : works for every PE

Notes
-----
Source: OpenSHMEM 1.6, section 9.3 (shmem_ptr).

Examples
--------
>>> there = atoll.peer(x, atoll.my_pe())  # another PE may be on another host
>>> there[0] = 5.0
>>> float(x[0])
5.0)"},
    {"global_view", entry<2, global_view_spec, global_view_body>,
     "(x: AnyArray, team: Team | None = None) -> Any\n"
     "(x: Array, team: Team | None = None) -> Array\n"
     "(x: DeviceLike, team: Team | None = None) -> Any",
     R"(Return all PEs' copies of x as one array of shape (n_pes, *x.shape).

everyone[pe, i] is PE pe's x[i], accessed by load and store. Slices along the first axis read from
several PEs. Local. Order such accesses by barriers, signals or atomics.

Parameters
----------
x
    A symmetric array or view.
team
    The PEs, in this team's order. They must be evenly spaced.

Returns
-------
array
    A plain numpy.ndarray, or an array of x's library on this PE's GPU. Its first stride is the
    distance between PEs' memories. It keeps the memory mapped.

Raises
------
Unsupported
    A PE cannot be reached by loads and stores, or the team is irregular.
NotSymmetric, UseAfterFree)"},
    {"addr_accessible", entry<3, addr_spec, addr_accessible_body>,
     "(x: AnyArray | object, pe: int, *, team: Team | None = None) -> bool",
     R"(True if x is symmetric and may be a target or source on PE pe. Local.

Parameters
----------
x
    Any object; one that is no symmetric array gives False.
pe
    Number of the other PE.

Returns
-------
bool

Raises
------
PeError

Notes
-----
Source: OpenSHMEM 1.6, section 9.1 (shmem_addr_accessible).)"},
    {"pe_accessible", entry<2, pe_accessible_spec, pe_accessible_body>,
     "(pe: int, *, team: Team | None = None) -> bool",
     R"(True if pe is the number of a PE of the job (or team). Local.

Parameters
----------
pe
    Any integer.

Returns
-------
bool

Notes
-----
Source: OpenSHMEM 1.6, section 9.1 (shmem_pe_accessible).)"},
};

}  // namespace

void note_device(const Job& job) {
    g.device = job.device_heap_use().number;
    g.has_device = true;
    adopts_device_arrays = true;
}

void register_arrays(PyObject* module) { register_functions(module, arrays_functions); }

}  // namespace atl::python
