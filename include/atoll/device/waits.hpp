// Waits and tests for this PE's own words (OpenSHMEM 1.6, section 9.10), with acquire order for all threads
// of the scope. A word has 4 or 8 bytes. `status` may be null; words whose entry is not 0 are left out. The
// _vector forms compare word i with values[i].
#pragma once

#include "atoll/device/rma.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// Returned if no word satisfies, or all words are left out.
constexpr unsigned long long no_index = ~0ull;

namespace detail {

/// One value for all words, with the interface of an array.
template <class T> struct Everywhere {
    T value;
    ATOLL_ANYWHERE T operator[](unsigned long long) const { return value; }
};

template <class T, class Values> struct Words {
    const T* words;
    unsigned long long n;
    const int* status;
    Compare cmp;
    Values values;

    ATOLL_ANYWHERE bool counts(unsigned long long i) const { return !status || status[i] == 0; }
    ATOLL_ANYWHERE bool satisfies(unsigned long long i, T found) const {
        return compare(found, cmp, static_cast<T>(values[i]));
    }
    ATOLL_ANYWHERE bool holds(unsigned long long i) const {
        return satisfies(i, device::load_acquire(words + i));
    }
    /// The first included word, which reports name.
    ATOLL_ANYWHERE unsigned long long first() const {
        unsigned long long i = 0;
        while (i + 1 < n && !counts(i)) ++i;
        return i;
    }
    /// Returns the first word that satisfies; `left` counts the included ones.
    ATOLL_ANYWHERE unsigned long long any(unsigned long long& left) const {
        left = 0;
        for (unsigned long long i = 0; i < n; ++i) {
            if (!counts(i)) continue;
            ++left;
            if (holds(i)) return i;
        }
        return no_index;
    }
    ATOLL_ANYWHERE unsigned long long some(unsigned long long* indices, unsigned long long& left) const {
        unsigned long long found = 0;
        left = 0;
        for (unsigned long long i = 0; i < n; ++i) {
            if (!counts(i)) continue;
            ++left;
            if (holds(i)) indices[found++] = i;
        }
        return found;
    }
    /// The value that one word is awaited to have; 0 for several.
    ATOLL_ANYWHERE unsigned long long traced_value() const {
        return n == 1 ? bits_of(static_cast<T>(values[0])) : 0;
    }
    ATOLL_ANYWHERE Report report(const Team& team, unsigned long long i, const Call& call) const {
        return waiting(team.control, call, words + i, cmp, static_cast<T>(values[i]));
    }
};

template <class T, class Values, class Scope>
ATOLL_ANYWHERE void wait_all(const Team& team, const Words<T, Values>& all, Scope scope, Call call) {
    const Traced traced(team, scope, call.operation, -1, all.words, 0, all.traced_value());
    for (unsigned long long i = scope.rank(); i < all.n; i += scope.size())
        if (all.counts(i))
            spin_on(
                team, all.words + i, [&](T found) { return all.satisfies(i, found); },
                [&] { return all.report(team, i, call); });
    scope.sync();
}

template <class T, class Values, class Scope>
ATOLL_ANYWHERE bool test_all(const Words<T, Values>& all, Scope scope) {
    int hold = 1;
    if (scope.rank() == 0)
        for (unsigned long long i = 0; i < all.n && hold; ++i) hold = !all.counts(i) || all.holds(i);
    return scope.broadcast(hold) != 0;
}

template <class T, class Values, class Scope>
ATOLL_ANYWHERE unsigned long long wait_any(const Team& team, const Words<T, Values>& all, Scope scope,
                                           Call call) {
    const Traced traced(team, scope, call.operation, -1, all.words, 0, all.traced_value());
    unsigned long long index = no_index, left = 0;
    if (scope.rank() == 0)
        spin(
            team, [&] { return (index = all.any(left)) != no_index || left == 0; },
            [&] { return all.report(team, all.first(), call); });
    return scope.broadcast(index);
}

template <class T, class Values, class Scope>
ATOLL_ANYWHERE unsigned long long test_any(const Words<T, Values>& all, Scope scope) {
    unsigned long long left = 0;
    return scope.broadcast(scope.rank() == 0 ? all.any(left) : no_index);
}

template <class T, class Values, class Scope>
ATOLL_ANYWHERE unsigned long long wait_some(const Team& team, const Words<T, Values>& all,
                                            unsigned long long* indices, Scope scope, Call call) {
    const Traced traced(team, scope, call.operation, -1, all.words, 0, all.traced_value());
    unsigned long long found = 0, left = 0;
    if (scope.rank() == 0)
        spin(
            team, [&] { return (found = all.some(indices, left)) != 0 || left == 0; },
            [&] { return all.report(team, all.first(), call); });
    return scope.broadcast(found);
}

template <class T, class Values, class Scope>
ATOLL_ANYWHERE unsigned long long test_some(const Words<T, Values>& all, unsigned long long* indices,
                                            Scope scope) {
    unsigned long long left = 0;
    return scope.broadcast(scope.rank() == 0 ? all.some(indices, left) : 0ull);
}

template <class T>
ATOLL_ANYWHERE Words<T, Everywhere<T>> words(const T* words, unsigned long long n, const int* status,
                                             Compare cmp, T value) {
    return {words, n, status, cmp, {value}};
}
template <class T>
ATOLL_ANYWHERE Words<T, const T*> words_of(const T* words, unsigned long long n, const int* status,
                                           Compare cmp, const T* values) {
    return {words, n, status, cmp, values};
}

}  // namespace detail

