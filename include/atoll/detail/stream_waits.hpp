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

/// `words` are this PE's own, of the device heap or pinned of the host heap. `status`, `values` and `out` are
/// memory that the GPU reaches, read or written when the stream comes there: so they stay until then, and a
/// replayed graph finds what they hold by then. `status`, where given, leaves out the words whose entry is
/// not 0. What Context's calls of the same names return goes to `out`; of several words that compare, the
/// lowest index is told: there are no turns. Where words are tested, those that compare are acquired. A wait
/// that does not end reports its operation, a word, what was found and what was expected, and stops the
/// kernel (ATOLL_WAIT_TIMEOUT). Throws as StreamContext's other calls.
class ATOLL_API StreamWaits {
  public:
    /// `*out` is 1 or 0.
    template <Waitable T>
    void test(const T* word, std::int64_t* out, Compare cmp, std::type_identity_t<T> value) const {
        test_all(word, 1, out, nullptr, cmp, value);
    }

    /// The stream goes on once each word has compared.
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

    /// `*out` is the index, or -1: no word is left in, or (test) none compares.
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

    /// `out` has n + 1 words: how many compare, then their indices, in order; what is behind these is
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

    /// The erased form.
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
