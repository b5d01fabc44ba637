// The `atoll::…` spelling for users: the library's names, and free functions on the process's current job.
//
// The C library declares a function `atoll` (text to long long), and a C++ namespace cannot share a
// function's name. A class can. So the library lives in `namespace atl`, and this class gives its names their
// spelling. It has no objects.
#pragma once

#include "atoll/array.hpp"
#include "atoll/job.hpp"
#include "atoll/lock.hpp"
#include "atoll/mailbox.hpp"

#include <utility>

namespace atl {
// atoll/stream.hpp
struct Stream;
class StreamContext;
class StreamTeam;
class StreamMessageGroup;
namespace detail {
/// False, and known only once the arguments are.
template <class... Arguments> inline constexpr bool takes = false;
}  // namespace detail
}  // namespace atl

struct atoll {
    atoll() = delete;

    using Error = atl::Error;
    using ErrorCode = atl::ErrorCode;
    using Job = atl::Job;
    using JobOptions = atl::JobOptions;
    using Team = atl::Team;
    using Context = atl::Context;
    using ContextOptions = atl::ContextOptions;
    using Allocation = atl::Allocation;
    using AllocationHints = atl::AllocationHints;
    using Memory = atl::Memory;
    using Lock = atl::Lock;
    using Mailbox = atl::Mailbox;
    using MessageGroup = atl::MessageGroup;
    using Stream = atl::Stream;
    using StreamContext = atl::StreamContext;
    using StreamTeam = atl::StreamTeam;
    using StreamMessageGroup = atl::StreamMessageGroup;
    using float16 = atl::float16;
    using bfloat16 = atl::bfloat16;
    using DType = atl::DType;
    using ReduceOp = atl::ReduceOp;
    using Compare = atl::Compare;
    using SignalOp = atl::SignalOp;
    using AtomicOp = atl::AtomicOp;
    using Version = atl::Version;
    template <atl::Symmetric T> using SymmetricArray = atl::SymmetricArray<T>;
    static constexpr std::size_t none = atl::none;

    // ---- the current job
    static Job& init(const JobOptions& options = {}) { return atl::init(options); }
    static void finalize() { atl::finalize(); }
    static Job& current_job() { return atl::current_job(); }
    static bool is_initialized() noexcept { return atl::is_initialized(); }
    static std::string get_unique_id() { return atl::get_unique_id(); }
    static Version version() noexcept { return atl::version(); }
    static int my_pe() { return atl::current_job().my_pe(); }
    static int n_pes() { return atl::current_job().n_pes(); }
    static const Team& world() { return atl::current_job().world(); }
    static const Context& default_context() { return atl::current_job().context(); }
    static std::uint64_t get_team_unique_id() { return atl::current_job().get_team_unique_id(); }
    static Team team_init(std::uint64_t unique_id, int n_pes, int my_pe) {
        return atl::current_job().team_init(unique_id, n_pes, my_pe);
    }
    static void barrier_all() { atl::current_job().world().barrier(); }
    static void sync_all() { atl::current_job().world().sync(); }

    // Forwarding templates, so that overloads, defaults and concepts are those of the members. A call that no
    // member takes is an error of the compiler with the expected form.
    // clang-format off
#define ATOLL_FUNCTION(on, name, expected) \
        template <class... Arguments> static decltype(auto) name(Arguments&&... arguments) { \
            if constexpr (requires { on().name(std::forward<Arguments>(arguments)...); }) \
                return on().name(std::forward<Arguments>(arguments)...); \
            else \
                static_assert(atl::detail::takes<Arguments...>, "no such call; expected " expected); \
        }
#define ATOLL_CONTEXT_FUNCTION(name, expected) ATOLL_FUNCTION(default_context, name, expected)
#define ATOLL_TEAM_FUNCTION(name, expected) ATOLL_FUNCTION(world, name, expected)

