// The base class of distributed arrays: get and put of boxes on hosts. All that is rare goes to methods of
// Python.
#include "arrays/far_moves.hpp"
#include "calls/registry.hpp"
#include "operations/boxes/parts.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace atl::python {
namespace {

Spec get_spec, put_spec, accumulate_spec, add_spec, set_block_spec;

struct Boxes {
    PyObject_HEAD Parts* parts;  ///< null until _set_block
};

Parts* parts_of(PyObject* self) noexcept { return reinterpret_cast<Boxes*>(self)->parts; }

// ---- the sides of a move

void move(const Parts& parts, const Box& box, const Near& near, bool is_put) {
    static const Spec get_call{"get"}, put_call{"put"};
    PyArrayObject* const block = parts.array();
    for_each_owner(parts.axes, box, [&](int pe, const BoxShare* shares) {
        const Portion portion(block, box, near, shares);
        const FarTransfer all{portion.own, portion.steps,     portion.here, near.strides, portion.dims,
                              box.nd,      item_bytes(block), pe,           is_put,       true};
        if (pe == parts.me)
            copy_to_or_from(portion.own, all);
        else
            move_strided(parts.context(is_put ? put_call : get_call), all, {portion.own, portion.span});
    });
}

// ---- get and put; null and false if the general path is needed

PyObject* get_element(const Parts& parts, const Box& box) {
    alignas(16) char element[32];
    if (!plain_native(parts.array())) return nullptr;
    move(parts, box, Near(element, nullptr, box), false);
    return PyArray_Scalar(element, PyArray_DESCR(parts.array()), nullptr);
}

PyObject* get_into(const Parts& parts, const Box& box, PyObject* out) {
    npy_intp dims[NPY_MAXDIMS];
    const int nd = box.shape(dims);
    PyArrayObject* const array = as_array(out);
    if (!is_like(parts, out) || !(PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE) || PyArray_NDIM(array) != nd ||
        !std::equal(dims, dims + nd, PyArray_DIMS(array)))
        return nullptr;
    move(parts, box, Near(PyArray_BYTES(array), PyArray_STRIDES(array), box), false);
    return Py_NewRef(out);
}

PyObject* fast_get(const Parts& parts, PyObject* key, PyObject* out, bool is_read_only) {
    Box box;
    if (!parts.exists() || !read_box(parts.axes, key, box)) return nullptr;
    if (given(out)) return get_into(parts, box, out);
    npy_intp dims[NPY_MAXDIMS];
    const int nd = box.shape(dims);
    if (nd == 0) return get_element(parts, box);
    PyArray_Descr* const descr = PyArray_DESCR(parts.array());
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    PyTypeObject* const kind = is_read_only ? copies_of(parts) : g.ndarray;
    Ref made(PyArray_NewFromDescr(kind, descr, nd, dims, nullptr, nullptr, 0, nullptr));
    move(parts, box, Near(PyArray_BYTES(made.array()), PyArray_STRIDES(made.array()), box), false);
    if (is_read_only) PyArray_CLEARFLAGS(made.array(), NPY_ARRAY_WRITEABLE);
    return made.release();
}

bool fast_put(const Parts& parts, PyObject* key, PyObject* value) {
    Box box;
    if (!parts.exists() || !read_box(parts.axes, key, box)) return false;
    npy_intp dims[NPY_MAXDIMS], strides[NPY_MAXDIMS] = {};
    const int nd = box.shape(dims);
    if (is_like(parts, value)) {
        if (!broadcast(as_array(value), dims, nd, strides)) return false;
        move(parts, box, Near(PyArray_BYTES(as_array(value)), strides, box), true);
        return true;
    }
    alignas(16) char element[16];
    if (!write_number(parts.array(), value, element)) return false;
    move(parts, box, Near(element, strides, box), true);
    return true;
}

// ---- the class

PyObject* name_of(const char* text) {
    PyObject* const name = PyUnicode_InternFromString(text);
    if (name == nullptr) throw Raised{};
    return name;
}

/// Runs `body`; errors of PE numbers get the name of the call.
template <class Body> PyObject* called(const char* call, Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        return translate(call);
    }
}

