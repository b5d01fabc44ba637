// Remote atomics (OpenSHMEM 1.6, section 9.7) on 32- and 64-bit integers, float and double. They are atomic
// with one another, with waits and with signals on the same word. On words of this host they acquire and
// release. On the device heap a GPU performs them, so they are not atomic with plain CPU accesses to the same
// word.
#pragma once

#include "atoll/rma.hpp"

namespace atl::detail {

class ATOLL_API AtomicOps : public RmaOps {
  public:
    template <ExtendedAtomic T> T atomic_fetch(const T* src, int pe) const {
        return apply(AtomicOp::fetch, const_cast<T*>(src), T{}, T{}, pe, [](T* p) { return atomic_load(p); });
    }
    template <ExtendedAtomic T> void atomic_set(T* dst, std::type_identity_t<T> value, int pe) const {
        apply(AtomicOp::set, dst, value, T{}, pe, [=](T* p) { return atomic_store(p, value), T{}; });
    }
    /// Returns the previous value.
    template <ExtendedAtomic T> T atomic_swap(T* dst, std::type_identity_t<T> value, int pe) const {
        return apply(AtomicOp::swap, dst, value, T{}, pe, [=](T* p) { return atomic_exchange(p, value); });
    }
    /// Stores `value` if the word equals `expected`. Returns the previous value.
    template <StandardAtomic T>
    T atomic_compare_swap(T* dst, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                          int pe) const {
        const T before = apply(AtomicOp::compare_swap, dst, value, expected, pe,
                               [=](T* p) { return atomic_compare_exchange(p, expected, value); });
        if (window_.fast_limit() == 0 && before == expected) [[unlikely]]
            note_stored(dtype<T>, dst, to_word(value), pe);
        return before;
    }
    template <AddAtomic T> T atomic_fetch_add(T* dst, std::type_identity_t<T> value, int pe) const {
        return apply(AtomicOp::fetch_add, dst, value, T{}, pe,
                     [=](T* p) { return detail::atomic_add(p, value); });
    }
    template <AddAtomic T> void atomic_add(T* dst, std::type_identity_t<T> value, int pe) const {
        apply(AtomicOp::add, dst, value, T{}, pe, [=](T* p) { return detail::atomic_add(p, value); });
    }
    template <AddAtomic T> T atomic_fetch_inc(T* dst, int pe) const {
        return atomic_fetch_add(dst, T{1}, pe);
    }
    template <AddAtomic T> void atomic_inc(T* dst, int pe) const { atomic_add(dst, T{1}, pe); }
    template <BitwiseAtomic T> T atomic_fetch_and(T* dst, std::type_identity_t<T> value, int pe) const {
        return apply(AtomicOp::fetch_and, dst, value, T{}, pe,
                     [=](T* p) { return detail::atomic_and(p, value); });
    }
    template <BitwiseAtomic T> void atomic_and(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic_fetch_and(dst, value, pe);
    }
    template <BitwiseAtomic T> T atomic_fetch_or(T* dst, std::type_identity_t<T> value, int pe) const {
        return apply(AtomicOp::fetch_or, dst, value, T{}, pe,
                     [=](T* p) { return detail::atomic_or(p, value); });
    }
    template <BitwiseAtomic T> void atomic_or(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic_fetch_or(dst, value, pe);
    }
    template <BitwiseAtomic T> T atomic_fetch_xor(T* dst, std::type_identity_t<T> value, int pe) const {
        return apply(AtomicOp::fetch_xor, dst, value, T{}, pe,
                     [=](T* p) { return detail::atomic_xor(p, value); });
    }
    template <BitwiseAtomic T> void atomic_xor(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic_fetch_xor(dst, value, pe);
    }

    // Non-blocking fetching forms: `*fetch` is valid after quiet.
    template <ExtendedAtomic T> void atomic_fetch_nbi(T* fetch, const T* src, int pe) const {
        if (later(fetch, AtomicOp::fetch, const_cast<T*>(src), T{}, T{}, pe)) return;
        *fetch = atomic_fetch(src, pe);
    }
    template <ExtendedAtomic T>
    void atomic_swap_nbi(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::swap, dst, value, T{}, pe)) return;
        *fetch = atomic_swap(dst, value, pe);
    }
    template <StandardAtomic T>
    void atomic_compare_swap_nbi(T* fetch, T* dst, std::type_identity_t<T> expected,
                                 std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::compare_swap, dst, value, expected, pe)) return;
        *fetch = atomic_compare_swap(dst, expected, value, pe);
    }
    template <AddAtomic T> void atomic_fetch_inc_nbi(T* fetch, T* dst, int pe) const {
        atomic_fetch_add_nbi(fetch, dst, T{1}, pe);
    }
    template <AddAtomic T>
    void atomic_fetch_add_nbi(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::fetch_add, dst, value, T{}, pe)) return;
        *fetch = atomic_fetch_add(dst, value, pe);
    }
    template <BitwiseAtomic T>
    void atomic_fetch_and_nbi(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::fetch_and, dst, value, T{}, pe)) return;
        *fetch = atomic_fetch_and(dst, value, pe);
    }
    template <BitwiseAtomic T>
    void atomic_fetch_or_nbi(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::fetch_or, dst, value, T{}, pe)) return;
        *fetch = atomic_fetch_or(dst, value, pe);
    }
    template <BitwiseAtomic T>
    void atomic_fetch_xor_nbi(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        if (later(fetch, AtomicOp::fetch_xor, dst, value, T{}, pe)) return;
        *fetch = atomic_fetch_xor(dst, value, pe);
    }

    /// Type-erased form, for callers that learn operation and type at run time. Values travel in the low
    /// bytes of a uint64.
    std::uint64_t atomic_erased(AtomicOp op, DType type, void* dst, std::uint64_t value,
                                std::uint64_t compare, int pe) const;

  protected:
    AtomicOps() = default;

  private:
    /// Passes a fetching atomic to the transport, which fills `fetch` before quiet returns. False if the word
    /// is not reached through the transport.
    template <class T> bool later(T* fetch, AtomicOp op, T* dst, T value, T compare, int pe) const {
        if (!window_.routed) [[likely]]
            return false;
        if (route_any(dst, sizeof(T), pe).is_near() || is_on_device(dst)) return false;
        check_aligned(dst, sizeof(T));
        fetch_routed(*state_, op, dtype<T>, dst, to_word(value), to_word(compare), pe, fetch);
        return true;
    }
    template <class T, class Local>
    T apply(AtomicOp op, T* dst, T value, T compare, int pe, Local local) const {
        T* const there = address_for(op, dst, value, pe);
        check_aligned(dst, sizeof(T));
        if (there != nullptr) [[likely]]
            return local(there);
        const auto word = atomic_routed(*state_, op, dtype<T>, dst, to_word(value), to_word(compare), pe);
        return from_word<T>(static_cast<Word<T>>(word));
    }
};

}  // namespace atl::detail
