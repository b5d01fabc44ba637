// Notes the puts and atomic operations of this PE, for the hang report.
#pragma once

#include "arrays/array_arguments.hpp"
#include "core/context/update_notes.hpp"
#include "core/sync/poll_watch.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace atl::python {

/// One integer that the note can hold, from its bytes.
inline std::uint64_t note_value(const char* element, std::size_t bytes, bool is_signed) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, element, bytes);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes);
    if (!is_signed) return value;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

/// `bytes` from `source` have been put to `target`. An integer of `dst`'s dtype is noted with its value.
inline void note_put(const Context& ctx, PyArrayObject* dst, const Extent& target, const char* source,
                     int pe) noexcept {
    using common::UpdateKind;
    const int type = PyArray_DESCR(dst)->type_num;
    if (target.bytes == 0) return;
    if (target.bytes <= sizeof(std::uint64_t) && target.bytes == item_bytes(dst) && PyTypeNum_ISINTEGER(type))
        core::note_write(ctx.state(), target.low, UpdateKind::set,
                         note_value(source, target.bytes, PyTypeNum_ISSIGNED(type)), pe);
    else
        core::note_write(ctx.state(), target.low, UpdateKind::put, target.bytes, pe);
}

/// The program has looked at an element of team PE `pe`, which was `found`, and changed nothing. `loop` names
/// repetitions. A word of floating-point numbers is no flag or counter.
template <class T>
void note_poll(const Context& ctx, const char* loop, const T* element, T found, int pe) noexcept {
    if (!core::polls_are_watched.load(std::memory_order_relaxed)) [[likely]]
        return;
    if constexpr (std::is_integral_v<T>)
        core::note_poll(ctx.job(), loop, element, sizeof(T), ctx.world_pe(pe),
                        static_cast<std::uint64_t>(found));
}

/// `operation` has been applied to an element.
template <class T>
void note_atomic(const Context& ctx, AtomicOp operation, const T* element, T value, int pe) noexcept {
    using common::UpdateKind;
    UpdateKind kind = UpdateKind::change;
    std::uint64_t noted = 0;
    if constexpr (std::is_integral_v<T>) {
        noted = static_cast<std::uint64_t>(value);
        if (operation == AtomicOp::set || operation == AtomicOp::swap || operation == AtomicOp::compare_swap)
            kind = UpdateKind::set;  // the caller leaves out a compare_swap that changed nothing
        if (operation == AtomicOp::add || operation == AtomicOp::fetch_add) kind = UpdateKind::add;
    }
    core::note_write(ctx.state(), element, kind, noted, pe);
}

}  // namespace atl::python