PyObject* get(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("get", [&]() -> PyObject* {
        static PyObject* const general = name_of("_get");
        const Arguments<2> a(get_spec, args, n, names);
        const Parts* const parts = parts_of(self);
        PyObject* const found = parts == nullptr ? nullptr : fast_get(*parts, a[0], a[1], false);
        if (found != nullptr || PyErr_Occurred()) return found;
        return PyObject_CallMethodObjArgs(self, general, a[0], given(a[1]) ? a[1] : Py_None, nullptr);
    });
}

PyObject* put(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("put", [&]() -> PyObject* {
        static PyObject* const general = name_of("_put");
        const Arguments<2> a(put_spec, args, n, names);
        const Parts* const parts = parts_of(self);
        if (parts != nullptr && fast_put(*parts, a[0], a[1])) return none();
        return PyObject_CallMethodObjArgs(self, general, a[0], a[1], nullptr);
    });
}

bool is_one(PyObject* scale) {
    int overflow = 0;
    return PyLong_CheckExact(scale) && PyLong_AsLongAndOverflow(scale, &overflow) == 1;
}
bool is_sum(PyObject* op) { return PyUnicode_Check(op) && PyUnicode_CompareWithASCIIString(op, "sum") == 0; }

PyObject* accumulate(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("accumulate", [&]() -> PyObject* {
        static PyObject *const general = name_of("_accumulate"), *const sum = name_of("sum");
        static PyObject* const one = PyLong_FromLong(1);
        const Arguments<4> a(accumulate_spec, args, n, names);
        PyObject *const scale = a[2] == nullptr ? one : a[2], *const op = a[3] == nullptr ? sum : a[3];
        const Parts* const parts = parts_of(self);
        if (parts != nullptr && is_one(scale) && is_sum(op) && fast_add(*parts, a[0], a[1])) return none();
        return PyObject_CallMethodObjArgs(self, general, a[0], a[1], scale, op, nullptr);
    });
}

PyObject* add(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("accumulate", [&]() -> PyObject* {
        const Arguments<2> a(add_spec, args, n, names);
        const Parts* const parts = parts_of(self);
        const bool is_done = parts != nullptr && fast_add(*parts, a[0], a[1]);
        return PyErr_Occurred() ? nullptr : PyBool_FromLong(is_done);
    });
}

PyObject* get_item(PyObject* self, PyObject* key) noexcept {
    return called("get", [&]() -> PyObject* {
        static PyObject* const general = name_of("_get_item");
        const Parts* const parts = parts_of(self);
        PyObject* const found = parts == nullptr ? nullptr : fast_get(*parts, key, nullptr, true);
        if (found != nullptr || PyErr_Occurred()) return found;
        return PyObject_CallMethodObjArgs(self, general, key, nullptr);
    });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) noexcept {
    PyObject* const done = called("put", [&]() -> PyObject* {
        static PyObject* const general = name_of("_set_item");
        if (value == nullptr) {
            const Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__name__"));
            PyErr_Format(PyExc_TypeError, "'%S' object doesn't support item deletion", name.get());
            return nullptr;
        }
        const Parts* const parts = parts_of(self);
        if (parts != nullptr && fast_put(*parts, key, value)) return none();
        return PyObject_CallMethodObjArgs(self, general, key, value, nullptr);
    });
    Py_XDECREF(done);
    return done == nullptr ? -1 : 0;
}

/// For the iteration over an array, which ends at an IndexError.
PyObject* get_row(PyObject* self, Py_ssize_t index) noexcept {
    return called("get", [&] { return get_item(self, Ref(PyLong_FromSsize_t(index)).get()); });
}

