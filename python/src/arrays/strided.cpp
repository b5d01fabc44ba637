#include "arrays/strided.hpp"

#include "atoll/detail/context_base.hpp"
#include "atoll/detail/memory_ops.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace atl::python {
namespace {

template <class Word>
void copy_words(char* dst, npy_intp dst_stride, const char* src, npy_intp src_stride, npy_intp n) {
    for (npy_intp i = 0; i < n; ++i, dst += dst_stride, src += src_stride) {
        // Relaxed atomics: words that others read meanwhile are not torn, and the compiler may not call
        // memcpy.
        const Word word = __atomic_load_n(reinterpret_cast<const Word*>(src), __ATOMIC_RELAXED);
        __atomic_store_n(reinterpret_cast<Word*>(dst), word, __ATOMIC_RELAXED);
    }
}

void copy_inner(char* dst, const char* src, const Axis& axis, std::size_t block) {
    const auto together = reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) |
                          static_cast<std::uintptr_t>(axis.dst) | static_cast<std::uintptr_t>(axis.src);
    const bool aligned = (together & (block - 1)) == 0;
    if (block == 8 && aligned) return copy_words<std::uint64_t>(dst, axis.dst, src, axis.src, axis.dim);
    if (block == 4 && aligned) return copy_words<std::uint32_t>(dst, axis.dst, src, axis.src, axis.dim);
    if (block == 2 && aligned) return copy_words<std::uint16_t>(dst, axis.dst, src, axis.src, axis.dim);
    if (block == 1) return copy_words<std::uint8_t>(dst, axis.dst, src, axis.src, axis.dim);
    for (npy_intp i = 0; i < axis.dim; ++i) std::memcpy(dst + i * axis.dst, src + i * axis.src, block);
}

// Runs of a large copy bypass the cache, as memcpy does from such sizes on: the target is not read before.
constexpr std::size_t streams_from = 4 << 20, streamed_run = 1024;

void copy_apart(char* dst, const npy_intp* dst_strides, const char* src, const npy_intp* src_strides,
                const npy_intp* dims, int nd, std::size_t item) {
    CopyPlan plan = plan_copy(dst_strides, src_strides, dims, nd, item);
    if (plan.n == 0) return detail::copy(dst, src, plan.block);
    std::size_t bytes = plan.block;
    for (int i = 0; i < plan.n; ++i) bytes *= static_cast<std::size_t>(plan.axes[i].dim);
    const bool is_streamed = bytes >= streams_from && plan.block >= streamed_run;
    const Axis inner = plan.axes[--plan.n];
    if (is_streamed)
        return for_each_block(plan, [&](npy_intp d, npy_intp s) {
            for (npy_intp i = 0; i < inner.dim; ++i)
                detail::copy_for_reader(dst + d + i * inner.dst, src + s + i * inner.src, plan.block, 0);
        });
    for_each_block(plan, [&](npy_intp d, npy_intp s) { copy_inner(dst + d, src + s, inner, plan.block); });
}

}  // namespace

Strides packed_strides(const npy_intp* dims, int nd, std::size_t item) noexcept {
    Strides packed{};
    auto step = static_cast<npy_intp>(item);
    for (int i = nd - 1; i >= 0; step *= dims[i--]) packed.of[i] = step;
    return packed;
}

ByteRange range_of(const char* data, const npy_intp* strides, const npy_intp* dims, int nd,
                   std::size_t item) noexcept {
    ByteRange range{reinterpret_cast<std::uintptr_t>(data), reinterpret_cast<std::uintptr_t>(data) + item};
    for (int i = 0; i < nd; ++i) {
        const npy_intp reach = (dims[i] - 1) * strides[i];
        if (reach < 0)
            range.low -= static_cast<std::uintptr_t>(-reach);
        else
            range.high += static_cast<std::uintptr_t>(reach);
    }
    return range;
}

CopyPlan plan_copy(const npy_intp* dst_strides, const npy_intp* src_strides, const npy_intp* dims, int nd,
                   std::size_t item) {
    CopyPlan plan;
    plan.block = item;
    for (int i = 0; i < nd; ++i) {
        if (dims[i] == 1) continue;
        const Axis axis{dims[i], dst_strides[i], src_strides[i]};
        int at = plan.n++;
        // The target determines the order: sequential writes matter more than sequential reads.
        for (; at > 0 && std::labs(plan.axes[at - 1].dst) < std::labs(axis.dst); --at)
            plan.axes[at] = plan.axes[at - 1];
        plan.axes[at] = axis;
    }
    int kept = 0;
    for (int i = 0; i < plan.n; ++i) {
        const Axis& axis = plan.axes[i];
        if (kept > 0 && plan.axes[kept - 1].dst == axis.dst * axis.dim &&
            plan.axes[kept - 1].src == axis.src * axis.dim)
            plan.axes[kept - 1] = {plan.axes[kept - 1].dim * axis.dim, axis.dst, axis.src};
        else
            plan.axes[kept++] = axis;
    }
    plan.n = kept;
    const auto bytes = static_cast<npy_intp>(item);
    if (plan.n > 0 && plan.axes[plan.n - 1].dst == bytes && plan.axes[plan.n - 1].src == bytes)
        plan.block *= static_cast<std::size_t>(plan.axes[--plan.n].dim);
    return plan;
}

void copy_strided(char* dst, const npy_intp* dst_strides, const char* src, const npy_intp* src_strides,
                  const npy_intp* dims, int nd, std::size_t item) {
    std::size_t size = item;
    for (int i = 0; i < nd; ++i) size *= static_cast<std::size_t>(dims[i]);
    if (size == 0) return;
    const ByteRange to = range_of(dst, dst_strides, dims, nd, item);
    const ByteRange from = range_of(src, src_strides, dims, nd, item);
    if (to.high <= from.low || from.high <= to.low)
        return copy_apart(dst, dst_strides, src, src_strides, dims, nd, item);
    // The ranges overlap: copy through a buffer in C order.
    std::vector<char> buffer(size);
    const Strides packed = packed_strides(dims, nd, item);
    copy_apart(buffer.data(), packed.of, src, src_strides, dims, nd, item);
    copy_apart(dst, dst_strides, buffer.data(), packed.of, dims, nd, item);
}

}  // namespace atl::python
