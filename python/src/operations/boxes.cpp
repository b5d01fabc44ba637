// The base class of distributed arrays: get and put of boxes on hosts. All that is rare goes to methods of
// Python.
#include "arrays/additions.hpp"
#include "arrays/box.hpp"
#include "arrays/far_moves.hpp"
#include "calls/registry.hpp"
#include "core/job/job_state.hpp"
#include "operations/elements/irregular.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace atl::python {
namespace {

Spec get_spec, put_spec, add_spec, place_spec;

/// The team of an array, its layout, and this PE's block if it lies in memory of the host.
struct Parts {
    std::vector<BoxAxis> axes;
    Ref memory, team;
    Ref copies;  ///< the class of what `a[box]` returns, for `a[box] += x`; null for NumPy's own
    const Block* block = nullptr;
    int me = 0;
    bool adds_plainly = false;  ///< the block has an update lock, by `serial`
    std::uint64_t serial = 0;
    bool is_over = false;  ///< freed by the array itself

    PyArrayObject* array() const noexcept { return memory.array(); }
    /// True while the general way would find the same memory.
    bool exists() const noexcept {
        return block != nullptr && !is_over && !is_past(block) && block->parent == nullptr;
    }
    const Context& context(bool is_put) const {
        static const Spec get_call{"get"}, put_call{"put"};
        const auto& its = *nb::inst_ptr<PyTeam>(team.get());
        if (its.which == PyTeam::Which::made && !its.team)
            fail(ErrorCode::use_after_free,
                 "%s(): the team of this distributed array was destroyed, so that only this PE's part is "
                 "left, a.local. "
                 "Keep a team as long as its arrays, or bring them to another team before: "
                 "atoll.arrays.redistribute(a, team=t).",
                 is_put ? "put" : "get");
        return team.get() == g.world_object ? *g.context
                                            : context_slow(is_put ? put_call : get_call, nullptr, team.get());
    }
};

struct Boxes {
    PyObject_HEAD Parts* parts;  ///< null until _place
};

Parts* parts_of(PyObject* self) noexcept { return reinterpret_cast<Boxes*>(self)->parts; }

// ---- the sides of a move

/// The address and the strides of an array on this PE, for the axes of the array that has the box.
struct Near {
    char* data;
    npy_intp strides[NPY_MAXDIMS];

