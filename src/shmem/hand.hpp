// OpenSHMEM's untyped names: targets of the generated thunks. Bodies are in setup.cpp, memory.cpp, teams.cpp,
// contexts.cpp, order.cpp and active_set.cpp, in the order of these declarations.
#pragma once

#include "atoll/team.hpp"
#include "shmem.h"

namespace atl::shmem {

struct Call;  // front.hpp

// ---- setup.cpp: library set-up, exit and queries [9.1]
void init();
int init_thread(int requested, int* provided);
void query_thread(int* provided);
void query_initialized(int* initialized);
void finalize();
[[noreturn]] void global_exit(int status);
void start_pes(int n_pes);
int my_pe();
int n_pes();
inline int _num_pes() { return n_pes(); }  // NOLINT(readability-identifier-naming): a name of OpenSHMEM 1.0
inline int num_pes() { return n_pes(); }
int pe_accessible(int pe);
int addr_accessible(const void* address, int pe);
void* ptr(const void* dest, int pe);
void* team_ptr(shmem_team_t team, const void* dest, int pe);
void info_get_version(int* major, int* minor);
void info_get_name(char* name);
void pcontrol(int level);

// ---- memory.cpp: the symmetric heap [9.3]
void* malloc(std::size_t bytes);
void free(void* block);
void* realloc(void* block, std::size_t bytes);
void* align(std::size_t alignment, std::size_t bytes);
void* malloc_with_hints(std::size_t bytes, long hints);
void* calloc(std::size_t count, std::size_t bytes);
inline void* shmalloc(std::size_t bytes) { return malloc(bytes); }
inline void shfree(void* block) { free(block); }
inline void* shrealloc(void* block, std::size_t bytes) { return realloc(block, bytes); }
inline void* shmemalign(std::size_t alignment, std::size_t bytes) { return align(alignment, bytes); }

// ---- teams.cpp [9.4]
int team_my_pe(shmem_team_t team);
int team_n_pes(shmem_team_t team);
int team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config);
int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to);
int team_get_unique_id(const Call& call, std::uint64_t* id);
int team_init(const Call& call, std::uint64_t id, int n_pes, int my_pe, const shmem_team_config_t* config,
              long mask, shmem_team_t* team);
/// The next three with a call of another front.
int team_split_strided(const Call& call, shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* team);
int team_split_2d(const Call& call, shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig,
                  long xmask, shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask,
                  shmem_team_t* yteam);
void team_destroy(const Call& call, shmem_team_t team);
int team_split_strided(shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* team);
int team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                  shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask, shmem_team_t* yteam);
void team_destroy(shmem_team_t team);
int team_sync(shmem_team_t team);

// ---- contexts.cpp [9.4]
int ctx_create(long options, shmem_ctx_t* ctx);
int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx);
void ctx_destroy(shmem_ctx_t ctx);
int ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team);
void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long mask);
void ctx_session_stop(shmem_ctx_t ctx);
void fence();
void quiet();
void ctx_fence(shmem_ctx_t ctx);
void ctx_quiet(shmem_ctx_t ctx);
void pe_quiet(const int* pes, std::size_t n);
void ctx_pe_quiet(shmem_ctx_t ctx, const int* pes, std::size_t n);

// ---- order.cpp: barriers and locks [9.11, 9.13]
void barrier_all();
void sync_all();
void set_lock(long* lock);
void clear_lock(long* lock);
int test_lock(long* lock);
void wait_until(long* word, int cmp, long value);
void wait(long* word, long value);

// ---- active_set.cpp: the deprecated collectives.
/// True for a valid set that does not include this PE: the call then does nothing, and the process is warned
/// once. False for an invalid set.
bool is_outside(const Call& call, int start, int log_stride, int size);
/// The team of an active set, created by its members alone when they first meet. `sync` is all zero before
/// and after.
const Team& active_set(int start, int log_stride, int size, long* sync);
void barrier(int start, int log_stride, int size, long* sync);
void sync(int start, int log_stride, int size, long* sync);
void alltoall32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync);
void alltoall64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync);
void alltoalls32(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
                 int start, int log_stride, int size, long* sync);
void alltoalls64(void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
                 int start, int log_stride, int size, long* sync);
void broadcast32(void* dest, const void* source, std::size_t n, int root, int start, int log_stride, int size,
                 long* sync);
void broadcast64(void* dest, const void* source, std::size_t n, int root, int start, int log_stride, int size,
                 long* sync);
void collect32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
               long* sync);
void collect64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
               long* sync);
void fcollect32(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync);
void fcollect64(void* dest, const void* source, std::size_t n, int start, int log_stride, int size,
                long* sync);

}  // namespace atl::shmem
