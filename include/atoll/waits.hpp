// Point-to-point synchronisation (OpenSHMEM 1.6, section 9.12): wait and test on this PE's own symmetric
// words.
//
// All acquire: whatever the updating PE ordered before its update is visible on return. `status`, if given,
// excludes the words whose entry is not 0; null means all. A wait longer than `timeout_s` throws
// Error(timeout), which names the awaited word. A negative `timeout_s` means ATOLL_WAIT_TIMEOUT, where 0
// means no limit. If every PE that could end the wait has ended, it throws Error(pe_died).
#pragma once

#include "atoll/atomics.hpp"
#include "atoll/detail/measured.hpp"

#include <span>
#include <vector>

namespace atl {
inline constexpr std::size_t none = SIZE_MAX;  ///< wait_until_any and test_any: no word satisfies
}

namespace atl::detail {

class ATOLL_API WaitOps : public AtomicOps {
  public:
    /// Waits until `*word cmp value`; returns the value that satisfied it.
    template <Waitable T>
    T wait_until(const T* word, Compare cmp, std::type_identity_t<T> value, double timeout_s = -1) const {
        return wait_for(word, cmp, value, "wait_until", timeout_s);
    }
    /// wait_until on a signal word.
    std::uint64_t signal_wait_until(const std::uint64_t* signal, Compare cmp, std::uint64_t value,
                                    double timeout_s = -1) const {
        return wait_for(signal, cmp, value, "signal_wait_until", timeout_s);
    }
    template <Waitable T> bool test(const T* word, Compare cmp, std::type_identity_t<T> value) const {
        check_compare(cmp);
        if (is_on_device(word)) [[unlikely]] {
            if (window_.routed) progress_routed(*job_);
            return compare(from_device(word), cmp, value);
        }
        begin_poll(word, sizeof(T));
        return compare(atomic_load(word), cmp, value);
    }

    /// Waits until all included words satisfy the comparison. An empty set is satisfied.
    template <Waitable T>
    void wait_until_all(const T* words, std::size_t n, const int* status, Compare cmp,
                        std::type_identity_t<T> value, double timeout_s = -1) const {
        wait_all(
            words, n, status, cmp, [=](std::size_t) { return value; }, "wait_until_all", timeout_s);
    }
    template <Waitable T>
    void wait_until_all_vector(const T* words, std::size_t n, const int* status, Compare cmp, const T* values,
                               double timeout_s = -1) const {
        wait_all(
            words, n, status, cmp, [=](std::size_t i) { return values[i]; }, "wait_until_all_vector",
            timeout_s);
    }
    template <Waitable T>
    bool test_all(const T* words, std::size_t n, const int* status, Compare cmp,
                  std::type_identity_t<T> value) const {
        return poll_once(words, n, [&](const auto& seen) {
            return first_unsatisfied(
                       seen, n, status, cmp, [=](std::size_t) { return value; }, 0) == n;
        });
    }
    template <Waitable T>
    bool test_all_vector(const T* words, std::size_t n, const int* status, Compare cmp,
                         const T* values) const {
        return poll_once(words, n, [&](const auto& seen) {
            return first_unsatisfied(
                       seen, n, status, cmp, [=](std::size_t i) { return values[i]; }, 0) == n;
        });
    }

    /// Returns the index of one satisfying word; `none` for an empty set. The search start rotates, so that
    /// every satisfying word is reported eventually.
    template <Waitable T>
    std::size_t wait_until_any(const T* words, std::size_t n, const int* status, Compare cmp,
                               std::type_identity_t<T> value, double timeout_s = -1) const {
        return wait_any(
            words, n, status, cmp, [=](std::size_t) { return value; }, "wait_until_any", timeout_s);
    }
    template <Waitable T>
    std::size_t wait_until_any_vector(const T* words, std::size_t n, const int* status, Compare cmp,
                                      const T* values, double timeout_s = -1) const {
        return wait_any(
            words, n, status, cmp, [=](std::size_t i) { return values[i]; }, "wait_until_any_vector",
            timeout_s);
    }
    template <Waitable T>
    std::size_t test_any(const T* words, std::size_t n, const int* status, Compare cmp,
                         std::type_identity_t<T> value) const {
        return poll_once(words, n, [&](const auto& seen) {
            return find_any(
                seen, n, status, cmp, [=](std::size_t) { return value; }, next_start(n));
        });
    }
    template <Waitable T>
    std::size_t test_any_vector(const T* words, std::size_t n, const int* status, Compare cmp,
                                const T* values) const {
        return poll_once(words, n, [&](const auto& seen) {
            return find_any(
                seen, n, status, cmp, [=](std::size_t i) { return values[i]; }, next_start(n));
        });
    }

