// Additions to boxes on hosts, the quick form of `accumulate`.
#include "arrays/additions.hpp"
#include "arrays/near_address.hpp"
#include "core/job/job_state.hpp"
#include "operations/boxes/parts.hpp"

namespace atl::python {
namespace {

/// True if every PE of the team shares memory with this one. Then all of them see the words of update locks.
bool all_near(const Context& ctx) noexcept {
    for (int pe = 0; ctx.map().table != nullptr && pe < ctx.map().n_pes; ++pe)
        if (!is_near(ctx, pe)) return false;
    return is_near(ctx, ctx.my_pe());
}

/// Adds values of `items` T an element to a box. False if an owner's memory is not mapped here; then nothing
/// is done.
template <class T> bool add_to_box(const Parts& parts, const Box& box, const Near& near, int items) {
    PyArrayObject* const block = parts.array();
    static const Spec call{"accumulate"};
    const Context& ctx = parts.context(call);
    core::UpdateWord* const word = parts.adds_plainly && all_near(ctx)
                                       ? core::update_word(ctx.job().arena().updates(), parts.block->serial)
                                       : nullptr;
    bool is_mapped = reinterpret_cast<std::uintptr_t>(PyArray_BYTES(block)) % sizeof(T) == 0;
    for_each_owner(parts.axes, box,
                   [&](int pe, const BoxShare*) { is_mapped = is_mapped && is_near(ctx, pe); });
    if (!is_mapped) return false;
    for_each_owner(parts.axes, box, [&](int pe, const BoxShare* shares) {
        const Portion portion(block, box, near, shares);
        Addition all{nullptr, portion.here, {}, {}, {}, box.nd};
        std::copy_n(portion.dims, box.nd, all.dims);
        std::copy_n(portion.steps, box.nd, all.steps);
        std::copy_n(near.strides, box.nd, all.strides);
        if (items > 1) {
            all.dims[all.nd] = items;
            all.steps[all.nd] = all.strides[all.nd] = sizeof(T);
            ++all.nd;
        }
        const auto n = static_cast<std::size_t>(all.size());
        all.there = near_address(ctx, portion.own, portion.span, pe);
        const atl::detail::Measured measured{ctx.job(), ctx.window().counts,
                                             atl::detail::Measured::Kind::call, "add_at", n * sizeof(T)};
        ReleaseGil released(n >= releases_gil_from);
        add<T>(ctx.job(), word == nullptr ? nullptr : ctx.window().heap_at(word, ctx.map().slot(pe)), all);
    });
    return true;
}

/// True if the elements of an array may lie in symmetric memory, where those of the box may change meanwhile.
bool may_be_shared(PyArrayObject* values) {
    PyObject* const base = PyArray_BASE(values);
    return base != nullptr && (Py_TYPE(base) != g.ndarray || PyArray_BASE(as_array(base)) != nullptr);
}

}  // namespace

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
        if (may_be_shared(as_array(value)) || !broadcast(as_array(value), dims, nd, strides)) return false;
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

}  // namespace atl::python
