// The deprecated collectives of active sets: triplets of PE numbers without a team.
//
// Only the members of a set meet, so they create its team themselves at their first collective, through
// pSync. From then on the team is found by its triplet and pSync is not used, so barrier and sync may reuse
// it at once.
#include <atomic>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "common/log.hpp"
#include "core/team/member_team.hpp"
#include "core/team/team_state.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

namespace {

using Triplet = std::tuple<int, int, int>;

struct KnownSets {
    std::map<Triplet, Team> teams;
    std::mutex mutex;
};
KnownSets& known = *new KnownSets;  // never destroyed: teams end with the job

/// The set's stride; 0 for an invalid one.
std::int64_t stride_of(int log_stride) {
    return log_stride >= 0 && log_stride < 31 ? std::int64_t{1} << log_stride : 0;
}

Team make_team(int start, int log_stride, int size, long* sync) {
    const std::int64_t stride = stride_of(log_stride);
    const std::int64_t last = start + (size - std::int64_t{1}) * stride;
    if (start < 0 || stride == 0 || size < 1 || last >= front.job->n_pes())
        throw Error(ErrorCode::invalid_argument,
                    "The active set (PE_start " + std::to_string(start) + ", logPE_stride " +
                        std::to_string(log_stride) + ", PE_size " + std::to_string(size) +
                        ") must name PEs of the job, 0 to " + std::to_string(front.job->n_pes() - 1) +
                        (stride == 0 || size < 1 ? "." : "; it reaches to PE " + std::to_string(last) + "."));
    std::vector<int> members;
    for (std::int64_t pe = start; pe <= last; pe += stride) members.push_back(static_cast<int>(pe));
    return core::make_member_team(*front.job, std::move(members), sync);
}

/// The frame of all collectives below: their C name, the set, and the body for its team.
template <class Body>
void on_set(const char* name, int start, int log_stride, int size, long* sync, Body&& body) {
    const Call call{name, SHMEM_CTX_DEFAULT};
    guarded(call, [&] {
        const Context& context = context_of(call);
        if (is_outside(call, start, log_stride, size)) return;
        if (is_checked()) check_symmetric(context, {"pSync", sync, sizeof *sync, alignof(long)});
        body(active_set(start, log_stride, size, sync));
    });
}

}  // namespace

bool is_outside(const Call& call, int start, int log_stride, int size) {
    const std::int64_t stride = stride_of(log_stride), last = start + (size - std::int64_t{1}) * stride;
    const int pe = front.job->my_pe();
    const bool is_set = start >= 0 && stride != 0 && size >= 1 && last < front.job->n_pes();
    if (!is_set || (pe >= start && pe <= last && (pe - start) % stride == 0)) return false;
    static std::atomic_flag warned;
    if (!warned.test_and_set())
        common::warn("PE " + std::to_string(pe) + " called " + call.name + " for the active set (PE_start " +
                     std::to_string(start) + ", logPE_stride " + std::to_string(log_stride) + ", PE_size " +
                     std::to_string(size) +
                     "), which it is not in: the call does nothing. Later calls like it are not reported.");
    return true;
}

void forget_active_sets() {
    const std::lock_guard lock(known.mutex);
    known.teams.clear();
}

const Team& active_set(int start, int log_stride, int size, long* sync) {
    const Triplet triplet{start, log_stride, size};
    {
        const std::lock_guard lock(known.mutex);
        if (const auto it = known.teams.find(triplet); it != known.teams.end()) return it->second;
    }
    if (size == front.job->n_pes() && start == 0 && log_stride == 0) return front.job->world();
    Team team = make_team(start, log_stride, size, sync);
    const std::lock_guard lock(known.mutex);
    return known.teams.emplace(triplet, std::move(team)).first->second;
}

void barrier(int start, int log_stride, int size, long* sync) {
    on_set("shmem_barrier", start, log_stride, size, sync, [](const Team& team) {
        front.context->quiet();
        team.barrier();
    });
}

void sync(int start, int log_stride, int size, long* sync) {
    on_set("shmem_sync", start, log_stride, size, sync, [](const Team& team) { team.sync(); });
}

