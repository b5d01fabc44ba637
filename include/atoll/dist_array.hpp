// DistArray: one N-dimensional array distributed over all PEs, read and written by any PE.
#pragma once

#include "atoll/atoll.hpp"
#include "atoll/detail/halo_exchange.hpp"

#include <memory>

namespace atl {

/// An N-dimensional array whose parts lie in the symmetric memory of all PEs. It has the names and the
/// distributions of `atoll.DistArray` in Python.
///
/// Each PE owns a part, `local()`. Any PE reads and writes any box of global indices by `get` and `put`,
/// without a call of the owner. A write is visible to other PEs after a barrier, as for Context::put. A read
/// sees what the owner's last barrier made visible. Calls marked collective are made by all PEs of the job.
///
/// Throws Error(invalid_argument) for boxes and indices out of range, and Error(shape_mismatch) for arrays
/// of another shape.
template <Symmetric T, std::size_t N> class DistArray {
  public:
    /// A handle without an array.
    DistArray() = default;
    /// An array of zeros, of global lengths `shape`. Collective. Throws Error: invalid_argument if grid,
    /// distribution or halo do not fit, on every PE; collective_mismatch if PEs pass different ones;
    /// out_of_memory.
    DistArray(Job& job, const Index<N>& shape, const DistOptions<N>& options = {})
        : layout_(agreed(job, {shape, job.n_pes(), options})),
          me_(job.my_pe()),
          n_pes_(job.n_pes()),
          block_(job, count_of(layout_.block())),
          context_(job.context()),
          world_(job.world()) {
        if (layout_.has_halo()) halo_ = std::make_unique<detail::HaloExchange<N>>(job);
    }

    /// Global lengths.
    Index<N> shape() const { return layout_.shape(); }
    /// Parts along each axis. PEs are numbered in C order.
    Index<N> grid() const { return layout_.grid(); }
    /// Elements of all parts together.
    std::size_t size() const { return count_of(shape()); }
    /// This PE's part, without the halo.
    View<T, N> local() const { return block().box(layout_.interior(me_)); }
    /// This PE's part with its halo.
    View<T, N> local_with_halo() const { return block().box(layout_.padded(me_)); }
    /// The global indices of a PE's part. Throws Error(invalid_argument) if an axis is cyclic.
    Box<N> bounds(int pe) const {
        check_pe(pe);
        return layout_.bounds(pe);
    }
    Box<N> bounds() const { return layout_.bounds(me_); }
    /// The PE that owns an element.
    int owner(const Index<N>& index) const {
        layout_.check("owner", index);
        return layout_.find(index).first;
    }
    /// Calls f(global index, element) for each element of this PE's part.
    template <class F> void for_each_local(F&& f) const {
        layout_.for_each_owned(me_, [&](int, const Box<N>& local, const Box<N>& global) {
            const View<T, N> part = block().box(local);
            part.for_each_index([&](const Index<N>& at) {
                Index<N> index{};
                for (std::size_t axis = 0; axis < N; ++axis)
                    index[axis] = global[axis].start + at[axis] * global[axis].step;
                f(std::as_const(index), part[at]);
            });
        });
    }

    // ---- one-sided; not collective
    /// Copies the elements of a box to `out`, of the box's lengths and with positive strides.
    void get(const Box<N>& box, const View<T, N>& out) const {
        check_box("get", box, out);
        layout_.for_each_piece(box, [&](int pe, const Box<N>& local, const Box<N>& place) {
            detail::move_box<false>(context_, block().box(local), out.box(place), pe);
        });
    }
    /// The elements of a box in C order.
    std::vector<T> get(const Box<N>& box) const {
        layout_.check("get", box);
        std::vector<T> found(count_of(extents_of(box)));
        get(box, View<T, N>(found.data(), extents_of(box)));
        return found;
    }
    /// Copies `values`, of the box's lengths and with positive strides, to a box.
    void put(const Box<N>& box, const View<const T, N>& values) const {
        check_box("put", box, values);
        layout_.for_each_piece(box, [&](int pe, const Box<N>& local, const Box<N>& place) {
            detail::move_box<true>(context_, block().box(local), values.box(place), pe);
        });
    }
    void put(const Box<N>& box, std::span<const T> values) const { put(box, view_of("put", box, values)); }
    /// Adds scale * values to a box, each element atomically. PEs that add to one element lose nothing.
    void accumulate(const Box<N>& box, const View<const T, N>& values,
                    T scale = T{1}) const requires AddAtomic<T> {
        check_box("accumulate", box, values);
        layout_.for_each_piece(box, [&](int pe, const Box<N>& local, const Box<N>& place) {
            const View<T, N> there = block().box(local);
            const View<const T, N> here = values.box(place);
            there.for_each_index([&](const Index<N>& at) {
                context_.atomic_add(&there[at], static_cast<T>(scale * here[at]), pe);
            });
        });
    }
    void accumulate(const Box<N>& box, std::span<const T> values,
                    T scale = T{1}) const requires AddAtomic<T> {
        accumulate(box, view_of("accumulate", box, values), scale);
    }
    /// One element.
    T g(const Index<N>& index) const {
        const auto [pe, address] = place("g", index);
        return context_.g(address, pe);
    }
    void p(const Index<N>& index, T value) const {
        const auto [pe, address] = place("p", index);
        context_.p(address, value, pe);
    }
    /// Adds to one element atomically; returns its value before.
    T fetch_add(const Index<N>& index, T value) const requires AddAtomic<T> {
        const auto [pe, address] = place("fetch_add", index);
        return context_.atomic_fetch_add(address, value, pe);
    }

    // ---- collective
    /// Fills the halo of every part with the neighbours' elements, corners included. Each PE waits for its
    /// neighbours only. By default the borders are those of the first exchange, or fixed; an array keeps its
    /// borders.
    void exchange_halo(const std::array<Border, N>& borders) {
        start_halo(borders);
        finish_halo();
    }
    void exchange_halo(Border border) { exchange_halo(borders_of(border)); }
    void exchange_halo() { exchange_halo(own_borders()); }
    /// Sends the neighbours their halo. Until finish_halo, do not read this PE's halo, and do not change
    /// `local()`.
    void start_halo(const std::array<Border, N>& borders) {
        if (!halo_)
            detail::refuse(ErrorCode::invalid_argument,
                           "this array has no halo; make it with DistOptions{.halo = ...}");
        halo_->start(context_, layout_, me_, block(), borders);
    }
    void start_halo(Border border) { start_halo(borders_of(border)); }
    void start_halo() { start_halo(own_borders()); }
    /// Waits until this PE's halo has arrived.
    void finish_halo() {
        if (!halo_) detail::refuse(ErrorCode::invalid_argument, "finish_halo without start_halo");
        halo_->finish(context_, layout_, me_, block());
    }
    /// The same elements in another distribution. Each PE puts what it has, so a barrier comes first if
    /// others wrote to this array.
    DistArray redistribute(Job& job, const DistOptions<N>& options) const {
        DistArray made(job, shape(), options);
        layout_.for_each_owned(me_, [&](int, const Box<N>& local, const Box<N>& global) {
            made.put(global, block().box(local));
        });
        world_.barrier();
        return made;
    }
    /// The whole array in C order, on every PE.
    std::vector<T> to_vector() const {
        world_.barrier();
        std::vector<T> found = get(layout_.whole());
        world_.barrier();
        return found;
    }
    /// Frees the memory. The destructor is local: it marks the memory as dropped by this PE.
    void free() {
        block_.free();
        if (halo_) halo_->free();
        halo_.reset();
    }

  private:
    View<T, N> block() const { return {block_.data(), layout_.block()}; }
    static std::array<Border, N> borders_of(Border border) {
        std::array<Border, N> found{};
        found.fill(border);
        return found;
    }
    std::array<Border, N> own_borders() const { return halo_ ? halo_->borders() : borders_of(Border::fixed); }
    void check_pe(int pe) const {
        if (pe < 0 || pe >= n_pes_)
            detail::refuse(ErrorCode::pe, "PE " + std::to_string(pe) +
                                              " does not exist; the job has PEs 0 to " +
                                              std::to_string(n_pes_ - 1));
    }
    template <class U> void check_box(const char* call, const Box<N>& box, const View<U, N>& values) const {
        layout_.check(call, box);
        if (values.extents() != extents_of(box))
            detail::refuse(ErrorCode::shape_mismatch, std::string(call) + ": the array has lengths " +
                                                          detail::text_of(values.extents()) +
                                                          ", and the box " +
                                                          detail::text_of(extents_of(box)));
        for (std::size_t axis = 0; axis < N && values.size() != 0; ++axis)
            if (values.stride(axis) < 1 && values.extent(axis) > 1)
                detail::refuse(ErrorCode::invalid_argument, std::string(call) + ": the array has strides " +
                                                                detail::text_of(values.strides()) +
                                                                "; expected 1 or more");
    }
    View<const T, N> view_of(const char* call, const Box<N>& box, std::span<const T> values) const {
        layout_.check(call, box);
        if (values.size() != count_of(extents_of(box)))
            detail::refuse(ErrorCode::shape_mismatch,
                           std::string(call) + ": " + std::to_string(values.size()) +
                               " elements for a box of " + detail::text_of(extents_of(box)));
        return {values.data(), extents_of(box)};
    }
    std::pair<int, T*> place(const char* call, const Index<N>& index) const {
        layout_.check(call, index);
        const auto [pe, at] = layout_.find(index);
        return {pe, &block()[at]};
    }
    /// Returns a layout that all PEs passed. Collective.
    static detail::Layout<N> agreed(Job& job, detail::Layout<N> layout) {
        const std::uint64_t mine = layout.fingerprint();
        std::uint64_t first = 0;
        job.world().broadcast(std::span(&first, 1), std::span(&mine, 1), 0);
        const int differs = mine != first ? job.my_pe() + 1 : 0;
        int other = 0;
        job.world().max_reduce(std::span(&other, 1), std::span(&differs, 1));
        if (other != 0)
            detail::refuse(ErrorCode::collective_mismatch,
                           "DistArray: PE " + std::to_string(other - 1) +
                               " passed another shape, grid, distribution or halo than PE 0; this PE passed "
                               "shape " +
                               detail::text_of(layout.shape()) + " on a grid of " +
                               detail::text_of(layout.grid()));
        return layout;
    }

    detail::Layout<N> layout_;
    int me_ = 0, n_pes_ = 0;
    SymmetricArray<T> block_;
    Context context_;
    Team world_;
    std::unique_ptr<detail::HaloExchange<N>> halo_;  ///< null without a halo
};

}  // namespace atl
