#include "arrays/far_moves.hpp"

#include "core/job/job_state.hpp"
#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace atl::python {
namespace {

npy_intp far_stride(const Axis& axis, bool put) { return put ? axis.dst : axis.src; }

/// The axis that one strided call handles: the longest on the far side, the innermost of equal ones; -1 if
/// all far strides are 0.
int longest_axis(const CopyPlan& plan, bool put) {
    int longest = -1;
    for (int i = 0; i < plan.n; ++i) {
        const Axis& axis = plan.axes[i];
        if (far_stride(axis, put) == 0) continue;
        if (longest < 0 || axis.dim >= plan.axes[longest].dim) longest = i;
    }
    return longest;
}

/// The number of calls that move_blocks makes.
npy_intp calls_for(const CopyPlan& plan, bool put) {
    npy_intp calls = 1;
    for (int i = 0; i < plan.n; ++i) calls *= plan.axes[i].dim;
    const int longest = longest_axis(plan, put);
    return longest < 0 ? calls : calls / plan.axes[longest].dim;
}

/// `on` is a Context or StreamContext; both have the same members.
template <class On>
void move_blocks(const On& on, const FarTransfer& t, const CopyPlan& plan, char* dst, const char* src) {
    const auto one = [&](npy_intp d, npy_intp s) {
        if (t.put)
            on.put_bytes(dst + d, src + s, plan.block, t.pe);
        else
            on.get_bytes(dst + d, src + s, plan.block, t.pe);
    };
    const int at = longest_axis(plan, t.put);
    if (at < 0) return for_each_block(plan, one);
    // One call handles that axis. If the far side's stride is negative, it starts from the other end.
    CopyPlan outer = plan;
    Axis* const longest = outer.axes + at;
    Axis inner = *longest;
    std::copy(longest + 1, outer.axes + outer.n--, longest);
    if (far_stride(inner, t.put) < 0) {
        dst += inner.dst * (inner.dim - 1);
        src += inner.src * (inner.dim - 1);
        inner.dst = -inner.dst;
        inner.src = -inner.src;
    }
    for_each_block(outer, [&](npy_intp d, npy_intp s) {
        on.strided_any(
            {dst + d, src + s, inner.dst, inner.src, plan.block, static_cast<std::size_t>(inner.dim), 1},
            t.pe, t.put);
    });
}

CopyPlan plan_of(const FarTransfer& t) {
    return t.put ? plan_copy(t.far_strides, t.near_strides, t.dims, t.nd, t.item)
                 : plan_copy(t.near_strides, t.far_strides, t.dims, t.nd, t.item);
}

template <class On> void move_all(const On& on, const FarTransfer& t, const CopyPlan& plan) {
    if (t.put)
        move_blocks(on, t, plan, t.far, t.near);
    else
        move_blocks(on, t, plan, t.near, t.far);
}

/// A dense buffer of the host, whose elements have the order of the far side's.
class Stage {
  public:
    explicit Stage(const FarTransfer& t) : through_(t) {
        int order[NPY_MAXDIMS];
        for (int i = 0; i < t.nd; ++i) order[i] = i;
        std::stable_sort(order, order + t.nd, [&](int a, int b) {
            return std::labs(t.far_strides[a]) > std::labs(t.far_strides[b]);
        });
        auto step = static_cast<npy_intp>(t.item);
        for (int k = t.nd - 1; k >= 0; --k) {
            const int i = order[k];
            strides_[i] = t.far_strides[i] < 0 ? -step : step;
            if (t.far_strides[i] < 0) first_ += step * (t.dims[i] - 1);
            step *= t.dims[i];
        }
        through_.near_strides = strides_;
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    CopyPlan plan() const { return plan_of(through_); }
    void move(const Context& ctx, const FarTransfer& t) {
        const std::unique_ptr<char[]> memory(new char[bytes_of(t)]);
        through_.near = memory.get() + first_;
        if (t.put) copy_strided(through_.near, strides_, t.near, t.near_strides, t.dims, t.nd, t.item);
        move_all(ctx, through_, plan());
        if (!t.put) copy_strided(t.near, t.near_strides, through_.near, strides_, t.dims, t.nd, t.item);
    }

  private:
    FarTransfer through_;
    npy_intp strides_[NPY_MAXDIMS] = {};
    npy_intp first_ = 0;
};

/// From this size on, the cost of a call is small beside the move itself.
constexpr std::size_t few_calls_from_bytes = std::size_t{256} << 10;

/// True if a buffer saves many small calls. Also true if the sides have opposite directions or one repeats,
/// which networks do not support.
bool gains_by_stage(const FarTransfer& t, const CopyPlan& plan, const CopyPlan& staged) {
    const int at = longest_axis(plan, t.put);
    if (at < 0) return plan.n != 0;
    const Axis& inner = plan.axes[at];
    if ((inner.dst > 0) != (inner.src > 0) || inner.dst == 0 || inner.src == 0) return true;
    const npy_intp calls = calls_for(plan, t.put);
    return calls > calls_for(staged, t.put) &&
           bytes_of(t) / static_cast<std::size_t>(calls) < few_calls_from_bytes;
}

bool repeats_one(const FarTransfer& t) {
    for (int i = 0; i < t.nd; ++i)
        if (t.dims[i] != 1 && t.near_strides[i] != 0) return false;
    return true;
}

constexpr std::size_t repeated_bytes = std::size_t{1} << 20;

/// Fills the far side with one element. If the far side is this PE's own memory, the filled part is the
/// source of the next copy.
void repeat(const Context& ctx, const FarTransfer& t, std::size_t bytes) {
    const std::size_t part = std::min(bytes, std::max(repeated_bytes / t.item, std::size_t{1}) * t.item);
    const std::unique_ptr<char[]> memory(new char[part]);
    for (std::size_t at = 0; at < part; at += t.item) std::memcpy(memory.get() + at, t.near, t.item);
    ctx.put_bytes(t.far, memory.get(), part, t.pe);
    const bool own = t.pe == ctx.my_pe();
    for (std::size_t done = part; done < bytes;) {
        const std::size_t next = std::min(bytes - done, own ? done : part);
        ctx.put_bytes(t.far + done, own ? t.far : memory.get(), next, t.pe);
        done += next;
    }
}

bool is_repeated(const FarTransfer& t, int axis) { return t.far_strides[axis] == 0 && t.dims[axis] != 1; }

/// Reads a repeating source once and repeats it locally.
void get_once(const Context& ctx, const FarTransfer& t);

void move_by_few_calls(const Context& ctx, const FarTransfer& t, std::size_t bytes) {
    const CopyPlan plan = plan_of(t);
    if (!t.near_on_host || plan.n == 0) return move_all(ctx, t, plan);
    for (int i = 0; !t.put && i < t.nd; ++i)
        if (is_repeated(t, i)) return get_once(ctx, t);
    Stage stage(t);
    const CopyPlan staged = stage.plan();
    if (t.put && staged.n == 0 && repeats_one(t)) return repeat(ctx, t, bytes);
    if (!gains_by_stage(t, plan, staged)) return move_all(ctx, t, plan);
    stage.move(ctx, t);
}

void get_once(const Context& ctx, const FarTransfer& t) {
    npy_intp dims[NPY_MAXDIMS];
    Strides once{};
    for (int i = 0; i < t.nd; ++i) {
        dims[i] = is_repeated(t, i) ? 1 : t.dims[i];
        once.of[i] = is_repeated(t, i) ? 0 : t.near_strides[i];
    }
    FarTransfer part = t;
    part.dims = dims;
    move_by_few_calls(ctx, part, bytes_of(part));
    copy_strided(t.near, t.near_strides, t.near, once.of, t.dims, t.nd, t.item);
}

/// The address of the far side in this process; null if a transport reaches it, or if it is the host's.
const char* far_here(const Context& ctx, const FarTransfer& t) {
    if (t.pe == ctx.my_pe()) return t.far;
    const gpu::DeviceMemory* device = ctx.job().devices().memory();
    if (device == nullptr || static_cast<unsigned>(t.pe) >= static_cast<unsigned>(ctx.n_pes()) ||
        !device->holds(t.far))
        return nullptr;
    return static_cast<const char*>(device->at(t.far, ctx.world_pe(t.pe)));
}

/// True if the call writes local memory that it also reads; then all is read before the first write. The
/// local memory may be another PE's (atoll.peer).
bool overlaps(const Context& ctx, const FarTransfer& t) {
    const char* const there = t.near_on_host ? nullptr : far_here(ctx, t);
    if (there == nullptr) return false;
    const ByteRange far = range_of(there, t.far_strides, t.dims, t.nd, t.item);
    const ByteRange near = range_of(t.near, t.near_strides, t.dims, t.nd, t.item);
    return far.low < near.high && near.low < far.high;
}

/// Moves a part in one slot: this PE's or, in the window, another's.
void move_slot(const Context& ctx, FarTransfer part) {
    if (!g.job->is_symmetric(part.far, 1)) {
        // The window's slots are the PEs of `shared`, in order.
        const Team& shared = g.job->shared();
        const device::Team team = shared.device(Memory::device);
        const auto slot = static_cast<int>((part.far - team.window) / team.stride);
        part.far += (team.my_slot - slot) * team.stride;
        part.pe = shared.world_pe(slot);
    }
    move_by_few_calls(ctx, part, bytes_of(part));
}

/// The axis that goes from PE to PE (as in atoll.global_view); -1 without such an axis.
int axis_of_pes(const FarTransfer& t) {
    const ByteRange range = range_of(t.far, t.far_strides, t.dims, t.nd, t.item);
    if (g.job->is_symmetric(reinterpret_cast<const void*>(range.low), range.high - range.low)) return -1;
    const auto step = static_cast<npy_intp>(g.job->shared().device(Memory::device).stride);
    for (int i = 0; i < t.nd; ++i)
        if (t.dims[i] != 1 && std::labs(t.far_strides[i]) >= step) return i;
    return -1;
}

void move_slots(const Context& ctx, FarTransfer part) {
    const int axis = axis_of_pes(part);
    if (axis < 0) return move_slot(ctx, part);
    npy_intp dims[NPY_MAXDIMS];
    std::copy_n(part.dims, part.nd, dims);
    const npy_intp pes = dims[axis];
    dims[axis] = 1;
    part.dims = dims;
    for (npy_intp i = 0; i < pes; ++i) {
        move_slot(ctx, part);
        part.far += part.far_strides[axis];
        part.near += part.near_strides[axis];
    }
}

void move_through_host(const Context& ctx, const FarTransfer& t, std::size_t bytes) {
    const std::unique_ptr<char[]> memory(new char[bytes]);
    const Strides packed = packed_strides(t.dims, t.nd, t.item);
    FarTransfer far = t;
    far.near = memory.get();
    far.near_strides = packed.of;
    far.near_on_host = true;
    FarTransfer near = far;
    near.far = t.near;
    near.far_strides = t.near_strides;
    near.pe = g.job->my_pe();
    near.put = !t.put;
    if (t.put) move_slots(*g.context, near);
    move_by_few_calls(ctx, far, bytes);
    if (!t.put) move_slots(*g.context, near);
}

}  // namespace

FarTransfer whole(PyArrayObject* far, char* near, const npy_intp* near_strides, int pe, bool put,
                  bool near_on_host) noexcept {
    return {PyArray_BYTES(far), PyArray_STRIDES(far), near, near_strides, PyArray_DIMS(far),
            PyArray_NDIM(far),  item_bytes(far),      pe,   put,          near_on_host};
}

std::size_t bytes_of(const FarTransfer& t) noexcept {
    std::size_t bytes = t.item;
    for (int i = 0; i < t.nd; ++i) bytes *= static_cast<std::size_t>(t.dims[i]);
    return bytes;
}

void move_far(const Context& ctx, const FarTransfer& t) {
    const std::size_t bytes = bytes_of(t);
    if (bytes == 0) return ctx.check_pe(t.pe);
    ReleaseGil released(bytes >= release_gil_bytes);
    if (overlaps(ctx, t))
        move_through_host(ctx, t, bytes);
    else
        move_by_few_calls(ctx, t, bytes);
}

void move_in_window(const Context& ctx, const FarTransfer& t) {
    ReleaseGil released(bytes_of(t) >= release_gil_bytes);
    move_slots(ctx, t);
}

void move_on_stream(const StreamContext& stream, const FarTransfer& t) { move_all(stream, t, plan_of(t)); }

}  // namespace atl::python