/// Wait until this PE's word cmp `value` holds. A wait longer than `bound_ns` is reported with `tag`. Memory
/// order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void wait_until(const Team& team, const T* ivar, Compare cmp, SameAs<T> value,
                               Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    detail::wait_all(team, detail::words<T>(ivar, 1, nullptr, cmp, value), scope,
                     {Operation::wait_until, tag, bound_ns});
}

/// Return whether this PE's word cmp `value` holds, to all threads of the scope. It does not wait. Memory
/// order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool test(const Team&, const T* ivar, Compare cmp, SameAs<T> value, Scope scope = {}) {
    return detail::test_all(detail::words<T>(ivar, 1, nullptr, cmp, value), scope);
}

/// Wait until ivars[i] cmp `value` holds for all of this PE's words. Returns at once if all words are left
/// out. A wait longer than `bound_ns` is reported with `tag`. Memory order: acquire, for all threads of the
/// scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void wait_until_all(const Team& team, const T* ivars, unsigned long long n, const int* status,
                                   Compare cmp, SameAs<T> value, Scope scope = {}, int tag = 0,
                                   unsigned long long bound_ns = 0) {
    detail::wait_all(team, detail::words<T>(ivars, n, status, cmp, value), scope,
                     {Operation::wait_until_all, tag, bound_ns});
}

/// Wait until ivars[i] cmp `value` holds for one of this PE's words, and return the lowest such i. Returns
/// no_index at once if all words are left out. A wait longer than `bound_ns` is reported with `tag`. Memory
/// order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long wait_until_any(const Team& team, const T* ivars, unsigned long long n,
                                                 const int* status, Compare cmp, SameAs<T> value,
                                                 Scope scope = {}, int tag = 0,
                                                 unsigned long long bound_ns = 0) {
    return detail::wait_any(team, detail::words<T>(ivars, n, status, cmp, value), scope,
                            {Operation::wait_until_any, tag, bound_ns});
}

/// Wait until ivars[i] cmp `value` holds for at least one of this PE's words, and return how many hold. Rank
/// 0 of the scope writes their indices to indices[0], …. Returns 0 at once if all words are left out. A wait
/// longer than `bound_ns` is reported with `tag`. Memory order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long wait_until_some(const Team& team, const T* ivars, unsigned long long n,
                                                  unsigned long long* indices, const int* status, Compare cmp,
                                                  SameAs<T> value, Scope scope = {}, int tag = 0,
                                                  unsigned long long bound_ns = 0) {
    return detail::wait_some(team, detail::words<T>(ivars, n, status, cmp, value), indices, scope,
                             {Operation::wait_until_some, tag, bound_ns});
}

/// Return whether ivars[i] cmp `value` holds for all of this PE's words. It does not wait. Memory order:
/// acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool test_all(const Team&, const T* ivars, unsigned long long n, const int* status,
                             Compare cmp, SameAs<T> value, Scope scope = {}) {
    return detail::test_all(detail::words<T>(ivars, n, status, cmp, value), scope);
}

