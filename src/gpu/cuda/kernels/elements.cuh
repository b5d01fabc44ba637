// Operations on single elements, each given by its index and PE: the work of one thread of the kernel. CPUs
// can run it too. Sources that include this define ATOLL_DEVICE_FAR=1.
#pragma once

#include "atoll/device/atomics.hpp"
#include "atoll/device/rma.hpp"
#include "gpu/device_calls.hpp"

namespace atl::kernels {

using gpu::ElementsCall;

/// Reports a wrong number like a wrong PE. Without checks (ATOLL_CHECK=none) the element is skipped. Takes
/// parts of the call rather than the call, which then stays in the kernel's parameters.
ATOLL_APART void refuse_index(const device::Control* control, device::Operation operation,
                              unsigned long long i, long long asked, unsigned long long size) {
    const device::Watch* watch = control->watch;
    if (!watch || control->checks == 0) return;
    device::Report what{};
    what.operation = operation;
    what.team = control->team;
    what.peer = -1;
    what.subject = device::Subject::wrong_index;
    what.address = i;
    what.found = static_cast<unsigned long long>(asked);
    what.expected = size;
#if defined(__CUDA_ARCH__)
    device::detail::report_and_trap(const_cast<device::Watch*>(watch), what);
#else
    if (watch->check) watch->check(*watch, what, 0);
#endif
}

ATOLL_ANYWHERE inline long long number_at(const gpu::ElementNumbers& numbers, unsigned long long i) {
    if (!numbers.each) return numbers.one;
    const unsigned long long at = i * numbers.step;
    return numbers.bytes == 8 ? static_cast<const long long*>(numbers.each)[at]
                              : static_cast<const int*>(numbers.each)[at];
}

/// The address of an element in this PE's slot, and the route to the PE.
struct Target {
    char* element;
    device::detail::Route route;
};

/// False if the element is to be skipped.
ATOLL_ANYWHERE inline bool find(const ElementsCall& call, unsigned long long i, Target& target) {
    const long long asked = number_at(call.index, i);
    const long long at = asked < 0 ? asked + static_cast<long long>(call.size) : asked;
    if (static_cast<unsigned long long>(at) >= call.size) {
        refuse_index(call.team.control, call.operation, call.begin + i, asked, call.size);
        return false;
    }
    const long long pe = number_at(call.pe, i);
    if (static_cast<unsigned long long>(pe) >= static_cast<unsigned long long>(call.team.n_pes)) {
        constexpr long long most = 0x7fffffff;
        const long long near = pe < -most ? -most : pe > most ? most : pe;
        device::detail::refuse_pe(call.team.control, call.operation, static_cast<int>(near), call.team.n_pes);
        return false;
    }
    target.element = call.first + at * call.step_bytes;
    target.route = device::detail::route_for(call.team, call.operation, target.element, static_cast<int>(pe));
    return true;
}

template <class U> ATOLL_ANYWHERE U load_unit(const U* from) {
    if constexpr (device::detail::is_word<U>())
        return device::load_relaxed(from);
    else
        return *from;
}
template <class U> ATOLL_ANYWHERE void store_unit(U* to, U value) {
    if constexpr (device::detail::is_word<U>())
        device::store_relaxed(to, value);
    else
        *to = value;
}

/// Returns the bytes of `call.value` from `at` on.
template <class U> ATOLL_ANYWHERE U part_of_value(const ElementsCall& call, unsigned long long at) {
    if constexpr (device::detail::is_word<U>())
        return static_cast<U>((at < 8 ? call.value[0] : call.value[1]) >> at % 8 * 8);
    else
        return U{{call.value[0], call.value[1]}};
}

template <class U>
ATOLL_ANYWHERE void take_element(const ElementsCall& call, const Target& target, unsigned long long i) {
    U* to = reinterpret_cast<U*>(call.values + i * call.values_step_bytes);
    const U* from = reinterpret_cast<const U*>(target.element);
    for (unsigned long long k = 0; k < call.element_bytes / sizeof(U); ++k)
        to[k] = device::detail::is_far(target.route.slot)
                    ? device::detail::far_load(call.team, call.operation, from + k, target.route.slot)
                    : load_unit(target.route.at(from + k));
}

template <class U>
ATOLL_ANYWHERE void put_element(const ElementsCall& call, const Target& target, unsigned long long i) {
    const U* from = reinterpret_cast<const U*>(call.values + i * call.values_step_bytes);
    U* to = reinterpret_cast<U*>(target.element);
    for (unsigned long long k = 0; k < call.element_bytes / sizeof(U); ++k) {
        const U value = call.values ? from[k] : part_of_value<U>(call, k * sizeof(U));
        if (device::detail::is_far(target.route.slot))
            device::detail::far_store(call.team, call.operation, to + k, value, target.route.slot);
        else
            store_unit(target.route.at(to + k), value);
    }
}

template <class T>
ATOLL_ANYWHERE void add_element(const ElementsCall& call, const Target& target, unsigned long long i) {
    using Bits = device::detail::BitsOf<T>;
    const T value = call.values ? *reinterpret_cast<const T*>(call.values + i * call.values_step_bytes)
                                : device::detail::from_bits<T>(static_cast<Bits>(call.value[0]));
    T* to = reinterpret_cast<T*>(target.element);
    if (device::detail::is_far(target.route.slot))
        device::detail::far_atomic(call.team, AtomicOp::add, to, value, target.route.slot);
    else
        static_cast<void>(device::detail::fetch_add_at(target.route.at(to), value));
}

template <class Move, class Scope>
ATOLL_ANYWHERE void each_element(const ElementsCall& call, Scope scope, Move move) {
    for (unsigned long long i = scope.rank(); i < call.count; i += scope.size()) {
        Target target;
        if (find(call, i, target)) move(target, i);
    }
}

template <class U, class Scope> ATOLL_ANYWHERE void move_units(const ElementsCall& call, Scope scope) {
    if (call.operation == device::Operation::take)
        each_element(call, scope,
                     [&](const Target& target, unsigned long long i) { take_element<U>(call, target, i); });
    else
        each_element(call, scope,
                     [&](const Target& target, unsigned long long i) { put_element<U>(call, target, i); });
}

template <class T, class Scope> ATOLL_ANYWHERE void add_words(const ElementsCall& call, Scope scope) {
    each_element(call, scope,
                 [&](const Target& target, unsigned long long i) { add_element<T>(call, target, i); });
}

/// Signed integers are added as unsigned ones; the bits are the same.
template <class Scope> ATOLL_ANYWHERE void add_elements(const ElementsCall& call, Scope scope) {
    if (call.type == DType::float32)
        add_words<float>(call, scope);
    else if (call.type == DType::float64)
        add_words<double>(call, scope);
    else if (call.element_bytes == 8)
        add_words<unsigned long long>(call, scope);
    else
        add_words<unsigned>(call, scope);
}

/// The scope's part: each thread takes elements in turn.
template <class Scope> ATOLL_ANYWHERE void move_elements(const ElementsCall& call, Scope scope) {
    if (call.operation == device::Operation::add_at)
        add_elements(call, scope);
    else if (call.unit_bytes == 16)
        move_units<device::detail::Quad>(call, scope);
    else if (call.unit_bytes == 8)
        move_units<unsigned long long>(call, scope);
    else if (call.unit_bytes == 4)
        move_units<unsigned>(call, scope);
    else if (call.unit_bytes == 2)
        move_units<unsigned short>(call, scope);
    else
        move_units<unsigned char>(call, scope);
}

}  // namespace atl::kernels