    /// Fills `indices` with all words that satisfy now, at least one. Returns their number; 0 for an empty
    /// set.
    template <Waitable T>
    std::size_t wait_until_some(const T* words, std::size_t n, std::size_t* indices, const int* status,
                                Compare cmp, std::type_identity_t<T> value, double timeout_s = -1) const {
        return wait_some(
            words, n, indices, status, cmp, [=](std::size_t) { return value; }, "wait_until_some", timeout_s);
    }
    template <Waitable T>
    std::size_t wait_until_some_vector(const T* words, std::size_t n, std::size_t* indices, const int* status,
                                       Compare cmp, const T* values, double timeout_s = -1) const {
        return wait_some(
            words, n, indices, status, cmp, [=](std::size_t i) { return values[i]; },
            "wait_until_some_vector", timeout_s);
    }
    template <Waitable T>
    std::size_t test_some(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp,
                          std::type_identity_t<T> value) const {
        return poll_once(words, n, [&](const auto& seen) {
            return find_some(seen, n, indices, status, cmp, [=](std::size_t) { return value; });
        });
    }
    template <Waitable T>
    std::size_t test_some_vector(const T* words, std::size_t n, std::size_t* indices, const int* status,
                                 Compare cmp, const T* values) const {
        return poll_once(words, n, [&](const auto& seen) {
            return find_some(seen, n, indices, status, cmp, [=](std::size_t i) { return values[i]; });
        });
    }

  protected:
    WaitOps() = default;

    /// The word must be in this PE's own heap. Throws Error: not_symmetric, use_after_free.
    void check_local(const void* word, std::size_t bytes) const {
        if (!window_.takes(word, bytes) && bytes != 0) [[unlikely]]
            check_range(word, bytes);
    }

    /// For calls that test once. Makes progress, so that a loop of such calls does not stall the transport.
    void begin_poll(const void* word, std::size_t bytes) const {
        check_local(word, bytes);
        if (window_.routed) [[unlikely]]
            progress_routed(*job_);
    }

  private:
    template <class T> T from_device(const T* word) const {
        return static_cast<T>(load_device_word(*state_, word, sizeof(T)));
    }
    /// Polls a word on the GPU by copies: some microseconds each.
    template <class T>
    T wait_for(const T* word, Compare cmp, T value, const char* operation, double timeout_s) const {
        Measured measured = measure_wait(operation);
        measured.set_subject(word, static_cast<std::uint64_t>(value));
        const bool far = is_on_device(word);
        if (!far) check_local(word, sizeof(T));
        T found{};
        WaitReason reason = reason_for(word, cmp, value, operation);
        if (far) [[unlikely]] {
            reason.value = &found;
            wait(*job_, 1, reason, timeout_s, [&] { return compare(found = from_device(word), cmp, value); });
        } else {
            wait(*job_, spins_, reason, timeout_s,
                 [&] { return compare(found = atomic_load(word), cmp, value); });
        }
        return found;
    }
    Measured measure_wait(const char* operation) const {
        return {*job_, window_.counts, Measured::Kind::wait, operation};
    }
    template <class T>
    static WaitReason reason_for(const T* word, Compare cmp, T value, const char* operation) {
        check_compare(cmp);
        WaitReason reason;
        reason.operation = operation;
        reason.word = word;
        reason.word_bytes = sizeof(T);
        reason.word_signed = std::is_signed_v<T>;
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number, and sign-extends
        reason.expected = static_cast<std::uint64_t>(value);
        reason.compare = cmp;
        return reason;
    }
    static void check_compare(Compare cmp) {
        if (cmp > Compare::le) [[unlikely]]
            throw_compare(static_cast<int>(cmp));
    }
    static bool included(const int* status, std::size_t i) noexcept {
        return status == nullptr || status[i] == 0;
    }
    static std::size_t next_start(std::size_t n) noexcept;  // rotates, for fairness

