// DistArray: one N-dimensional array distributed over the PEs of a team, read and written by any of them.
#pragma once

#include "atoll/atoll.hpp"
#include "atoll/detail/agreement.hpp"
#include "atoll/detail/elements_at.hpp"
#include "atoll/detail/halo_exchange.hpp"
#include "atoll/detail/team_block.hpp"

#include <memory>

namespace atl {

template <Symmetric T, std::size_t N> class DistArray;

namespace detail {
/// Moves the elements of an array to an array of another team.
template <class T, std::size_t N> struct TeamChange {
    static DistArray<T, N> redistributed(const DistArray<T, N>& array, const Team& team, const Team& over,
                                         const DistOptions<N>& options);
};
}  // namespace detail

/// An N-dimensional array whose parts lie in the symmetric memory of a team's PEs. It has the names and the
/// distributions of `atoll.DistArray` in Python.
///
/// Each PE owns a part, `local()`. Any PE reads and writes any box of global indices by `get` and `put`,
/// without a call of the owner. A write is visible to other PEs after `team().barrier()`, as for
/// Context::put. A read sees what the owner's last barrier made visible. Calls marked collective are made by
/// all PEs of the team, and by no others. PE numbers are those within the team.
///
/// With Distribution::replicated() several PEs have copies. Reads take this PE's copy where it has one.
/// Writes by index or box change all copies, and those to `local()` this PE's alone. Atomic additions are
/// refused.
///
/// Only a team of all PEs has memory without preparation. That of other teams comes from what all PEs have
/// reserved by Job::reserve_for_teams. An array keeps its team: handles of the team may be destroyed before
/// it. After Team::destroy its collective calls throw Error(use_after_free), except the halo exchange. That,
/// one-sided calls and the destructor still work.
///
/// Throws Error(invalid_argument) for boxes and indices out of range, and Error(shape_mismatch) for arrays
/// of another shape. A handle without an array throws Error(use_after_free).
template <Symmetric T, std::size_t N> class DistArray {
  public:
    /// A handle without an array.
    DistArray() = default;
    /// An array of zeros, of global lengths `shape`. Collective over the team. Throws Error on every PE:
    /// invalid_argument if grid, distribution or halo do not fit; out_of_memory. Also collective_mismatch, if
    /// PEs pass different ones or have different element types. Throws Error(invalid_argument) on a PE that
    /// is not a member of the team.
    DistArray(const Team& team, const Index<N>& shape, const DistOptions<N>& options = {})
        : DistArray(team, agreed("DistArray", team, shape, options)) {}
    /// The same over all PEs of a job.
    DistArray(Job& job, const Index<N>& shape, const DistOptions<N>& options = {})
        : DistArray(job.world(), shape, options) {}

    /// True for a handle that has an array.
    explicit operator bool() const noexcept { return memory_.address() != nullptr; }
    /// The PEs that have the array.
    const Team& team() const { return team_; }
    /// Global lengths.
    Index<N> shape() const { return layout_.shape(); }
    /// Parts along each axis. PEs are numbered in C order.
    Index<N> grid() const { return layout_.grid(); }
    /// Distribution, grid and halo. An array made or redistributed with them has the same distribution.
    const DistOptions<N>& options() const { return layout_.options(); }
    /// Elements of all parts together.
    std::size_t size() const { return count_of(shape()); }
    /// This PE's part, without the halo.
    View<T, N> local() const { return block().box(layout_.interior(me_)); }
    /// This PE's part with its halo.
    View<T, N> local_with_halo() const { return block().box(layout_.padded(me_)); }
    /// The global indices of a PE's part. Throws Error(invalid_argument) if an axis is cyclic.
    Box<N> bounds(int pe) const {
        const detail::Layout<N>& all = layout();
        check_pe(pe);
        return all.bounds(pe);
    }
    Box<N> bounds() const { return layout().bounds(me_); }
    /// The global indices along an axis of a PE's part, ascending.
    std::vector<std::ptrdiff_t> global_indices(std::size_t axis, int pe) const {
        const detail::Layout<N>& all = layout();
        check_pe(pe);
        return all.indices(axis, pe);
    }
    std::vector<std::ptrdiff_t> global_indices(std::size_t axis) const { return layout().indices(axis, me_); }
    /// The PE that owns an element; of copies the first.
    int owner(const Index<N>& index) const {
        layout().check("owner", index);
        return layout().find(index).first;
    }
    /// Calls f(global index, element) for each element of this PE's part.
    template <class F> void for_each_local(F&& f) const {
        layout().for_each_local(me_, [&](int, const Box<N>& local, const Box<N>& global) {
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
        layout().for_each_piece(box, me_, [&](int pe, const Box<N>& local, const Box<N>& target) {
            detail::move_box<false>(context_, block().box(local), out.box(target), pe);
        });
    }
    /// The elements of a box in C order.
    std::vector<T> get(const Box<N>& box) const {
        layout().check("get", box);
        std::vector<T> found(count_of(extents_of(box)));
        get(box, View<T, N>(found.data(), extents_of(box)));
        return found;
    }
    /// Copies `values`, of the box's lengths and with positive strides, to a box.
    void put(const Box<N>& box, const View<const T, N>& values) const {
        check_box("put", box, values);
        layout().for_each_piece(box, all_copies, [&](int pe, const Box<N>& local, const Box<N>& target) {
            detail::move_box<true>(context_, block().box(local), values.box(target), pe);
        });
    }
    void put(const Box<N>& box, std::span<const T> values) const { put(box, view_of("put", box, values)); }
    /// Adds scale * values to a box, each element atomically, and each part of complex numbers. PEs that add
    /// to one element lose nothing. Throws Error(unsupported) if the array has copies.
    void accumulate(const Box<N>& box, const View<const T, N>& values,
                    T scale = T{1}) const requires detail::Addable<T> {
        refuse_copies("accumulate");
        check_box("accumulate", box, values);
        layout().for_each_piece(box, me_, [&](int pe, const Box<N>& local, const Box<N>& target) {
            const View<T, N> there = block().box(local);
            const View<const T, N> here = values.box(target);
            there.for_each_index([&](const Index<N>& at) {
                detail::add_atomically(context_, &there[at], static_cast<T>(scale * here[at]), pe);
            });
        });
    }
    void accumulate(const Box<N>& box, std::span<const T> values,
                    T scale = T{1}) const requires detail::Addable<T> {
        refuse_copies("accumulate");
        accumulate(box, view_of("accumulate", box, values), scale);
    }
    /// One element.
    T g(const Index<N>& index) const {
        const auto [pe, address] = locate("g", index);
        return context_.g(address, pe);
    }
    void p(const Index<N>& index, T value) const {
        const auto [pe, address] = locate("p", index);
        if (!layout_.has_copies()) [[likely]]
            return context_.p(address, value, pe);
        layout_.for_each_copy(pe, [&, at = address](int copy) { context_.p(at, value, copy); });
    }
    /// Adds to one element atomically; returns its value before. Throws Error(unsupported) if the array has
    /// copies.
    T fetch_add(const Index<N>& index, T value) const requires AddAtomic<T> {
        refuse_copies("fetch_add");
        const auto [pe, address] = locate("fetch_add", index);
        return context_.atomic_fetch_add(address, value, pe);
    }

    /// Elements by a list of indices: `a.at(list).get()`, `set(values)`, `add(values)`. Valid while the array
    /// and the list are.
    detail::ElementsAt<DistArray> at(std::span<const Index<N>> indices) const {
        require_array();
        return {*this, indices};
    }

    // ---- collective over the team
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
        require_array();
        if (!halo_)
            detail::refuse(ErrorCode::invalid_argument,
                           "this array has no halo; make it with DistOptions{.halo = ...}");
        halo_->start(context_, layout_, me_, block(), borders);
    }
    void start_halo(Border border) { start_halo(borders_of(border)); }
    void start_halo() { start_halo(own_borders()); }
    /// Waits until this PE's halo has arrived.
    void finish_halo() {
        require_array();
        if (!halo_) detail::refuse(ErrorCode::invalid_argument, "finish_halo without start_halo");
        halo_->finish(context_, layout_, me_, block());
    }
    /// The same elements in another distribution. Each PE puts what it has, of copies a share, so a barrier
    /// comes first if others wrote to this array. `redistribute(b.options())` gives the distribution of b.
    DistArray redistribute(const DistOptions<N>& options) const {
        const View<T, N> mine = block();
        DistArray made(team_, agreed("redistribute", team_, shape(), options));
        layout_.for_each_owned(
            me_, [&](int, const Box<N>& local, const Box<N>& global) { made.put(global, mine.box(local)); });
        team_.barrier();
        return made;
    }
    /// The same for an array over all PEs of `job`. Throws Error(invalid_argument) if it is over others.
    DistArray redistribute(Job& job, const DistOptions<N>& options) const {
        if (!(team_ == job.world()))
            detail::refuse(ErrorCode::invalid_argument,
                           "redistribute(job, ...): this array is over a team; use a.redistribute(options) "
                           "within the team, or atl::redistribute(a, job.world(), job.world()) for all PEs");
        return redistribute(options);
    }
    /// The whole array in C order, on every PE.
    std::vector<T> to_vector() const {
        require_array();
        team_.barrier();
        std::vector<T> found = get(layout_.whole());
        team_.barrier();
        return found;
    }
    /// The whole array in C order on PE `root` of the team; empty on the others.
    std::vector<T> gather(int root = 0) const {
        require_array();
        check_pe(root);
        team_.barrier();
        std::vector<T> found;
        if (me_ == root) found = get(layout_.whole());
        team_.barrier();
        return found;
    }
    /// Frees the memory. The destructor is local: it marks the memory as dropped by this PE. Dropped memory
    /// is free once all PEs of the team have dropped it and make another array.
    void free() {
        memory_.free();
        halo_.reset();
    }

  private:
    template <class> friend class detail::ElementsAt;
    // Clang 14 to 16 find no friend that is a function template with constraints, hence a class.
    friend struct detail::TeamChange<T, N>;
    using HaloExchange = detail::HaloExchange<N>;

    static constexpr int all_copies = detail::Layout<N>::all_copies;

    static detail::Layout<N> agreed(const char* call, const Team& team, const Index<N>& shape,
                                    const DistOptions<N>& options) {
        detail::require_member(call, team);
        return detail::agreed_layout<T>(team, call, shape, team.n_pes(), options);
    }
    /// An array of a layout that all PEs have agreed on. Collective.
    DistArray(const Team& team, detail::Layout<N> layout)
        : team_(team),
          layout_(std::move(layout)),
          me_(team_.my_pe()),
          n_pes_(team_.n_pes()),
          memory_(team_, bytes_of(layout_)),
          block_(static_cast<T*>(memory_.address()), layout_.block()),
          context_(team_.context()) {
        if (layout_.has_halo())
            halo_ = std::make_unique<HaloExchange>(reinterpret_cast<std::uint64_t*>(
                static_cast<char*>(memory_.address()) + signals_at(layout_)));
    }
    /// The signals of the halo exchange lie behind the elements, in cache lines of their own.
    static std::size_t signals_at(const detail::Layout<N>& layout) {
        const std::size_t bytes = detail::ContextBase::bytes_of<T>(count_of(layout.block()));
        return bytes > SIZE_MAX / 2 ? bytes : (bytes + 63) / 64 * 64;
    }
    static std::size_t bytes_of(const detail::Layout<N>& layout) {
        const std::size_t bytes = signals_at(layout);
        const bool has_signals = layout.has_halo() && bytes <= SIZE_MAX / 2;
        return bytes + (has_signals ? HaloExchange::words * sizeof(std::uint64_t) : 0);
    }
    void require_array() const {
        if (!*this) [[unlikely]]
            detail::refuse(ErrorCode::use_after_free,
                           "this handle has no array: it was freed or moved from, or none was made; make "
                           "another one");
    }
    const View<T, N>& block() const {
        require_array();
        return block_;
    }
    const detail::Layout<N>& layout() const {
        require_array();
        return layout_;
    }
    static std::array<Border, N> borders_of(Border border) {
        std::array<Border, N> found{};
        found.fill(border);
        return found;
    }
    std::array<Border, N> own_borders() const { return halo_ ? halo_->borders() : borders_of(Border::fixed); }
    void check_pe(int pe) const {
        if (pe < 0 || pe >= n_pes_)
            detail::refuse(ErrorCode::pe, "PE " + std::to_string(pe) +
                                              " does not exist; the array's team has PEs 0 to " +
                                              std::to_string(n_pes_ - 1));
    }
    void refuse_copies(const char* call) const {
        if (layout().has_copies()) [[unlikely]]
            detail::refuse(
                ErrorCode::unsupported,
                std::string(call) +
                    ": an axis is replicated, and no update of several copies is atomic. Update an "
                    "array in blocks, and redistribute it with Distribution::replicated()");
    }
    template <class U> void check_box(const char* call, const Box<N>& box, const View<U, N>& values) const {
        layout().check(call, box);
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
        layout().check(call, box);
        if (values.size() != count_of(extents_of(box)))
            detail::refuse(ErrorCode::shape_mismatch,
                           std::string(call) + ": " + std::to_string(values.size()) +
                               " elements for a box of " + detail::text_of(extents_of(box)));
        return {values.data(), extents_of(box)};
    }
    std::pair<int, T*> locate(const char* call, const Index<N>& index) const {
        layout().check(call, index);
        const auto [pe, at] = layout_.find(index, me_);
        return {pe, &block()[at]};
    }

    Team team_;
    detail::Layout<N> layout_;
    int me_ = 0, n_pes_ = 0;
    detail::TeamBlock memory_;
    View<T, N> block_;
    Context context_;                     ///< the team's
    std::unique_ptr<HaloExchange> halo_;  ///< null without a halo
};

template <class T, std::size_t N>
DistArray<T, N> detail::TeamChange<T, N>::redistributed(const DistArray<T, N>& array, const Team& team,
                                                        const Team& over, const DistOptions<N>& options) {
    const char* const call = "redistribute";
    detail::require_member(call, over);
    const bool has_array = static_cast<bool>(array);
    const Index<N> mine = has_array ? array.shape() : Index<N>{};
    std::vector<std::uint64_t> facts(mine.begin(), mine.end());
    facts.push_back(sizeof(T));
    facts = detail::agreed(over, call, "array", has_array ? array.team_ : Team(), facts).facts;
    const std::vector<int> members = detail::agreed(over, call, "team", team, {}).members;
    Index<N> shape{};
    std::copy_n(facts.begin(), N, shape.begin());
    const detail::Layout<N> layout =
        detail::agreed_layout<T>(over, call, shape, static_cast<int>(members.size()), options);

    DistArray<T, N> made;
    std::optional<Error> problem;
    try {
        if (team) made = DistArray<T, N>(team, layout);
    } catch (const Error& error) {
        problem = error;
    }
    detail::raise_together(over, call, problem);
    // A PE without a part of it addresses the others' by the same place in its own heap.
    const Context& context = over.context();
    char* const heap = context.window().mine;
    const std::ptrdiff_t own = team ? reinterpret_cast<char*>(made.block_.data()) - heap : -1;
    std::ptrdiff_t offset = 0;
    over.max_reduce(std::span(&offset, 1), std::span(&own, 1));
    const View<T, N> there(reinterpret_cast<T*>(heap + offset), layout.block());
    if (has_array)
        array.layout_.for_each_owned(array.me_, [&](int, const Box<N>& local, const Box<N>& global) {
            const View<const T, N> given = array.block_.box(local);
            const auto put = [&](int pe, const Box<N>& target, const Box<N>& piece) {
                detail::move_box<true>(context, there.box(target), given.box(piece),
                                       members[static_cast<std::size_t>(pe)]);
            };
            layout.for_each_piece(global, detail::Layout<N>::all_copies, put);
        });
    over.barrier();
    return made;
}

/// Returns the elements of an array as an array of another team. Collective over `over`, a team that has all
/// PEs of both, such as `job.world()`. Each PE puts what it has, once.
///
/// PEs without the array pass an empty handle, DistArray(). Those outside `team` pass an empty Team(), and
/// get an empty handle. All pass the same options. The members see all elements.
///
/// Throws Error on every PE of `over`: collective_mismatch or out_of_memory, or invalid_argument if the
/// options do not fit. It is invalid_argument, too, if no PE passed an array or a team, or PEs passed
/// different ones.
template <Symmetric T, std::size_t N>
DistArray<T, N> redistribute(const DistArray<T, N>& array, const Team& team, const Team& over,
                             const DistOptions<N>& options = {}) {
    return detail::TeamChange<T, N>::redistributed(array, team, over, options);
}

}  // namespace atl