    Near(char* of, const npy_intp* visible, const Box& box) : data(of) {
        int k = 0;
        for (int i = 0; i < box.nd; ++i) {
            const BoxRange& range = box.ranges[i];
            strides[i] = range.is_single ? 0 : visible[k++];
            if (!range.is_reversed) continue;
            data += (range.count - 1) * strides[i];
            strides[i] = -strides[i];
        }
    }
};

void move(const Parts& parts, const Box& box, const Near& near, bool is_put) {
    PyArrayObject* const block = parts.array();
    const std::size_t item = item_bytes(block);
    for_each_owner(parts.axes, box, [&](int pe, const BoxShare* shares) {
        npy_intp dims[NPY_MAXDIMS], steps[NPY_MAXDIMS];
        char *far = PyArray_BYTES(block), *here = near.data;
        std::size_t span = item;
        for (int i = 0; i < box.nd; ++i) {
            dims[i] = shares[i].count;
            far += shares[i].local * PyArray_STRIDES(block)[i];
            here += shares[i].first * near.strides[i];
            steps[i] = box.ranges[i].step * PyArray_STRIDES(block)[i];
            span += static_cast<std::size_t>((dims[i] - 1) * steps[i]);
        }
        const FarTransfer all{far, steps, here, near.strides, dims, box.nd, item, pe, is_put, true};
        if (pe == parts.me)
            copy_to_or_from(far, all);
        else
            move_strided(parts.context(is_put), all, {far, span});
    });
}

// ---- what the fast way takes

PyTypeObject* copies_of(const Parts& parts) noexcept {
    return parts.copies.get() == nullptr ? g.ndarray : reinterpret_cast<PyTypeObject*>(parts.copies.get());
}

/// True for an array whose elements have the block's dtype and are there to be used. It is of NumPy's own
/// class, or was returned by `a[box]`.
bool is_like(const Parts& parts, PyObject* object) {
    if (Py_TYPE(object) != g.ndarray && Py_TYPE(object) != copies_of(parts)) return false;
    PyArrayObject* const array = as_array(object);
    const bool same = PyArray_DESCR(array) == PyArray_DESCR(parts.array()) ||
                      (PyArray_DESCR(array)->type_num == PyArray_DESCR(parts.array())->type_num &&
                       plain_native(array) && plain_native(parts.array()));
    if (!same || PyArray_BASE(array) == nullptr) return same;
    const Block* const its = block_of(array);
    return its == nullptr || (!its->freed && its->parent == nullptr && its->device < 0);
}

/// Writes a number as NumPy's assignment converts it. False for numbers that it warns of, wraps or refuses.
bool write_number(PyArrayObject* like, PyObject* value, char* element) {
    const bool is_float = PyFloat_CheckExact(value) || PyArray_IsScalar(value, Double);
    if (!plain_native(like) || !row_of(like).known || (!is_float && !PyLong_CheckExact(value))) return false;
    int overflow = 0;
    const long long whole = is_float ? 0 : PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return false;
    const DType type = row_of(like).type;
    const auto write = [&]<class T>(T number) {
        std::memcpy(element, &number, sizeof number);
        return true;
    };
    if (type == DType::float64) return write(is_float ? PyFloat_AsDouble(value) : static_cast<double>(whole));
    if (type == DType::float32) {
        if (!is_float) return write(static_cast<float>(whole));
        const double number = PyFloat_AsDouble(value);
        return !(std::isfinite(number) && std::fabs(number) > FLT_MAX) && write(static_cast<float>(number));
    }
    if (is_float) return false;
    return visit_integer(
        type, [&]<class T>(T*) { return std::in_range<T>(whole) && write(static_cast<T>(whole)); },
        [] { return false; });
}

/// The strides of an array as if it were broadcast to a shape. False if it does not broadcast.
bool broadcast(PyArrayObject* array, const npy_intp* dims, int nd, npy_intp* strides) {
    const int missing = nd - PyArray_NDIM(array);
    if (missing < 0) return false;
    for (int i = 0; i < nd; ++i) {
        const npy_intp length = i < missing ? 1 : PyArray_DIMS(array)[i - missing];
        if (length != dims[i] && length != 1) return false;
        strides[i] = length == dims[i] && i >= missing ? PyArray_STRIDES(array)[i - missing] : 0;
    }
    return true;
}

// ---- get and put; null and false if the general way is needed

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

// ---- additions

/// True if every PE of the team shares memory with this one. Then all of them see the words of update locks.
bool all_near(const Context& ctx) noexcept {
    for (int pe = 0; ctx.map().table != nullptr && pe < ctx.map().n_pes; ++pe)
        if (!ctx.map().slot(pe).is_near()) return false;
    return ctx.map().slot(ctx.my_pe()).is_near();
}

/// Adds values of `items` T an element to a box. False if an owner's memory is not mapped here; then nothing
/// is done.
template <class T> bool add_to_box(const Parts& parts, const Box& box, const Near& near, int items) {
    PyArrayObject* const block = parts.array();
    const Context& ctx = parts.context(true);
    core::UpdateWord* const word = parts.adds_plainly && all_near(ctx)
                                       ? core::update_word(ctx.job().arena().updates(), parts.serial)
                                       : nullptr;
    bool is_near = reinterpret_cast<std::uintptr_t>(PyArray_BYTES(block)) % sizeof(T) == 0;
    for_each_owner(parts.axes, box,
                   [&](int pe, const BoxShare*) { is_near = is_near && ctx.map().slot(pe).is_near(); });
    if (!is_near) return false;
    for_each_owner(parts.axes, box, [&](int pe, const BoxShare* shares) {
        char* own = PyArray_BYTES(block);
        Addition all{nullptr, near.data, {}, {}, {}, box.nd};
        std::size_t span = item_bytes(block);
        for (int i = 0; i < box.nd; ++i) {
            all.dims[i] = shares[i].count;
            own += shares[i].local * PyArray_STRIDES(block)[i];
            all.here += shares[i].first * near.strides[i];
            all.strides[i] = near.strides[i];
            all.steps[i] = box.ranges[i].step * PyArray_STRIDES(block)[i];
            span += static_cast<std::size_t>((shares[i].count - 1) * all.steps[i]);
        }
        if (items > 1) {
            all.dims[all.nd] = items;
            all.steps[all.nd] = all.strides[all.nd] = sizeof(T);
            ++all.nd;
        }
        const auto n = static_cast<std::size_t>(all.size());
        const atl::detail::Slot slot = ctx.route(own, span, pe);
        const atl::detail::Measured measured{ctx.job(), ctx.window().counts,
                                             atl::detail::Measured::Kind::call, "add_at", n * sizeof(T)};
        all.there = ctx.window().at(own, slot);
        ReleaseGil released(n >= releases_gil_from);
        add<T>(ctx.job(), word == nullptr ? nullptr : ctx.window().heap_at(word, slot), all);
    });
    return true;
}

/// True if the values were added to the box, each element atomically; of complex ones each part.
bool fast_add(const Parts& parts, PyObject* key, PyObject* value) {
    Box box;
    if (!parts.exists() || !plain_native(parts.array()) || !row_of(parts.array()).known ||
        !read_box(parts.axes, key, box))
        return false;
    npy_intp dims[NPY_MAXDIMS], strides[NPY_MAXDIMS] = {};
    const int nd = box.shape(dims);
    alignas(16) char element[16];
    char* values = element;
    if (is_like(parts, value)) {
        if (!broadcast(as_array(value), dims, nd, strides)) return false;
        values = PyArray_BYTES(as_array(value));
    } else if (!write_number(parts.array(), value, element)) {
        return false;
    }
    bool is_done = false;
    const Near near(values, strides, box);
    const auto add = [&]<class T>(T*) { is_done = add_to_box<T>(parts, box, near, 1); };
    visit_atomic(row_of(parts.array()).type, add, [&] {
        if (row_of(parts.array()).type == DType::complex128)
            is_done = add_to_box<double>(parts, box, near, 2);
        if (row_of(parts.array()).type == DType::complex64) is_done = add_to_box<float>(parts, box, near, 2);
    });
    return is_done;
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

PyObject* place(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
    return called("_place", [&] {
        const Arguments<5> a(place_spec, args, n, names);
        auto made = std::make_unique<Parts>();
        for (Py_ssize_t i = 0; i < PyTuple_Size(a[0]); ++i) made->axes.emplace_back(PyTuple_GetItem(a[0], i));
        if (given(a[1])) {
            made->memory = Ref::borrow(a[1]);
            Block* const block = block_of(array_arg(place_spec, "memory", a[1]));
            made->block = block;
            if (block != nullptr && !is_past(block) && g.context->window().heap_has(block->address)) {
                made->adds_plainly = true;
                made->serial = block->serial;
                mark_added_to(block);
            }
        }
        made->team = Ref::borrow(a[2]);
        made->me = int_of(place_spec, "me", a[3]);
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
    {"_place", with_keywords(place), METH_FASTCALL | METH_KEYWORDS,
     "_place($self, rows, memory, team, me, copies=None)\n--\n\n"
     "Set the layout (Layout.rows), this PE's block (None on GPUs), the team, this PE's number there, and "
     "the "
     "class of what a[box] returns."},
    {"_end", end, METH_NOARGS,
     "_end($self)\n--\n\nLeave all later calls to the general way: the block is freed."},
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
     const_cast<char*>("The base of distributed arrays: reads and writes of boxes on hosts. What it does not "
                       "take goes to the methods _get, _put, _get_item and _set_item of its subclass.")},
    {0, nullptr},
};
PyType_Spec type_spec{"atoll._atoll._Boxes", sizeof(Boxes), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};

}  // namespace

void register_boxes(PyObject* module) {
    read_signature(get_spec, "DistArray.get", "(box: Any, out: Any = None) -> Any");
    read_signature(put_spec, "DistArray.put", "(box: Any, value: Any) -> None");
    read_signature(add_spec, "_add", "(box: Any, value: Any) -> bool");
    read_signature(place_spec, "_place",
                   "(rows: Any, memory: Any, team: Any, me: int, copies: Any = None) -> None");
    const Ref type(PyType_FromSpec(&type_spec));
    if (PyModule_AddObjectRef(module, "_Boxes", type.get()) < 0) throw Raised{};
}

}  // namespace atl::python
