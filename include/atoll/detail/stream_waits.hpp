// StreamContext's tests and its waits for many words.
#pragma once

#include "atoll/detail/many_words.hpp"
#include "atoll/team.hpp"

namespace atl {

/// A cudaStream_t or CUstream of this PE's GPU. Null is the legacy stream, which waits for all others.
struct Stream {
    void* handle = nullptr;
};

namespace detail {

/// Stream-ordered waits and tests. `words` are this PE's own, in the device heap or pinned in the host heap.
/// `status`, `values` and `out` are memory that the GPU can access. They are read or written in stream order,
/// so they must stay valid until then. A replayed graph reads their contents at replay. `status`, if given,
/// leaves out the words whose entry is not 0.
///
/// `out` receives the results that Context's calls of the same names return. If several words satisfy, the
/// lowest index is returned; the search does not rotate. Words that satisfy a test are acquired. A wait that
/// exceeds ATOLL_WAIT_TIMEOUT stops the kernel and reports operation, word, expected and found value. Throws
/// the errors of StreamContext's other calls.
class ATOLL_API StreamWaits {
  public:
    /// `*out` is 1 or 0.
    template <Waitable T>
    void test(const T* word, std::int64_t* out, Compare cmp, std::type_identity_t<T> value) const {
        test_all(word, 1, out, nullptr, cmp, value);
    }

    /// The stream continues once each word has satisfied the comparison.
    template <Waitable T>
    void wait_until_all(const T* words, std::size_t n, const int* status, Compare cmp,
                        std::type_identity_t<T> value) const {
        many(asked<T>(Many::all, true, {words, n, nullptr, status, cmp}, value));
    }
    template <Waitable T>
    void wait_until_all_vector(const T* words, std::size_t n, const int* status, Compare cmp,
                               const T* values) const {
        many(asked_each<T>(Many::all, true, {words, n, nullptr, status, cmp}, values));
    }
    /// `*out` is 1 or 0.
    template <Waitable T>
    void test_all(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                  std::type_identity_t<T> value) const {
        many(asked<T>(Many::all, false, {words, n, out, status, cmp}, value));
    }
    template <Waitable T>
    void test_all_vector(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                         const T* values) const {
        many(asked_each<T>(Many::all, false, {words, n, out, status, cmp}, values));
    }

    /// `*out` is the index, or -1: all words are left out, or (test) no word satisfies.
    template <Waitable T>
    void wait_until_any(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                        std::type_identity_t<T> value) const {
        many(asked<T>(Many::any, true, {words, n, out, status, cmp}, value));
    }
    template <Waitable T>
    void wait_until_any_vector(const T* words, std::size_t n, std::int64_t* out, const int* status,
                               Compare cmp, const T* values) const {
        many(asked_each<T>(Many::any, true, {words, n, out, status, cmp}, values));
    }
    template <Waitable T>
    void test_any(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                  std::type_identity_t<T> value) const {
        many(asked<T>(Many::any, false, {words, n, out, status, cmp}, value));
    }
    template <Waitable T>
    void test_any_vector(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                         const T* values) const {
        many(asked_each<T>(Many::any, false, {words, n, out, status, cmp}, values));
    }

    /// `out` has n + 1 words: the number of satisfying words, then their indices in order. The rest is
    /// unspecified.
    template <Waitable T>
    void wait_until_some(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                         std::type_identity_t<T> value) const {
        many(asked<T>(Many::some, true, {words, n, out, status, cmp}, value));
    }
    template <Waitable T>
    void wait_until_some_vector(const T* words, std::size_t n, std::int64_t* out, const int* status,
                                Compare cmp, const T* values) const {
        many(asked_each<T>(Many::some, true, {words, n, out, status, cmp}, values));
    }
    template <Waitable T>
    void test_some(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                   std::type_identity_t<T> value) const {
        many(asked<T>(Many::some, false, {words, n, out, status, cmp}, value));
    }
    template <Waitable T>
    void test_some_vector(const T* words, std::size_t n, std::int64_t* out, const int* status, Compare cmp,
                          const T* values) const {
        many(asked_each<T>(Many::some, false, {words, n, out, status, cmp}, values));
    }

    /// The type-erased form.
    void many(const ManyWords& asked) const;

  protected:
    StreamWaits() = default;
    core::ContextState* state_ = nullptr;
    Stream stream_;
    device::Team team_{};

  private:
    template <class T> struct Where {
        const T* words;
        std::size_t n;
        std::int64_t* out;
        const int* status;
        Compare cmp;
    };
    template <class T> static ManyWords asked(Many kind, bool waits, const Where<T>& at, T value) {
        ManyWords all{at.words, at.n, at.status, nullptr, 0, at.out, dtype<T>, at.cmp, kind, waits};
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number, and sign-extends
        all.value = static_cast<std::uint64_t>(value);
        return all;
    }
    template <class T>
    static ManyWords asked_each(Many kind, bool waits, const Where<T>& at, const T* values) {
        return {at.words, at.n, at.status, values, 0, at.out, dtype<T>, at.cmp, kind, waits};
    }
};

}  // namespace detail
}  // namespace atl
