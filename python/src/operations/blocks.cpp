// A part of atoll.arrays in C++: additions to elements by global numbers.
#include "arrays/additions.hpp"
#include "arrays/transfer.hpp"
#include "calls/registry.hpp"
#include "core/job/job_state.hpp"
#include "operations/elements/irregular.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace atl::python {
namespace {

Spec add_in_blocks_spec;

/// The places of the elements of all PEs' blocks.
struct Blocks {
    const Context& ctx;
    char* data;
    npy_int64 item;
    std::vector<npy_int64> ends;  ///< ends of the blocks: the first numbers of the next ones
    std::vector<char*>
        origins;  ///< the address that element 0 would have if the block went back to it; null: far
    bool has_far = false;

    /// The PE that has an element. There are few, so that counting is faster than a search.
    std::size_t owner(npy_int64 index) const noexcept {
        std::size_t pe = 0;
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) pe += index >= ends[i];
        return pe;
    }

    template <class T> void add_far(npy_int64 index, T value) const {
        const std::size_t pe = owner(index);
        const npy_int64 first = pe == 0 ? 0 : ends[pe - 1];
        ctx.atomic_add(reinterpret_cast<T*>(data) + (index - first), value, static_cast<int>(pe));
    }
};

/// Reads the bounds: each PE's first element, and the number of all.
Blocks blocks_of(const Context& ctx, PyArrayObject* dst, const npy_int64* bounds, std::size_t n) {
    const auto n_pes = static_cast<std::size_t>(ctx.n_pes());
    const auto room = static_cast<npy_int64>(size_of(dst));
    bool fits = n == n_pes + 1 && bounds[0] == 0;
    for (std::size_t pe = 0; fits && pe < n_pes; ++pe)
        fits = bounds[pe] <= bounds[pe + 1] && bounds[pe + 1] - bounds[pe] <= room;
    if (!fits)
        fail(ErrorCode::shape_mismatch,
             "add_in_blocks(): bounds must have %zu numbers, ascending from 0, and blocks of at most %lld "
             "elements, the "
             "size of dst.",
             n_pes + 1, static_cast<long long>(room));
    Blocks made{ctx, PyArray_BYTES(dst), static_cast<npy_int64>(item_bytes(dst)), {}, {}};
    for (std::size_t pe = 0; pe < n_pes; ++pe) {
        char* const there = unchecked_address(ctx, made.data, static_cast<int>(pe));
        made.ends.push_back(bounds[pe + 1]);
        made.origins.push_back(there != nullptr ? there - bounds[pe] * made.item : nullptr);
        made.has_far = made.has_far || there == nullptr;
    }
    return made;
}

/// True if all numbers are from 0 to last: no difference has its highest bit set.
bool in_range(const npy_int64* index, std::size_t n, npy_int64 last) {
    npy_int64 found = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto rest = static_cast<npy_uint64>(last) - static_cast<npy_uint64>(index[i]);
        found |= index[i] | static_cast<npy_int64>(rest);
    }
    return found >= 0;
}

/// Calls `use` with the address of each element and its position, prefetched. `find` gives the address of a
/// number.
template <class T, class Find, class Use>
void for_each(const npy_int64* index, std::size_t n, Find find, Use use) {
    constexpr std::size_t ring = std::bit_ceil(prefetched_ahead);
    T* elements[ring];
    const auto prepare = [&](std::size_t i) {
        T* const element = find(index[i]);
        __builtin_prefetch(element, 1);
        elements[i % ring] = element;
    };
    const std::size_t lead = std::min(prefetched_ahead, n);
    for (std::size_t i = 0; i < lead; ++i) prepare(i);
    for (std::size_t i = lead; i < n; ++i) {
        use(elements[(i - lead) % ring], i - lead);
        prepare(i);
    }
    for (std::size_t i = n - lead; i < n; ++i) use(elements[i % ring], i);
}

/// Adds by atomic operations. One or two blocks need no table of origins.
template <class T>
void add(const Blocks& blocks, const npy_int64* index, const T* values, bool one, std::size_t n) {
    const auto add_near = [=](T* element, std::size_t i) {
        atl::detail::atomic_add(element, values[one ? 0 : i]);
    };
    const auto origin = [&](std::size_t pe) { return reinterpret_cast<T*>(blocks.origins[pe]); };
    if (blocks.has_far || blocks.origins.size() > 2) {
        const auto find = [&](npy_int64 number) -> T* {
            T* const first = origin(blocks.owner(number));
            return first == nullptr ? nullptr : first + number;
        };
        for_each<T>(index, n, find, [&](T* element, std::size_t i) {
            if (element == nullptr) [[unlikely]]
                blocks.add_far(index[i], values[one ? 0 : i]);
            else
                add_near(element, i);
        });
        return;
    }
    T *const first = origin(0), *const last = origin(blocks.origins.size() - 1);
    const npy_int64 end = blocks.ends[0];
    for_each<T>(
        index, n, [=](npy_int64 number) { return (number < end ? first : last) + number; }, add_near);
}

