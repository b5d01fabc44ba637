// Addresses for loads and stores of objects on other PEs. Only this file of python/src asks whether a PE is
// near.
#pragma once

#include "atoll/context.hpp"

#include <cstddef>

namespace atl::python {

namespace detail {
template <class T> T* at_slot(const Context& ctx, T* symmetric, atl::detail::Slot slot) {
    if (!slot.is_near()) [[unlikely]]
        return nullptr;
    T* const there = ctx.window().at(symmetric, slot);
    if (there == nullptr) __builtin_unreachable();  // so that callers test the slot alone
    return there;
}
}  // namespace detail

/// True if loads and stores of this PE reach `pe`, which must be valid.
inline bool is_near(const Context& ctx, int pe) noexcept { return ctx.map().slot(pe).is_near(); }

/// The same object on `pe`; null if only a transport reaches it. The arguments are not checked.
template <class T> T* unchecked_address(const Context& ctx, T* symmetric, int pe) {
    return detail::at_slot(ctx, symmetric, ctx.map().slot(pe));
}
/// The same, with checks of the PE and of a range of symmetric memory. Throws Error: pe, not_symmetric.
template <class T>
T* near_address(const Context& ctx, T* symmetric, const void* low, std::size_t bytes, int pe) {
    return detail::at_slot(ctx, symmetric, ctx.route(low, bytes, pe));
}
template <class T> T* near_address(const Context& ctx, T* symmetric, std::size_t bytes, int pe) {
    return near_address(ctx, symmetric, symmetric, bytes, pe);
}
/// Likewise, for moves. Null, too, while operations are counted.
template <class T> T* address_of_move(const Context& ctx, T* symmetric, std::size_t bytes, int pe) {
    return detail::at_slot(ctx, symmetric, ctx.route_counted(symmetric, bytes, pe));
}
/// Likewise, for operations that also reach memory of GPUs. Null for that memory, and while operations are
/// counted.
template <class T> T* address_of_any(const Context& ctx, T* symmetric, std::size_t bytes, int pe) {
    return detail::at_slot(ctx, symmetric, ctx.route_any(symmetric, bytes, pe));
}

}  // namespace atl::python