    /// Reads words: those of the host one by one, those of a GPU by one copy of them all.
    template <class T> struct HostWords {
        const T* words;
        void reload() const noexcept {}
        T operator[](std::size_t i) const noexcept { return atomic_load(words + i); }
        const void* value(std::size_t) const noexcept { return nullptr; }
    };
    template <class T> class DeviceWords {
      public:
        DeviceWords(core::ContextState& context, const T* words, std::size_t n)
            : context_(context), words_(words), bytes_(bytes_of<T>(n)) {
            check_device_words(context, words, bytes_);
            seen_.resize(n);
            reload();
        }
        void reload() { load_device_words(context_, seen_.data(), words_, bytes_); }
        T operator[](std::size_t i) const noexcept { return seen_[i]; }
        const void* value(std::size_t i) const noexcept { return &seen_[i]; }

      private:
        core::ContextState& context_;
        const T* words_;
        std::size_t bytes_;
        std::vector<T> seen_;
    };
    template <class T, class Test> auto poll_once(const T* words, std::size_t n, Test&& satisfied) const {
        if (is_on_device(words)) [[unlikely]] {
            if (window_.routed) progress_routed(*job_);
            return satisfied(DeviceWords<T>(*state_, words, n));
        }
        begin_poll(words, bytes_of<T>(n));
        return satisfied(HostWords<T>{words});
    }

    template <class Words, class Value>
    static std::size_t first_unsatisfied(const Words& words, std::size_t n, const int* status, Compare cmp,
                                         Value value, std::size_t from) {
        for (std::size_t i = from; i < n; ++i)
            if (included(status, i) && !compare(words[i], cmp, value(i))) return i;
        return n;
    }
    template <class Words, class Value>
    static std::size_t find_any(const Words& words, std::size_t n, const int* status, Compare cmp,
                                Value value, std::size_t start) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = start + k < n ? start + k : start + k - n;
            if (included(status, i) && compare(words[i], cmp, value(i))) return i;
        }
        return none;
    }
    template <class Words, class Value>
    static std::size_t find_some(const Words& words, std::size_t n, std::size_t* indices, const int* status,
                                 Compare cmp, Value value) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (included(status, i) && compare(words[i], cmp, value(i))) indices[count++] = i;
        return count;
    }
    /// The index of the first included word, which the wait's reason names; n for an empty set.
    static std::size_t first_included(std::size_t n, const int* status) noexcept {
        std::size_t i = 0;
        while (i < n && !included(status, i)) ++i;
        return i;
    }
    /// Polls the words and calls `ready()` after each poll, until it is true. The wait turns slow after
    /// `spins` polls. `word` is the word that errors name.
    template <class Words, class Ready>
    void wait_among(Words& seen, int spins, std::size_t word, WaitReason reason, double timeout_s,
                    Ready&& ready) const {
        reason.value = seen.value(word);
        wait(*job_, spins, reason, timeout_s, [&] {
            seen.reload();
            return ready();
        });
    }
    /// Calls `body(words, spins)` for words of either memory.
    template <class T, class Body> auto among(const T* words, std::size_t n, Body&& body) const {
        if (is_on_device(words)) [[unlikely]] {
            DeviceWords<T> seen(*state_, words, n);
            return body(seen, 1);
        }
        check_local(words, bytes_of<T>(n));
        HostWords<T> seen{words};
        return body(seen, spins_);
    }

    template <class T, class Value>
    void wait_all(const T* words, std::size_t n, const int* status, Compare cmp, Value value,
                  const char* operation, double timeout_s) const {
        const Measured measured = measure_wait(operation);
        among(words, n, [&](auto& seen, int spins) {
            // A word counts once it has satisfied the comparison. The standard does not require that all
            // words satisfy it at the same time.
            for (std::size_t i = 0; (i = first_unsatisfied(seen, n, status, cmp, value, i)) < n;)
                wait_among(seen, spins, i, reason_for(words + i, cmp, value(i), operation), timeout_s,
                           [&] { return compare(seen[i], cmp, value(i)); });
        });
    }
    template <class T, class Value>
    std::size_t wait_any(const T* words, std::size_t n, const int* status, Compare cmp, Value value,
                         const char* operation, double timeout_s) const {
        const Measured measured = measure_wait(operation);
        return among(words, n, [&](auto& seen, int spins) {
            const std::size_t first = first_included(n, status);
            if (first == n) return none;
            const std::size_t start = next_start(n);
            std::size_t found = none;
            wait_among(seen, spins, first, reason_for(words + first, cmp, value(first), operation), timeout_s,
                       [&] { return (found = find_any(seen, n, status, cmp, value, start)) != none; });
            return found;
        });
    }
    template <class T, class Value>
    std::size_t wait_some(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp,
                          Value value, const char* operation, double timeout_s) const {
        const Measured measured = measure_wait(operation);
        return among(words, n, [&](auto& seen, int spins) {
            const std::size_t first = first_included(n, status);
            std::size_t count = 0;
            if (first == n) return count;
            wait_among(seen, spins, first, reason_for(words + first, cmp, value(first), operation), timeout_s,
                       [&] { return (count = find_some(seen, n, indices, status, cmp, value)) != 0; });
            return count;
        });
    }
};

}  // namespace atl::detail