/// Adds by atomic operations, and notices the end of the job on the way.
template <class T>
void add_beside_others(const Blocks& blocks, const npy_int64* index, const T* values, bool one,
                       std::size_t n) {
    constexpr std::size_t most = 16 * added_at_once;
    for (std::size_t i = 0; i < n; i += most) {
        core::throw_if_over(blocks.ctx.job(), "add_at");
        add(blocks, index + i, one ? values : values + i, one, std::min(most, n - i));
    }
}

/// Adds by plain additions to the only PE's block.
template <class T>
void add_to_only_block(T* block, const npy_int64* index, const T* values, bool one, std::size_t n) {
    for_each<T>(
        index, n, [=](npy_int64 number) { return block + number; },
        [=](T* element, std::size_t i) { *element = detail::sum_of(*element, values[one ? 0 : i]); });
}

/// Adds by plain additions under the update lock of the only PE's block, which other threads may hold.
template <class T>
void add_alone(const Blocks& blocks, std::uint64_t serial, const npy_int64* index, const T* values, bool one,
               std::size_t n) {
    core::JobState& job = blocks.ctx.job();
    core::UpdateWord& word = *core::update_word(job.arena().updates(), serial);
    constexpr std::size_t most = added_at_once;
    for (std::size_t i = 0; i < n; i += most) {
        const core::UpdateLock lock(job, word, "add_at");
        const T* const from = one ? values : values + i;
        const std::size_t some = std::min(most, n - i);
        if (lock.is_held())
            add_to_only_block(reinterpret_cast<T*>(blocks.data), index + i, from, one, some);
        else
            add(blocks, index + i, from, one, some);
    }
}

PyObject* add_in_blocks_body(const Arguments<6>& a) {
    const Context& ctx = context_of(add_in_blocks_spec, a[4], a[5]);
    PyArrayObject* dst = array_arg(add_in_blocks_spec, "dst", a[0]);
    const Extent extent = symmetric_arg(add_in_blocks_spec, "dst", dst, true);
    const Ref values = values_of(add_in_blocks_spec, dst, a[2]);
    const Ref index = integer_array(add_in_blocks_spec, "index", a[1]);
    const Ref bounds = integer_array(add_in_blocks_spec, "bounds", a[3]);
    const std::size_t n = size_of(index.array()), n_values = size_of(values.array());
    if (PyArray_NDIM(dst) != 1 || !c_contiguous(dst) || !c_contiguous(values.array()) ||
        (n_values != n && n_values != 1))
        fail(ErrorCode::shape_mismatch,
             "add_in_blocks(): dst must be contiguous and have one axis, and there are %zu contiguous values "
             "or one, not "
             "%zu.",
             n, n_values);
    const Blocks blocks = blocks_of(ctx, dst, static_cast<const npy_int64*>(PyArray_DATA(bounds.array())),
                                    size_of(bounds.array()));
    if (n == 0) return none();
    const auto* numbers = static_cast<const npy_int64*>(PyArray_DATA(index.array()));
    if (!in_range(numbers, n, blocks.ends.back() - 1)) {
        PyErr_Format(PyExc_IndexError, "add_in_blocks(): index holds numbers outside 0 to %lld.",
                     static_cast<long long>(blocks.ends.back() - 1));
        throw Raised{};
    }
    ctx.route(extent.low, extent.bytes, static_cast<int>(blocks.owner(numbers[0])));
    Block* const block = block_of(dst);
    // An atomic operation of another thread closes the lock only of a block that is noted.
    const bool is_alone =
        ctx.job().n_pes() == 1 && block != nullptr && __atomic_load_n(&block->added_to, __ATOMIC_ACQUIRE);
    if (!is_alone) use_atomics_on(block);
    const auto loop = [&]<class T>(T*) {
        if (reinterpret_cast<std::uintptr_t>(blocks.data) % sizeof(T) != 0)
            atl::detail::throw_misaligned(blocks.data, sizeof(T));
        const atl::detail::Measured measured{ctx.job(), ctx.window().counts,
                                             atl::detail::Measured::Kind::call, "add_at", n * sizeof(T)};
        ReleaseGil released(n >= releases_gil_from);
        const auto* from = static_cast<const T*>(PyArray_DATA(values.array()));
        if (is_alone)
            add_alone<T>(blocks, block->serial, numbers, from, n_values == 1, n);
        else
            add_beside_others<T>(blocks, numbers, from, n_values == 1, n);
    };
    const DTypeRow& row = row_of(dst);
    const auto refuse = [&] { fail_atomic_dtype(add_in_blocks_spec, dst); };
    if (!row.known) refuse();
    visit_atomic(row.type, loop, refuse);
    return none();
}

const Function blocks_functions[] = {
    {"_add_in_blocks", entry<6, add_in_blocks_spec, add_in_blocks_body>,
     "(dst: Array, index: AnySource, values: AnySource, bounds: AnySource, *, ctx: Context | None = None, "
     "team: "
     "Team | None = None) -> None",
     R"(Add values atomically to elements of an array in blocks over the PEs, as add_at; for atoll.arrays.

Parameters
----------
dst
    This PE's block in memory of the host, with one axis.
index
    Numbers in the whole array, from 0.
values
    An array of dst's dtype with as many elements, or a number.
bounds
    The first number of each PE's block, then that of all elements.

Raises
------
IndexError, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree)"},
};

}  // namespace

void register_blocks(PyObject* module) { register_functions(module, blocks_functions); }

}  // namespace atl::python
