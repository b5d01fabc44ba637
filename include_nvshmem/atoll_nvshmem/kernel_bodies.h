/* Bodies of NVSHMEM's functions for kernels. The generated functions call them with elements of the name's
 * type, and with its scope where the name has one. */
#ifndef ATOLL_NVSHMEM_KERNEL_BODIES_H
#define ATOLL_NVSHMEM_KERNEL_BODIES_H
#if defined(__CUDACC__)

#if defined(__CUDACC_RTC__) /* CUDA's runtime headers declare the same as __assert_fail */
extern "C" __device__ void __assertfail(const char* why, const char* file, unsigned line,
                                        const char* function, size_t bytes_of_a_character);
#endif

namespace atl::nvshmem_kernel {

using device::Team;
using device::Thread;
using Size = decltype(sizeof 0);
using Distance = ptrdiff_t;
using Word = uint64_t;

/// An element of so many bits, which is only moved.
template <int Bits> struct UnitOf { using type = unsigned char; };
template <> struct UnitOf<16> { using type = unsigned short; };
template <> struct UnitOf<32> { using type = unsigned; };
template <> struct UnitOf<64> { using type = unsigned long long; };
template <> struct UnitOf<128> { using type = device::detail::Quad; };
template <int Bits> using Unit = typename UnitOf<Bits>::type;

/// Ends the kernel with a sentence. printf's text would be lost with the kernel; that of a failed assertion
/// is not.
ATOLL_ANYWHERE inline void refuse(const char* why) {
#if defined(__CUDACC_RTC__)
    __assertfail(why, "nvshmem.h of Atoll", 0, "a function of NVSHMEM", 1);
    __trap();
    __builtin_unreachable();
#elif defined(__CUDA_ARCH__)
    __assert_fail(why, "nvshmem.h of Atoll", 0, "a function of NVSHMEM");
    __trap();
    __builtin_unreachable();
#else
    static_cast<void>(why);
#endif
}
ATOLL_ANYWHERE inline void refuse_unfilled() {
    refuse(
        "this module does not know the job yet: after nvshmem_init and cudaSetDevice allocate by "
        "nvshmem_malloc, or "
        "launch by nvshmemx_collective_launch. Modules of the driver API need nvshmemx_cumodule_init or "
        "nvshmemx_culibrary_init");
}

ATOLL_ANYWHERE inline const State& state() { return nvshmemi_device_state_d; }
/// The world for calls that check the PE, which an unfilled state has none of.
ATOLL_ANYWHERE inline const Team& world() { return state().world; }
/// The world for other calls.
ATOLL_ANYWHERE inline const Team& known_world() {
    if (!world().control) refuse_unfilled();
    return world();
}
ATOLL_ANYWHERE inline bool is_team(nvshmem_team_t team) {
    return static_cast<unsigned>(team) < static_cast<unsigned>(most_teams) && state().teams[team].control;
}
ATOLL_ANYWHERE inline const Team& team_of(nvshmem_team_t team) {
    if (team == NVSHMEM_TEAM_WORLD) return known_world();
    if (!is_team(team)) {
        known_world();
        refuse(
            "this team does not exist in kernels. It was destroyed, this PE is not a member, it has members "
            "on other hosts, or 64 teams are alive");
    }
    return state().teams[team];
}

/// All queue pairs name the same path. A number that names none is a mistake of the program.
ATOLL_ANYWHERE inline void require_queue_pair(nvshmemx_qp_handle_t qp) {
    if (qp != NVSHMEMX_QP_DEFAULT && qp != NVSHMEMX_QP_HOST && qp != NVSHMEMX_QP_ANY)
        refuse(
            "this queue pair does not exist. Pass a handle of nvshmemx_qp_create, or NVSHMEMX_QP_DEFAULT, "
            "HOST, ANY or ALL");
}

ATOLL_ANYWHERE inline Compare comparison(int cmp) {
    if (static_cast<unsigned>(cmp) > static_cast<unsigned>(NVSHMEM_CMP_GE))
        refuse("cmp is not one of NVSHMEM_CMP_EQ, NE, GT, GE, LT and LE");
    return cmp == NVSHMEM_CMP_GE   ? Compare::ge
           : cmp == NVSHMEM_CMP_LE ? Compare::le
                                   : static_cast<Compare>(cmp);
}
/// PyTorch's functions for Triton document 0 to set and 5 to add.
ATOLL_ANYWHERE inline SignalOp signal_operation(int op) {
    const bool sets = op == NVSHMEM_SIGNAL_SET || op == 0, adds = op == NVSHMEM_SIGNAL_ADD || op == 5;
    if (!sets && !adds) refuse("sig_op is neither NVSHMEM_SIGNAL_SET nor NVSHMEM_SIGNAL_ADD");
    return adds ? SignalOp::add : SignalOp::set;
}

// ---- queries
ATOLL_ANYWHERE inline int my_pe() { return known_world().my_pe; }
ATOLL_ANYWHERE inline int n_pes() { return known_world().n_pes; }
ATOLL_ANYWHERE inline int team_my_pe(nvshmem_team_t team) { return is_team(team) ? team_of(team).my_pe : -1; }
ATOLL_ANYWHERE inline int team_n_pes(nvshmem_team_t team) { return is_team(team) ? team_of(team).n_pes : -1; }
ATOLL_ANYWHERE inline int team_translate_pe(nvshmem_team_t from, int pe, nvshmem_team_t to) {
    return is_team(from) && is_team(to) ? device::translate_pe(team_of(from), pe, team_of(to)) : -1;
}
ATOLL_ANYWHERE inline void* ptr(const void* dest, int pe) {
    const Team& team = known_world();
    const auto address = reinterpret_cast<unsigned long long>(dest);
    const auto mine =
        reinterpret_cast<unsigned long long>(team.window) +
        static_cast<unsigned long long>(team.my_slot) * static_cast<unsigned long long>(team.stride);
    const bool is_symmetric = address - mine < static_cast<unsigned long long>(team.stride);
    if (!is_symmetric || static_cast<unsigned>(pe) >= static_cast<unsigned>(team.n_pes)) return nullptr;
    return device::ptr(team, const_cast<char*>(static_cast<const char*>(dest)), pe);
}
ATOLL_ANYWHERE inline void* mc_ptr(nvshmem_team_t, const void*) { return nullptr; }
ATOLL_ANYWHERE inline void info_get_version(int* major, int* minor) {
    *major = NVSHMEM_MAJOR_VERSION;
    *minor = NVSHMEM_MINOR_VERSION;
}
ATOLL_ANYWHERE inline void vendor_get_version_info(int* major, int* minor, int* patch) {
    *major = NVSHMEM_VENDOR_MAJOR_VERSION;
    *minor = NVSHMEM_VENDOR_MINOR_VERSION;
    *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}
ATOLL_ANYWHERE inline void info_get_name(char* name) {
    const char* text = NVSHMEM_VENDOR_STRING;
    do *name++ = *text;
    while (*text++);
}

// ---- remote memory access: all types are bytes
ATOLL_ANYWHERE inline char* bytes_of(void* p) { return static_cast<char*>(p); }
ATOLL_ANYWHERE inline const char* bytes_of(const void* p) { return static_cast<const char*>(p); }

template <class Scope>
ATOLL_ANYWHERE void putmem(void* dest, const void* source, Size n, int pe, Scope scope) {
    device::put(world(), bytes_of(dest), bytes_of(source), n, pe, scope);
}
template <class Scope>
ATOLL_ANYWHERE void getmem(void* dest, const void* source, Size n, int pe, Scope scope) {
    device::get(world(), bytes_of(dest), bytes_of(source), n, pe, scope);
}
template <class Scope>
ATOLL_ANYWHERE void putmem_nbi(void* dest, const void* source, Size n, int pe, Scope scope) {
    device::put_nbi(world(), bytes_of(dest), bytes_of(source), n, pe, scope);
}
template <class Scope>
ATOLL_ANYWHERE void getmem_nbi(void* dest, const void* source, Size n, int pe, Scope scope) {
    device::get_nbi(world(), bytes_of(dest), bytes_of(source), n, pe, scope);
}
template <class Scope>
ATOLL_ANYWHERE void putmem_signal(void* dest, const void* source, Size n, Word* signal, Word value, int op,
                                  int pe, Scope scope) {
    device::put_signal(world(), bytes_of(dest), bytes_of(source), n, signal, value, signal_operation(op), pe,
                       scope);
}
template <class Scope>
ATOLL_ANYWHERE void putmem_signal_nbi(void* dest, const void* source, Size n, Word* signal, Word value,
                                      int op, int pe, Scope scope) {
    device::put_signal_nbi(world(), bytes_of(dest), bytes_of(source), n, signal, value, signal_operation(op),
                           pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void put(T* dest, const T* source, Size n, int pe, Scope scope) {
    putmem(dest, source, n * sizeof(T), pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void get(T* dest, const T* source, Size n, int pe, Scope scope) {
    getmem(dest, source, n * sizeof(T), pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void put_nbi(T* dest, const T* source, Size n, int pe, Scope scope) {
    putmem_nbi(dest, source, n * sizeof(T), pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void get_nbi(T* dest, const T* source, Size n, int pe, Scope scope) {
    getmem_nbi(dest, source, n * sizeof(T), pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void put_signal(T* dest, const T* source, Size n, Word* signal, Word value, int op, int pe,
                               Scope scope) {
    putmem_signal(dest, source, n * sizeof(T), signal, value, op, pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void put_signal_nbi(T* dest, const T* source, Size n, Word* signal, Word value, int op, int pe,
                                   Scope scope) {
    putmem_signal_nbi(dest, source, n * sizeof(T), signal, value, op, pe, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void iput(T* dest, const T* source, Distance dst, Distance sst, Size n, int pe, Scope scope) {
    using U = Unit<8 * sizeof(T)>;
    device::iput(world(), reinterpret_cast<U*>(dest), reinterpret_cast<const U*>(source), dst, sst, n, pe,
                 scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE void iget(T* dest, const T* source, Distance dst, Distance sst, Size n, int pe, Scope scope) {
    using U = Unit<8 * sizeof(T)>;
    device::iget(world(), reinterpret_cast<U*>(dest), reinterpret_cast<const U*>(source), dst, sst, n, pe,
                 scope);
}
template <class T> ATOLL_ANYWHERE void p(T* dest, T value, int pe) { device::p(world(), dest, value, pe); }
template <class T> ATOLL_ANYWHERE T g(const T* source, int pe) { return device::g(world(), source, pe); }

// ---- signals and order
ATOLL_ANYWHERE inline void signal_op(Word* signal, Word value, int op, int pe) {
    if (signal_operation(op) == SignalOp::add)
        device::signal_add(world(), signal, value, pe);
    else
        device::signal_set(world(), signal, value, pe);
}
ATOLL_ANYWHERE inline Word signal_fetch(const Word* signal) { return device::signal_fetch(world(), signal); }
ATOLL_ANYWHERE inline Word signal_wait_until(const Word* signal, int cmp, Word value) {
    return device::detail::signal_that_ends(known_world(), signal, comparison(cmp), value, Thread{}, 0, 0);
}
ATOLL_ANYWHERE inline void signal_counted_reset(Word* signal) {
    device::signal_set(known_world(), signal, 0, world().my_pe);
}
ATOLL_ANYWHERE inline void quiet() { device::quiet(world()); }
ATOLL_ANYWHERE inline void fence() { device::fence(world()); }
template <class Scope> ATOLL_ANYWHERE void flush(Scope scope) { device::flush(world(), scope); }
ATOLL_ANYWHERE inline void require_queue_pairs(const nvshmemx_qp_handle_t* handles, int count) {
    for (int i = 0; handles != nullptr && i < count; ++i) require_queue_pair(handles[i]);
}
template <class Scope> ATOLL_ANYWHERE void qp_quiet(int, const int* handles, int count, Scope scope) {
    require_queue_pairs(handles, count);
    device::quiet(world(), scope);
}
template <class Scope> ATOLL_ANYWHERE void qp_fence(int, const int* handles, int count, Scope scope) {
    require_queue_pairs(handles, count);
    device::fence(world(), scope);
}

// ---- hints: moves need no shared memory, and regions change nothing
ATOLL_ANYWHERE inline void give_smem(void*, Size) {}
ATOLL_ANYWHERE inline void release_smem() {}
ATOLL_ANYWHERE inline int region_start_block(nvshmemx_region_handle_t* handle,
                                             const nvshmemx_region_attrs_t*) {
    *handle = 0;
    return NVSHMEMX_SUCCESS;
}
ATOLL_ANYWHERE inline int region_stop_block(nvshmemx_region_handle_t) { return NVSHMEMX_SUCCESS; }
ATOLL_ANYWHERE inline int region_is_active(unsigned, int* active) {
    *active = 0;
    return NVSHMEMX_SUCCESS;
}

// ---- atomics
template <class T> ATOLL_ANYWHERE T atomic_fetch(const T* source, int pe) {
    return device::atomic_fetch(world(), source, pe);
}
template <class T> ATOLL_ANYWHERE void atomic_set(T* dest, T value, int pe) {
    device::atomic_set(world(), dest, value, pe);
}
template <class T> ATOLL_ANYWHERE T atomic_swap(T* dest, T value, int pe) {
    return device::atomic_swap(world(), dest, value, pe);
}
template <class T> ATOLL_ANYWHERE T atomic_compare_swap(T* dest, T condition, T value, int pe) {
    return device::atomic_compare_swap(world(), dest, condition, value, pe);
}
template <class T> ATOLL_ANYWHERE T atomic_fetch_inc(T* dest, int pe) {
    return device::atomic_fetch_inc(world(), dest, pe);
}
template <class T> ATOLL_ANYWHERE void atomic_inc(T* dest, int pe) { device::atomic_inc(world(), dest, pe); }

// The names of the operators.
#define ATOLL_NVSHMEM_ATOMIC(NAME)                                                      \
    template <class T> ATOLL_ANYWHERE T atomic_fetch_##NAME(T* dest, T value, int pe) { \
        return device::atomic_fetch_##NAME(world(), dest, value, pe);                   \
    }                                                                                   \
    template <class T> ATOLL_ANYWHERE void atomic_##NAME(T* dest, T value, int pe) {    \
        device::atomic_##NAME(world(), dest, value, pe);                                \
    }
ATOLL_NVSHMEM_ATOMIC(add)
ATOLL_NVSHMEM_ATOMIC(and)
ATOLL_NVSHMEM_ATOMIC(or)
ATOLL_NVSHMEM_ATOMIC(xor)
#undef ATOLL_NVSHMEM_ATOMIC

// ---- waits and tests
template <class T> ATOLL_ANYWHERE void wait_until(const T* word, int cmp, T value) {
    device::wait_until(known_world(), word, comparison(cmp), value);
}
template <class T> ATOLL_ANYWHERE int test(const T* word, int cmp, T value) {
    return device::test(world(), word, comparison(cmp), value) ? 1 : 0;
}
template <class T>
ATOLL_APART void wait_until_all(const T* words, Size n, const int* status, int cmp, T value) {
    device::wait_until_all(known_world(), words, n, status, comparison(cmp), value);
}
template <class T>
ATOLL_APART Size wait_until_any(const T* words, Size n, const int* status, int cmp, T value) {
    return device::wait_until_any(known_world(), words, n, status, comparison(cmp), value);
}
template <class T>
ATOLL_APART Size wait_until_some(const T* words, Size n, Size* indices, const int* status, int cmp, T value) {
    return device::wait_until_some(known_world(), words, n, reinterpret_cast<unsigned long long*>(indices),
                                   status, comparison(cmp), value);
}
template <class T> ATOLL_APART int test_all(const T* words, Size n, const int* status, int cmp, T value) {
    return device::test_all(world(), words, n, status, comparison(cmp), value) ? 1 : 0;
}
template <class T> ATOLL_APART Size test_any(const T* words, Size n, const int* status, int cmp, T value) {
    return device::test_any(world(), words, n, status, comparison(cmp), value);
}
template <class T>
ATOLL_APART Size test_some(const T* words, Size n, Size* indices, const int* status, int cmp, T value) {
    return device::test_some(world(), words, n, reinterpret_cast<unsigned long long*>(indices), status,
                             comparison(cmp), value);
}
template <class T>
ATOLL_APART void wait_until_all_vector(const T* words, Size n, const int* status, int cmp, const T* values) {
    device::wait_until_all_vector(known_world(), words, n, status, comparison(cmp), values);
}
template <class T>
ATOLL_APART Size wait_until_any_vector(const T* words, Size n, const int* status, int cmp, const T* values) {
    return device::wait_until_any_vector(known_world(), words, n, status, comparison(cmp), values);
}
template <class T>
ATOLL_APART Size wait_until_some_vector(const T* words, Size n, Size* indices, const int* status, int cmp,
                                        const T* values) {
    return device::wait_until_some_vector(known_world(), words, n,
                                          reinterpret_cast<unsigned long long*>(indices), status,
                                          comparison(cmp), values);
}
template <class T>
ATOLL_APART int test_all_vector(const T* words, Size n, const int* status, int cmp, const T* values) {
    return device::test_all_vector(world(), words, n, status, comparison(cmp), values) ? 1 : 0;
}
template <class T>
ATOLL_APART Size test_any_vector(const T* words, Size n, const int* status, int cmp, const T* values) {
    return device::test_any_vector(world(), words, n, status, comparison(cmp), values);
}
template <class T>
ATOLL_APART Size test_some_vector(const T* words, Size n, Size* indices, const int* status, int cmp,
                                  const T* values) {
    return device::test_some_vector(world(), words, n, reinterpret_cast<unsigned long long*>(indices), status,
                                    comparison(cmp), values);
}

// ---- collectives: calls, not inlined, so that programs compile fast
/// Synchronizes the threads of the scope, and returns the team of a call. Some threads may just have made a
/// call with a smaller scope, for which Atoll's own functions do not wait.
template <class Scope> ATOLL_ANYWHERE const Team& team_for(nvshmem_team_t number, Scope scope) {
    const Team& team = team_of(number);
    scope.sync();
    return team;
}
template <class Scope> ATOLL_APART int barrier(nvshmem_team_t team, Scope scope) {
    device::barrier(team_for(team, scope), scope);
    return 0;
}
template <class Scope> ATOLL_APART int team_sync(nvshmem_team_t team, Scope scope) {
    device::sync(team_for(team, scope), scope);
    return 0;
}
inline __device__ int barrier_warpgroup(nvshmem_team_t team) { return barrier(team, device::Warpgroup{}); }
template <class Scope> ATOLL_ANYWHERE void barrier_all(Scope scope) { barrier(NVSHMEM_TEAM_WORLD, scope); }
template <class Scope> ATOLL_ANYWHERE void sync_all(Scope scope) { team_sync(NVSHMEM_TEAM_WORLD, scope); }

template <class Scope>
ATOLL_APART int alltoallmem(nvshmem_team_t team, void* dest, const void* source, Size n, Scope scope) {
    device::alltoall(team_for(team, scope), bytes_of(dest), bytes_of(source), n, scope);
    return 0;
}
template <class Scope>
ATOLL_APART int broadcastmem(nvshmem_team_t team, void* dest, const void* source, Size n, int root,
                             Scope scope) {
    device::broadcast(team_for(team, scope), bytes_of(dest), bytes_of(source), n, root, scope);
    return 0;
}
template <class Scope>
ATOLL_APART int fcollectmem(nvshmem_team_t team, void* dest, const void* source, Size n, Scope scope) {
    device::fcollect(team_for(team, scope), bytes_of(dest), bytes_of(source), n, scope);
    return 0;
}
template <class T, class Scope>
ATOLL_ANYWHERE int alltoall(nvshmem_team_t team, T* dest, const T* source, Size n, Scope scope) {
    return alltoallmem(team, dest, source, n * sizeof(T), scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE int broadcast(nvshmem_team_t team, T* dest, const T* source, Size n, int root, Scope scope) {
    return broadcastmem(team, dest, source, n * sizeof(T), root, scope);
}
template <class T, class Scope>
ATOLL_ANYWHERE int fcollect(nvshmem_team_t team, T* dest, const T* source, Size n, Scope scope) {
    return fcollectmem(team, dest, source, n * sizeof(T), scope);
}

#define ATOLL_NVSHMEM_REDUCTION(NAME, OP)                                                               \
    template <class T, class Scope>                                                                     \
    ATOLL_APART int NAME##_reduce(nvshmem_team_t team, T* dest, const T* source, Size n, Scope scope) { \
        device::reduce(team_for(team, scope), dest, source, n, device::OP{}, scope);                    \
        return 0;                                                                                       \
    }                                                                                                   \
    template <class T, class Scope>                                                                     \
    ATOLL_APART int NAME##_reducescatter(nvshmem_team_t team, T* dest, const T* source, Size n,         \
                                         Scope scope) {                                                 \
        device::reduce_scatter(team_for(team, scope), dest, source, n, device::OP{}, scope);            \
        return 0;                                                                                       \
    }
ATOLL_NVSHMEM_REDUCTION(and, And)
ATOLL_NVSHMEM_REDUCTION(or, Or)
ATOLL_NVSHMEM_REDUCTION(xor, Xor)
ATOLL_NVSHMEM_REDUCTION(max, Max)
ATOLL_NVSHMEM_REDUCTION(min, Min)
ATOLL_NVSHMEM_REDUCTION(sum, Sum)
ATOLL_NVSHMEM_REDUCTION(prod, Prod)
#undef ATOLL_NVSHMEM_REDUCTION

/// The pair with the larger x; of equal ones, that of the first PE.
struct Maxloc {
    ATOLL_ANYWHERE double2 operator()(double2 a, double2 b) const { return a.x < b.x ? b : a; }
};
inline __device__ int double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* source,
                                                  Size n) {
    if (n >> 31 != 0) refuse("double2_maxloc_reduce_block combines less than 2^31 pairs");
    const auto count = static_cast<unsigned>(n);
    device::tile_reduce(team_for(team, device::Block{}), device::make_tile(dest, 1, count, 0),
                        device::make_tile(source, 1, count, 0), Maxloc{}, device::Block{});
    return 0;
}

}  // namespace atl::nvshmem_kernel

#endif
#endif