PyObject* set_block(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("_set_block", [&] {
        const Arguments<5> a(set_block_spec, args, n, names);
        auto made = std::make_unique<Parts>();
        for (Py_ssize_t i = 0; i < PyTuple_Size(a[0]); ++i) made->axes.emplace_back(PyTuple_GetItem(a[0], i));
        if (given(a[1])) {
            made->memory = Ref::borrow(a[1]);
            Block* const block = block_of(array_arg(set_block_spec, "memory", a[1]));
            made->block = block;
            if (block != nullptr && !is_past(block) && g.context->window().heap_has(block->address)) {
                made->adds_plainly = true;
                mark_added_to(block);
            }
        }
        made->team = Ref::borrow(a[2]);
        made->me = int_of(set_block_spec, "me", a[3]);
        if (given(a[4])) made->copies = Ref::borrow(a[4]);
        delete std::exchange(reinterpret_cast<Boxes*>(self)->parts, made.release());
        return none();
    });
}

/// For kernels, which take no locks.
PyObject* use_atomics(PyObject* self, PyObject*) noexcept {
    return called("device", [&]() -> PyObject* {
        const Parts* const parts = parts_of(self);
        if (parts != nullptr && parts->exists()) use_atomics_on(block_of(parts->array()));
        return none();
    });
}

PyObject* end(PyObject* self, PyObject*) noexcept {
    if (Parts* const parts = parts_of(self)) parts->is_over = true;
    return none();
}

/// The index of a box in its owner's block. Its last "..." makes it one of views, for integers alone too.
PyObject* near(PyObject* self, PyObject* key) noexcept {
    return called("_near", [&]() -> PyObject* {
        const Parts* const parts = parts_of(self);
        Box box;
        if (parts == nullptr || !read_box(parts->axes, key, box)) return none();
        for (int i = 0; i < box.nd; ++i)
            if (box.ranges[i].is_reversed || box.first_part[i] != box.last_part[i]) return none();
        const Ref index(PyTuple_New(box.nd + 1));
        PyTuple_SetItem(index.get(), box.nd, Py_NewRef(Py_Ellipsis));
        int owner = 0;
        for_each_owner(parts->axes, box, [&](int pe, const BoxShare* shares) {
            owner = pe;
            for (int i = 0; i < box.nd; ++i) {
                Ref at(PyLong_FromSsize_t(shares[i].local));
                if (!box.ranges[i].is_single) {
                    const npy_intp length = (shares[i].count - 1) * box.ranges[i].step + 1;
                    const Ref stop(PyLong_FromSsize_t(shares[i].local + length)),
                        step(PyLong_FromSsize_t(box.ranges[i].step));
                    at = Ref(PySlice_New(at.get(), stop.get(), step.get()));
                }
                PyTuple_SetItem(index.get(), i, at.release());
            }
        });
        return Py_BuildValue("iO", owner, index.get());
    });
}

void dealloc(PyObject* self) {
    delete parts_of(self);
    PyTypeObject* type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyCFunction with_keywords(_PyCFunctionFastWithKeywords call) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call));
}

