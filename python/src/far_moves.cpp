#include "far_moves.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace atl::python {
namespace {

npy_intp far_stride(const Axis& axis, bool put) { return put ? axis.dst : axis.src; }

/// The one that a call takes: of the far side's, which goes forward in a call; of several the innermost. -1:
/// none.
int longest_axis(const CopyPlan& plan, bool put) {
    int longest = -1;
    for (int i = 0; i < plan.n; ++i) {
        const Axis& axis = plan.axes[i];
        if (far_stride(axis, put) == 0) continue;
        if (longest < 0 || axis.dim >= plan.axes[longest].dim) longest = i;
    }
    return longest;
}

/// How many calls move_blocks makes.
npy_intp calls_for(const CopyPlan& plan, bool put) {
    npy_intp calls = 1;
    for (int i = 0; i < plan.n; ++i) calls *= plan.axes[i].dim;
    const int longest = longest_axis(plan, put);
    return longest < 0 ? calls : calls / plan.axes[longest].dim;
}

/// Any of Context and StreamContext, which spell these alike.
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
    // That axis is one call; where the far side goes back, from its other end.
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

/// Memory of the host in which the elements stand as densely as they can in the order of the far side's.
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

/// From here on a call's own time is little beside what it moves.
constexpr std::size_t few_calls_from_bytes = std::size_t{256} << 10;

/// Many small calls where there were fewer by way of a stage; or sides that go opposite ways, or one
/// repeated, which networks have not.
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

/// One element, over and over: what stands there already is the next copy's source where that is this PE's
/// own memory.
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

void move_by_few_calls(const Context& ctx, const FarTransfer& t, std::size_t bytes) {
    const CopyPlan plan = plan_of(t);
    if (!t.near_on_host || plan.n == 0) return move_all(ctx, t, plan);
    Stage stage(t);
    const CopyPlan staged = stage.plan();
    if (t.put && staged.n == 0 && repeats_one(t)) return repeat(ctx, t, bytes);
    if (!gains_by_stage(t, plan, staged)) return move_all(ctx, t, plan);
    stage.move(ctx, t);
}

/// Local memory that the call writes, too: all is read before anything is written.
bool overlaps(const Context& ctx, const FarTransfer& t) {
    if (t.near_on_host || t.pe != ctx.my_pe()) return false;
    const ByteRange far = range_of(t.far, t.far_strides, t.dims, t.nd, t.item);
    const ByteRange near = range_of(t.near, t.near_strides, t.dims, t.nd, t.item);
    return far.low < near.high && near.low < far.high;
}

void move_through_host(const Context& ctx, const FarTransfer& t, std::size_t bytes) {
    const std::unique_ptr<char[]> memory(new char[bytes]);
    npy_intp packed[NPY_MAXDIMS];
    auto step = static_cast<npy_intp>(t.item);
    for (int i = t.nd - 1; i >= 0; step *= t.dims[i--]) packed[i] = step;
    const FarTransfer far{t.far, t.far_strides, memory.get(), packed, t.dims,
                          t.nd,  t.item,        t.pe,         t.put,  true};
    FarTransfer near = far;
    near.far = t.near;
    near.far_strides = t.near_strides;
    near.put = !t.put;
    move_by_few_calls(ctx, t.put ? near : far, bytes);
    move_by_few_calls(ctx, t.put ? far : near, bytes);
}

}  // namespace

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

void move_on_stream(const StreamContext& stream, const FarTransfer& t) { move_all(stream, t, plan_of(t)); }

}  // namespace atl::python