/// Return the lowest i for which ivars[i] cmp `value` holds; no_index: none. It does not wait. Memory order:
/// acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long test_any(const Team&, const T* ivars, unsigned long long n,
                                           const int* status, Compare cmp, SameAs<T> value,
                                           Scope scope = {}) {
    return detail::test_any(detail::words<T>(ivars, n, status, cmp, value), scope);
}

/// Return the number of this PE's words for which ivars[i] cmp `value` holds. Rank 0 of the scope writes
/// their indices to indices[0], …. It does not wait. Memory order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long test_some(const Team&, const T* ivars, unsigned long long n,
                                            unsigned long long* indices, const int* status, Compare cmp,
                                            SameAs<T> value, Scope scope = {}) {
    return detail::test_some(detail::words<T>(ivars, n, status, cmp, value), indices, scope);
}

/// Wait until ivars[i] cmp values[i] holds for all of this PE's words. Returns at once if all words are left
/// out. A wait longer than `bound_ns` is reported with `tag`. Memory order: acquire, for all threads of the
/// scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void wait_until_all_vector(const Team& team, const T* ivars, unsigned long long n,
                                          const int* status, Compare cmp, const T* values, Scope scope = {},
                                          int tag = 0, unsigned long long bound_ns = 0) {
    detail::wait_all(team, detail::words_of(ivars, n, status, cmp, values), scope,
                     {Operation::wait_until_all_vector, tag, bound_ns});
}

/// Wait until ivars[i] cmp values[i] holds for one of this PE's words, and return the lowest such i. Returns
/// no_index at once if all words are left out. A wait longer than `bound_ns` is reported with `tag`. Memory
/// order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long wait_until_any_vector(const Team& team, const T* ivars,
                                                        unsigned long long n, const int* status, Compare cmp,
                                                        const T* values, Scope scope = {}, int tag = 0,
                                                        unsigned long long bound_ns = 0) {
    return detail::wait_any(team, detail::words_of(ivars, n, status, cmp, values), scope,
                            {Operation::wait_until_any_vector, tag, bound_ns});
}

/// Wait until ivars[i] cmp values[i] holds for at least one of this PE's words, and return how many hold.
/// Rank 0 of the scope writes their indices to indices[0], …. Returns 0 at once if all words are left out. A
/// wait longer than `bound_ns` is reported with `tag`. Memory order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long wait_until_some_vector(const Team& team, const T* ivars,
                                                         unsigned long long n, unsigned long long* indices,
                                                         const int* status, Compare cmp, const T* values,
                                                         Scope scope = {}, int tag = 0,
                                                         unsigned long long bound_ns = 0) {
    return detail::wait_some(team, detail::words_of(ivars, n, status, cmp, values), indices, scope,
                             {Operation::wait_until_some_vector, tag, bound_ns});
}

/// Return whether ivars[i] cmp values[i] holds for all of this PE's words. It does not wait. Memory order:
/// acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool test_all_vector(const Team&, const T* ivars, unsigned long long n, const int* status,
                                    Compare cmp, const T* values, Scope scope = {}) {
    return detail::test_all(detail::words_of(ivars, n, status, cmp, values), scope);
}

/// Return the lowest i for which ivars[i] cmp values[i] holds; no_index: none. It does not wait. Memory
/// order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long test_any_vector(const Team&, const T* ivars, unsigned long long n,
                                                  const int* status, Compare cmp, const T* values,
                                                  Scope scope = {}) {
    return detail::test_any(detail::words_of(ivars, n, status, cmp, values), scope);
}

/// Return the number of this PE's words for which ivars[i] cmp values[i] holds. Rank 0 of the scope writes
/// their indices to indices[0], …. It does not wait. Memory order: acquire, for all threads of the scope.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE unsigned long long test_some_vector(const Team&, const T* ivars, unsigned long long n,
                                                   unsigned long long* indices, const int* status,
                                                   Compare cmp, const T* values, Scope scope = {}) {
    return detail::test_some(detail::words_of(ivars, n, status, cmp, values), indices, scope);
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
