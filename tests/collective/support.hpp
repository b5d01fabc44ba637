// Common parts of the suites of collectives: teams of several shapes, arguments in several kinds of memory,
// and values whose fold depends on its order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "collective/folds/halves.hpp"
#include "support/setups.hpp"

namespace atl::testing {

/// With a sanitizer or an emulated processor the largest sizes are skipped: they take the same steps more
/// often, for minutes.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || defined(ATOLL_EMULATED)
inline constexpr bool slowly_checked = true;
#else
inline constexpr bool slowly_checked = false;
#endif

/// Options of a job of threads at a level of checks. With `hosts` the PEs pretend to be on these.
inline ThreadJobOptions checked_options(common::CheckLevel check, const std::string& hosts = "") {
    ThreadJobOptions options;
    options.check = check;
    options.hosts = hosts;
    if (!hosts.empty()) options.transport = "loopback";
    return options;
}

/// The message of the Error(collective_mismatch) that `call` throws; a failure if it throws none.
template <class Call> std::string mismatch_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::collective_mismatch))
            << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

inline void expect_parts(const std::string& sentence, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(sentence.find(part), std::string::npos) << "\"" << part << "\" is not in: " << sentence;
}

/// Checks that the team works after an error.
inline void expect_team_works(const Team& team) {
    const std::int64_t mine = team.my_pe() + 1;
    std::int64_t sum = 0;
    team.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
    EXPECT_EQ(sum, std::int64_t{team.n_pes()} * (team.n_pes() + 1) / 2);
}

/// The location of an argument: in the heap on every PE, on none, or on every other one (and at differing
/// offsets).
enum class Memory { heap, ordinary, mixed };
inline const std::vector<Memory> memories = {Memory::heap, Memory::ordinary, Memory::mixed};

/// An array of `count` elements that is symmetric or not. Construction and destruction are collective.
template <class T> class Argument {
  public:
    Argument(Job& job, Memory memory, std::size_t count)
        : heap_(job, count + 64), ordinary_(new T[count + 64]()) {
        const bool symmetric = memory == Memory::heap || (memory == Memory::mixed && job.my_pe() % 2 == 0);
        const std::size_t shift = memory == Memory::mixed ? static_cast<std::size_t>(job.my_pe()) * 3 : 0;
        span_ = {(symmetric ? heap_.data() : ordinary_.get()) + shift, count};
    }
    std::span<T> span() const { return span_; }
    std::span<const T> view() const { return span_; }
    T* begin() const { return span_.data(); }
    T& operator[](std::size_t i) const { return span_[i]; }
    std::size_t size() const { return span_.size(); }

  private:
    SymmetricArray<T> heap_;
    std::unique_ptr<T[]> ordinary_;
    std::span<T> span_;
};

template <class T> inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
/// The type in which elements are combined.
template <class T> using Combined = std::conditional_t<is_half<T>, float, T>;

template <class T> Combined<T> widened(T value) {
    if constexpr (!is_half<T>) {
        return value;
    } else {
        float wide = 0;
        collective::widen(&wide, &value, 1, dtype<T>);
        return wide;
    }
}
template <class T> T rounded(Combined<T> value) {
    if constexpr (!is_half<T>) {
        return value;
    } else {
        T half;
        collective::narrow(&half, &value, 1, dtype<T>);
        return half;
    }
}

/// Element i of PE `pe` in round `round`. The values are small enough that products stay finite; rounding
/// shows the order of a fold.
template <class T> T value(int pe, std::size_t i, int round = 0) {
    const auto x = static_cast<unsigned>(pe * 7919 + static_cast<int>(i % 100003) * 31 + round * 101 + 17);
    const unsigned hash = x * 2654435761u >> 8;
    if constexpr (std::is_same_v<T, bool>)
        return hash & 1;
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(hash * 0x9e3779b97f4a7c15ull >> 7);
    else if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(0.5 + static_cast<double>(hash % 100000) / 77777.0);
    else if constexpr (is_half<T>)
        return rounded<T>(value<float>(pe, i, round));
    else
        return T(value<typename T::value_type>(pe, i, round),
                 value<typename T::value_type>(pe + 50, i, round));
}