namespace {

/// `on_set` for a collective to which every member contributes `n` elements.
template <class Body>
void move_on_set(const char* name, void* dest, const void* source, std::size_t n, int start, int log_stride,
                 int size, long* sync, Body&& body) {
    on_set(name, start, log_stride, size, sync, [&](const Team& team) {
        require_given({name, SHMEM_CTX_DEFAULT}, dest, source, n);
        body(team);
    });
}

void alltoall_bits(const char* name, std::size_t bytes, void* dest, const void* source, std::size_t n,
                   int start, int log_stride, int size, long* sync) {
    move_on_set(name, dest, source, n, start, log_stride, size, sync, [&](const Team& team) {
        const std::size_t total = n * bytes * static_cast<std::size_t>(size);
        if (is_checked()) check_collective(team, {"dest", dest, total}, {"source", source, total});
        team.alltoall_bytes(dest, total, source, total);
    });
}

void alltoalls_bits(const char* name, std::size_t bytes, void* dest, const void* source, std::ptrdiff_t dst,
                    std::ptrdiff_t sst, std::size_t n, int start, int log_stride, int size, long* sync) {
    move_on_set(name, dest, source, n, start, log_stride, size, sync, [&](const Team& team) {
        const std::size_t count = n * static_cast<std::size_t>(size);
        const auto element = static_cast<std::ptrdiff_t>(bytes);
        if (is_checked())
            check_strided_collective(team, {"dest", dest, bytes}, {dst * element, bytes, count},
                                     {"source", source, bytes}, {sst * element, bytes, count});
        team.alltoalls_bytes(dest, source, dst, sst, n, bytes);
    });
}

void broadcast_bits(const char* name, std::size_t bytes, void* dest, const void* source, std::size_t n,
                    int root, int start, int log_stride, int size, long* sync) {
    on_set(name, start, log_stride, size, sync, [&](const Team& team) {
        const bool is_root = team.my_pe() == root;
        if (n != 0) require({name, SHMEM_CTX_DEFAULT}, is_root ? "source" : "dest", is_root ? source : dest);
        if (is_checked())
            check_broadcast(team, {"dest", dest, n * bytes}, {"source", source, n * bytes}, root);
        // Unlike the collective of teams, this one does not write the root's target.
        void* target = is_root ? const_cast<void*>(source) : dest;
        team.broadcast_bytes(target, n * bytes, source, n * bytes, root);
    });
}

void collect_bits(const char* name, std::size_t bytes, void* dest, const void* source, std::size_t n,
                  int start, int log_stride, int size, long* sync) {
    move_on_set(name, dest, source, n, start, log_stride, size, sync, [&](const Team& team) {
        if (is_checked()) check_collective(team, {"dest", dest, n * bytes}, {"source", source, n * bytes});
        team.collect_bytes(dest, SIZE_MAX, source, n * bytes);
    });
}

void fcollect_bits(const char* name, std::size_t bytes, void* dest, const void* source, std::size_t n,
                   int start, int log_stride, int size, long* sync) {
    move_on_set(name, dest, source, n, start, log_stride, size, sync, [&](const Team& team) {
        const std::size_t total = n * bytes * static_cast<std::size_t>(size);
        if (is_checked()) check_collective(team, {"dest", dest, total}, {"source", source, n * bytes});
        team.fcollect_bytes(dest, total, source, n * bytes);
    });
}

}  // namespace

void alltoall32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync) {
    alltoall_bits("shmem_alltoall32", 4, dest, source, n, start, log_stride, size, sync);
}
void alltoall64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync) {
    alltoall_bits("shmem_alltoall64", 8, dest, source, n, start, log_stride, size, sync);
}
void alltoalls32(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
                 int start, int log_stride, int size, long* sync) {
    alltoalls_bits("shmem_alltoalls32", 4, dest, source, dst, sst, n, start, log_stride, size, sync);
}
void alltoalls64(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
                 int start, int log_stride, int size, long* sync) {
    alltoalls_bits("shmem_alltoalls64", 8, dest, source, dst, sst, n, start, log_stride, size, sync);
}
void broadcast32(void* dest, const void* source, std::size_t n, int root, int start, int log_stride, int size,
                 long* sync) {
    broadcast_bits("shmem_broadcast32", 4, dest, source, n, root, start, log_stride, size, sync);
}
void broadcast64(void* dest, const void* source, std::size_t n, int root, int start, int log_stride, int size,
                 long* sync) {
    broadcast_bits("shmem_broadcast64", 8, dest, source, n, root, start, log_stride, size, sync);
}
void collect32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
               long* sync) {
    collect_bits("shmem_collect32", 4, dest, source, n, start, log_stride, size, sync);
}
void collect64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
               long* sync) {
    collect_bits("shmem_collect64", 8, dest, source, n, start, log_stride, size, sync);
}
void fcollect32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync) {
    fcollect_bits("shmem_fcollect32", 4, dest, source, n, start, log_stride, size, sync);
}
void fcollect64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync) {
    fcollect_bits("shmem_fcollect64", 8, dest, source, n, start, log_stride, size, sync);
}

}  // namespace atl::shmem