PyMethodDef methods[] = {
    {"get", with_keywords(get), METH_FASTCALL | METH_KEYWORDS,
     R"(get($self, box, out=None)
--

Return the elements of a box, from the PEs that own them.

Not collective. The elements are those that the owners' last barrier or signal made visible.

Parameters
----------
box
    What indexing takes: integers, slices (also with negative steps) and `...`.
out
    An array of the box's shape and this dtype for the result. It is also returned.

Returns
-------
numpy.ndarray or scalar
    A copy; a scalar if all indices are integers. `a[box]` is the same, but read-only: writes to it would not
    reach the array. On GPUs an array of CuPy or PyTorch, without axes for one element, and not read-only.

Raises
------
IndexError
    If an integer is out of range, or an index is not an integer, a slice or `...`.
ShapeMismatch
    If `out` has another shape.)"},
    {"put", with_keywords(put), METH_FASTCALL | METH_KEYWORDS,
     R"(put($self, box, value)
--

Write a box, on the PEs that own its elements.

Not collective. Visible to other PEs after a barrier. PEs that write the same element at once leave one of the
values.

Parameters
----------
box
    What indexing takes.
value
    A number or an array that broadcasts to the box's shape, converted to this dtype as by NumPy's assignment.
    Or a `DistArray` of the same distribution, if the box is everything: then each PE copies its own part.

Raises
------
IndexError
    As for `get`.
ShapeMismatch
    If the value does not broadcast to the box, or is distributed in another way.)"},
    {"accumulate", with_keywords(accumulate), METH_FASTCALL | METH_KEYWORDS,
     R"(accumulate($self, box, value, scale=1, *, op='sum')
--

Combine a box with `scale * value`, each element atomically: by default add.

Not collective. PEs that combine with the same element at once lose nothing. Visible to other PEs after a
barrier. Of complex numbers each part is added atomically.

If all PEs of the team share memory, sums are plain additions under a lock of the owner's part. The first
`fetch_add`, `at[...].add`, other `op` or `device()` ends that, also for arrays in the same reserved memory.
All PEs then add by atomic operations, which take several times as long.

A wait for the lock ends by an error if the job ends or by Ctrl-C. Then a part of a large box may be added.

Parameters
----------
box
    What indexing takes. Meanwhile no PE writes there by `put` or an assignment.
value
    A number or an array that broadcasts to the box's shape.
scale
    A number. With another one than 1 the values are copied.
op
    "sum", "prod", "min", "max"; of integers also "and", "or", "xor". All but "sum" go element by element.

Raises
------
DtypeMismatch
    If this dtype is not an integer of 32 or 64 bits, float32 or float64; for sums on hosts also complex64 and
    complex128.
OverflowError
    If an integer of Python does not fit this dtype. Integers of arrays wrap, as in NumPy.
TypeError
    If the values are not of this kind of numbers, such as 1.5 for integers.
ValueError
    If the operation is unknown.
Unsupported
    If the array is on GPUs, and the operation is not "sum".)"},
    {"_set_block", with_keywords(set_block), METH_FASTCALL | METH_KEYWORDS,
     "_set_block($self, rows, memory, team, me, copies=None)\n--\n\n"
     "Set the layout (Layout.rows), this PE's block (None on GPUs), the team, this PE's number there, and "
     "the "
     "class of what a[box] returns."},
    {"_end", end, METH_NOARGS,
     "_end($self)\n--\n\nLeave all later calls to the general path: the block is freed."},
    {"_add", with_keywords(add), METH_FASTCALL | METH_KEYWORDS,
     "_add($self, box, value)\n--\n\n"
     "Add to a box, each element atomically. Return False, with nothing done, for what needs the general "
     "way."},
    {"_use_atomics", use_atomics, METH_NOARGS,
     "_use_atomics($self)\n--\n\nLet all PEs add to this array by atomic operations from now on."},
    {"_near", near, METH_O,
     "_near($self, key, /)\n--\n\n"
     "Return the PE that owns all of a box, and the index of the box in its block.\n\n"
     "None if several PEs own it, and for negative steps, boxes without elements and errors."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_methods, methods},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_sq_item, reinterpret_cast<void*>(get_row)},
    {Py_tp_doc,
     const_cast<char*>("The base of distributed arrays: reads and writes of boxes on hosts. Other keys go "
                       "to the methods _get, _put, _get_item and _set_item of its subclass.")},
    {0, nullptr},
};
PyType_Spec type_spec{"atoll._atoll._Boxes", sizeof(Boxes), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};

}  // namespace

void register_boxes(PyObject* module) {
    read_signature(get_spec, "DistArray.get", "(box: Any, out: Any = None) -> Any");
    read_signature(put_spec, "DistArray.put", "(box: Any, value: Any) -> None");
    read_signature(accumulate_spec, "DistArray.accumulate",
                   "(box: Any, value: Any, scale: Any = 1, *, op: str = 'sum') -> None");
    read_signature(add_spec, "_add", "(box: Any, value: Any) -> bool");
    read_signature(set_block_spec, "_set_block",
                   "(rows: Any, memory: Any, team: Any, me: int, copies: Any = None) -> None");
    const Ref type(PyType_FromSpec(&type_spec));
    if (PyModule_AddObjectRef(module, "_Boxes", type.get()) < 0) throw Raised{};
    g.boxes_class = reinterpret_cast<PyTypeObject*>(type.get());
}

}  // namespace atl::python