template <class T> void fill(const Argument<T>& argument, int pe, int round = 0) {
    for (std::size_t i = 0; i < argument.size(); ++i) argument[i] = value<T>(pe, i, round);
}

/// Computes a op b in the language, element by element.
template <class T> T apply(ReduceOp op, T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
        return op == ReduceOp::bit_and ? a && b : op == ReduceOp::bit_or ? a || b : a != b;
    } else if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        const auto x = static_cast<unsigned long long>(static_cast<U>(a)),
                   y = static_cast<unsigned long long>(static_cast<U>(b));
        switch (op) {
            case ReduceOp::sum:
                return static_cast<T>(x + y);
            case ReduceOp::prod:
                return static_cast<T>(x * y);
            case ReduceOp::min:
                return b < a ? b : a;
            case ReduceOp::max:
                return a < b ? b : a;
            case ReduceOp::bit_and:
                return static_cast<T>(x & y);
            case ReduceOp::bit_or:
                return static_cast<T>(x | y);
            default:
                return static_cast<T>(x ^ y);
        }
    } else if constexpr (std::is_floating_point_v<T>) {
        return op == ReduceOp::sum    ? a + b
               : op == ReduceOp::prod ? a * b
               : op == ReduceOp::min  ? std::min(a, b)
                                      : std::max(a, b);
    } else {
        return op == ReduceOp::sum ? a + b : a * b;
    }
}

template <class T> std::vector<ReduceOp> ops_of() {
    using enum ReduceOp;
    if constexpr (std::is_same_v<T, bool>)
        return {bit_and, bit_or, bit_xor};
    else if constexpr (std::is_integral_v<T>)
        return {sum, prod, min, max, bit_and, bit_or, bit_xor};
    else if constexpr (std::is_floating_point_v<Combined<T>>)
        return {sum, prod, min, max};
    else
        return {sum, prod};
}

/// Element i of the fold over team PEs 0 … last; team PE p filled its array as `pe_of(p)`.
template <class T>
T folded(ReduceOp op, int last, std::size_t i, int round, const std::function<int(int)>& pe_of) {
    Combined<T> result = widened(value<T>(pe_of(0), i, round));
    for (int p = 1; p <= last; ++p) result = apply(op, result, widened(value<T>(pe_of(p), i, round)));
    return rounded<T>(result);
}

/// True if the significant bits are equal; padding of long double is ignored.
template <class T> bool same_bits(const T& a, const T& b) {
    return std::memcmp(&a, &b, std::is_same_v<T, long double> ? 10 : sizeof(T)) == 0;
}

struct NamedTeam {
    std::string name;
    Team team;
};

/// The world and teams made from it that contain this PE.
inline std::vector<NamedTeam> some_teams(Job& job) {
    std::vector<NamedTeam> teams = {{"world", job.world()}};
    const int n = job.n_pes();
    const auto add = [&](const char* name, Team team) {
        if (team) teams.push_back({name, std::move(team)});
    };
    add("every other", job.world().split_strided(0, n > 1 ? 2 : 1, (n + 1) / 2));
    add("reversed", job.world().split_strided(n - 1, n > 1 ? -1 : 1, n));
    add("by color", job.world().split(job.my_pe() % 3 == 2 ? 1 : 0, (job.my_pe() * 5) % n));
    return teams;
}

/// Runs `body` at all PE counts with ATOLL_COLLECTIVE = `algorithms`.
inline void run_everywhere(const std::string& algorithms, const std::function<void(Job&)>& body,
                           std::size_t heap_bytes = std::size_t{64} << 20,
                           common::CheckLevel check = common::CheckLevel::args) {
    std::vector<Setup> setups;
    for (const Setup& setup : all_setups())
        if (setup.transport == std::string("auto") || *setup.hosts) setups.push_back(setup);
    for (const auto& [n, transport, hosts] : setups) {
        SCOPED_TRACE("PEs " + std::to_string(n) + ", hosts \"" + hosts + "\", algorithms " + algorithms);
        ThreadJobOptions options;
        options.transport = transport;
        options.hosts = hosts;
        options.heap_bytes = heap_bytes;
        options.check = check;
        options.algorithms = algorithms;
        const OneCore core(n);
        run_pes(n, body, options);
    }
}

}  // namespace atl::testing
