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
    static void barrier_all() { atl::current_job().world().barrier(); }
    static void sync_all() { atl::current_job().world().sync(); }

    // Forwarding templates, so that overloads, defaults and concepts are those of the members.
    // clang-format off
#define ATOLL_CONTEXT_FUNCTION(name) \
        template <class... Arguments> \
        static decltype(auto) name(Arguments&&... arguments) { return default_context().name(std::forward<Arguments>(arguments)...); }
#define ATOLL_TEAM_FUNCTION(name) \
        template <class... Arguments> \
        static decltype(auto) name(Arguments&&... arguments) { return world().name(std::forward<Arguments>(arguments)...); }

    // Members of Context from rma.hpp (signal_wait_until: waits.hpp):
    ATOLL_CONTEXT_FUNCTION(put) ATOLL_CONTEXT_FUNCTION(get) ATOLL_CONTEXT_FUNCTION(put_nbi) ATOLL_CONTEXT_FUNCTION(get_nbi)
    ATOLL_CONTEXT_FUNCTION(p) ATOLL_CONTEXT_FUNCTION(g)
    ATOLL_CONTEXT_FUNCTION(iput) ATOLL_CONTEXT_FUNCTION(iget) ATOLL_CONTEXT_FUNCTION(ibput) ATOLL_CONTEXT_FUNCTION(ibget)
    ATOLL_CONTEXT_FUNCTION(put_signal) ATOLL_CONTEXT_FUNCTION(put_signal_nbi)
    ATOLL_CONTEXT_FUNCTION(signal_set) ATOLL_CONTEXT_FUNCTION(signal_add) ATOLL_CONTEXT_FUNCTION(signal_fetch)
    ATOLL_CONTEXT_FUNCTION(signal_wait_until)
    ATOLL_CONTEXT_FUNCTION(fence) ATOLL_CONTEXT_FUNCTION(quiet) ATOLL_CONTEXT_FUNCTION(pe_quiet)
    // atomics.hpp:
    ATOLL_CONTEXT_FUNCTION(atomic_fetch) ATOLL_CONTEXT_FUNCTION(atomic_set) ATOLL_CONTEXT_FUNCTION(atomic_swap)
    ATOLL_CONTEXT_FUNCTION(atomic_compare_swap) ATOLL_CONTEXT_FUNCTION(atomic_inc) ATOLL_CONTEXT_FUNCTION(atomic_fetch_inc)
    ATOLL_CONTEXT_FUNCTION(atomic_add) ATOLL_CONTEXT_FUNCTION(atomic_fetch_add)
    ATOLL_CONTEXT_FUNCTION(atomic_and) ATOLL_CONTEXT_FUNCTION(atomic_fetch_and)
    ATOLL_CONTEXT_FUNCTION(atomic_or) ATOLL_CONTEXT_FUNCTION(atomic_fetch_or)
    ATOLL_CONTEXT_FUNCTION(atomic_xor) ATOLL_CONTEXT_FUNCTION(atomic_fetch_xor)
    // waits.hpp:
    ATOLL_CONTEXT_FUNCTION(wait_until) ATOLL_CONTEXT_FUNCTION(wait_until_all) ATOLL_CONTEXT_FUNCTION(wait_until_any)
    ATOLL_CONTEXT_FUNCTION(wait_until_some) ATOLL_CONTEXT_FUNCTION(wait_until_all_vector)
    ATOLL_CONTEXT_FUNCTION(wait_until_any_vector) ATOLL_CONTEXT_FUNCTION(wait_until_some_vector)
    ATOLL_CONTEXT_FUNCTION(test) ATOLL_CONTEXT_FUNCTION(test_all) ATOLL_CONTEXT_FUNCTION(test_any) ATOLL_CONTEXT_FUNCTION(test_some)
    ATOLL_CONTEXT_FUNCTION(test_all_vector) ATOLL_CONTEXT_FUNCTION(test_any_vector) ATOLL_CONTEXT_FUNCTION(test_some_vector)
    // context.hpp:
    ATOLL_CONTEXT_FUNCTION(ptr)

    // Members of Team, from detail/team_operations.hpp:
    ATOLL_TEAM_FUNCTION(broadcast) ATOLL_TEAM_FUNCTION(fcollect) ATOLL_TEAM_FUNCTION(collect)
    ATOLL_TEAM_FUNCTION(alltoall) ATOLL_TEAM_FUNCTION(alltoalls) ATOLL_TEAM_FUNCTION(gather) ATOLL_TEAM_FUNCTION(scatter)
    ATOLL_TEAM_FUNCTION(reduce) ATOLL_TEAM_FUNCTION(sum_reduce) ATOLL_TEAM_FUNCTION(prod_reduce) ATOLL_TEAM_FUNCTION(min_reduce)
    ATOLL_TEAM_FUNCTION(max_reduce) ATOLL_TEAM_FUNCTION(and_reduce) ATOLL_TEAM_FUNCTION(or_reduce) ATOLL_TEAM_FUNCTION(xor_reduce)
    ATOLL_TEAM_FUNCTION(avg_reduce) ATOLL_TEAM_FUNCTION(premul_sum_reduce) ATOLL_TEAM_FUNCTION(premul_sum_reduce_scatter)
    ATOLL_TEAM_FUNCTION(reduce_to) ATOLL_TEAM_FUNCTION(reduce_scatter) ATOLL_TEAM_FUNCTION(sum_inscan) ATOLL_TEAM_FUNCTION(sum_exscan)
    ATOLL_TEAM_FUNCTION(send) ATOLL_TEAM_FUNCTION(recv)
    // clang-format on
#undef ATOLL_CONTEXT_FUNCTION
#undef ATOLL_TEAM_FUNCTION
};