    // Members of Context from rma.hpp (signal_wait_until: waits.hpp):
    ATOLL_CONTEXT_FUNCTION(put, "put(dst, src, pe) with arrays of one type, or put(T* dst, const T* src, std::size_t count, int pe), of a trivially copyable T")
    ATOLL_CONTEXT_FUNCTION(get, "get(dst, src, pe) with arrays of one type, or get(T* dst, const T* src, std::size_t count, int pe), of a trivially copyable T")
    ATOLL_CONTEXT_FUNCTION(put_nbi, "put_nbi(T* dst, const T* src, std::size_t count, int pe), of a trivially copyable T")
    ATOLL_CONTEXT_FUNCTION(get_nbi, "get_nbi(T* dst, const T* src, std::size_t count, int pe), of a trivially copyable T")
    ATOLL_CONTEXT_FUNCTION(p, "p(T* dst, T value, int pe): a value of exactly dst's type, which is trivially copyable")
    ATOLL_CONTEXT_FUNCTION(g, "g(const T* src, int pe), of a trivially copyable T")
    ATOLL_CONTEXT_FUNCTION(iput, "iput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count, int pe)")
    ATOLL_CONTEXT_FUNCTION(iget, "iget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count, int pe)")
    ATOLL_CONTEXT_FUNCTION(ibput, "ibput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block, std::size_t n_blocks, int pe)")
    ATOLL_CONTEXT_FUNCTION(ibget, "ibget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block, std::size_t n_blocks, int pe)")
    ATOLL_CONTEXT_FUNCTION(put_signal, "put_signal(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe)")
    ATOLL_CONTEXT_FUNCTION(put_signal_nbi, "put_signal_nbi(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe)")
    ATOLL_CONTEXT_FUNCTION(signal_set, "signal_set(std::uint64_t* signal, std::uint64_t value, int pe)")
    ATOLL_CONTEXT_FUNCTION(signal_add, "signal_add(std::uint64_t* signal, std::uint64_t value, int pe)")
    ATOLL_CONTEXT_FUNCTION(signal_fetch, "signal_fetch(const std::uint64_t* signal)")
    ATOLL_CONTEXT_FUNCTION(signal_wait_until, "signal_wait_until(const std::uint64_t* signal, Compare cmp, std::uint64_t value, double timeout_s = -1)")
    ATOLL_CONTEXT_FUNCTION(fence, "fence()")
    ATOLL_CONTEXT_FUNCTION(quiet, "quiet()")
    ATOLL_CONTEXT_FUNCTION(pe_quiet, "pe_quiet(std::span<const int> pes)")
    // atomics.hpp:
    ATOLL_CONTEXT_FUNCTION(atomic_fetch, "atomic_fetch(const T* src, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_set, "atomic_set(T* dst, T value, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_swap, "atomic_swap(T* dst, T value, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_compare_swap, "atomic_compare_swap(T* dst, T expected, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_inc, "atomic_inc(T* dst, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_fetch_inc, "atomic_fetch_inc(T* dst, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_add, "atomic_add(T* dst, T value, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_fetch_add, "atomic_fetch_add(T* dst, T value, int pe), where T is float, double, or an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_and, "atomic_and(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_fetch_and, "atomic_fetch_and(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_or, "atomic_or(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_fetch_or, "atomic_fetch_or(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_xor, "atomic_xor(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    ATOLL_CONTEXT_FUNCTION(atomic_fetch_xor, "atomic_fetch_xor(T* dst, T value, int pe), where T is an integer of 32 or 64 bits")
    // waits.hpp:
    ATOLL_CONTEXT_FUNCTION(wait_until, "wait_until(const T* word, Compare cmp, T value, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_all, "wait_until_all(const T* words, std::size_t n, const int* status, Compare cmp, T value, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_any, "wait_until_any(const T* words, std::size_t n, const int* status, Compare cmp, T value, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_some, "wait_until_some(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp, T value, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_all_vector, "wait_until_all_vector(const T* words, std::size_t n, const int* status, Compare cmp, const T* values, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_any_vector, "wait_until_any_vector(const T* words, std::size_t n, const int* status, Compare cmp, const T* values, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(wait_until_some_vector, "wait_until_some_vector(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp, const T* values, double timeout_s = -1), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test, "test(const T* word, Compare cmp, T value), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_all, "test_all(const T* words, std::size_t n, const int* status, Compare cmp, T value), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_any, "test_any(const T* words, std::size_t n, const int* status, Compare cmp, T value), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_some, "test_some(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp, T value), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_all_vector, "test_all_vector(const T* words, std::size_t n, const int* status, Compare cmp, const T* values), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_any_vector, "test_any_vector(const T* words, std::size_t n, const int* status, Compare cmp, const T* values), of an integer type T")
    ATOLL_CONTEXT_FUNCTION(test_some_vector, "test_some_vector(const T* words, std::size_t n, std::size_t* indices, const int* status, Compare cmp, const T* values), of an integer type T")
    // context.hpp:
    ATOLL_CONTEXT_FUNCTION(ptr, "ptr(T* symmetric, int pe)")

    // Members of Team, from detail/team_operations.hpp:
    ATOLL_TEAM_FUNCTION(broadcast, "broadcast(dst, src, int root) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(fcollect, "fcollect(dst, src) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(collect, "collect(dst, src) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(alltoall, "alltoall(dst, src) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(alltoalls, "alltoalls(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count)")
    ATOLL_TEAM_FUNCTION(gather, "gather(dst, src, int root) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(scatter, "scatter(dst, src, int root) with arrays of one trivially copyable type")
    ATOLL_TEAM_FUNCTION(reduce, "reduce(dst, src, ReduceOp op) with arrays of one type of numbers")
    ATOLL_TEAM_FUNCTION(sum_reduce, "sum_reduce(dst, src) with arrays of one type of numbers, real or complex")
    ATOLL_TEAM_FUNCTION(prod_reduce, "prod_reduce(dst, src) with arrays of one type of numbers, real or complex")
    ATOLL_TEAM_FUNCTION(min_reduce, "min_reduce(dst, src) with arrays of one type of real numbers")
    ATOLL_TEAM_FUNCTION(max_reduce, "max_reduce(dst, src) with arrays of one type of real numbers")
    ATOLL_TEAM_FUNCTION(and_reduce, "and_reduce(dst, src) with arrays of one integer type, or of bool")
    ATOLL_TEAM_FUNCTION(or_reduce, "or_reduce(dst, src) with arrays of one integer type, or of bool")
    ATOLL_TEAM_FUNCTION(xor_reduce, "xor_reduce(dst, src) with arrays of one integer type, or of bool")
    ATOLL_TEAM_FUNCTION(avg_reduce, "avg_reduce(dst, src) with arrays of one floating-point type")
    ATOLL_TEAM_FUNCTION(premul_sum_reduce, "premul_sum_reduce(dst, src, double factor) with arrays of one floating-point type")
    ATOLL_TEAM_FUNCTION(premul_sum_reduce_scatter, "premul_sum_reduce_scatter(dst, src, double factor) with arrays of one floating-point type")
    ATOLL_TEAM_FUNCTION(reduce_to, "reduce_to(dst, src, ReduceOp op, int root) with arrays of one type of numbers")
    ATOLL_TEAM_FUNCTION(reduce_scatter, "reduce_scatter(dst, src, ReduceOp op) with arrays of one type of numbers")
    ATOLL_TEAM_FUNCTION(sum_inscan, "sum_inscan(dst, src) with arrays of one type of numbers, real or complex")
    ATOLL_TEAM_FUNCTION(sum_exscan, "sum_exscan(dst, src) with arrays of one type of numbers, real or complex")
    ATOLL_TEAM_FUNCTION(send, "send(src, int pe) with an array of a trivially copyable type")
    ATOLL_TEAM_FUNCTION(recv, "recv(dst, int pe) with an array of a trivially copyable type")
    // clang-format on
#undef ATOLL_CONTEXT_FUNCTION
#undef ATOLL_TEAM_FUNCTION
#undef ATOLL_FUNCTION
};
