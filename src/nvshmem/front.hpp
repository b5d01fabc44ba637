// NVSHMEM's front: its teams by number, the kind of its memory, and its untyped names. The typed names are in
// bodies.hpp.
#pragma once

#include "atoll/job.hpp"
#include "nvshmem_host.h"
#include "shmemx.h"

namespace atl::shmem {
struct Call;
}

namespace atl::nvshmem {

/// OpenSHMEM's handle of a team; SHMEM_TEAM_INVALID for a number that names none.
shmem_team_t handle(nvshmem_team_t team) noexcept;
/// The same for the call of that name, which ends the job before nvshmem_init.
shmem_team_t handle(const char* name, nvshmem_team_t team);

/// OpenSHMEM's number of a comparison or an operation on a signal; a number that NVSHMEM does not have, as it
/// is.
constexpr int comparison_number(int cmp) noexcept {
    return cmp == NVSHMEM_CMP_GE ? SHMEM_CMP_GE : cmp == NVSHMEM_CMP_LE ? SHMEM_CMP_LE : cmp;
}
constexpr int signal_number(int op) noexcept {
    return op == NVSHMEM_SIGNAL_SET ? SHMEM_SIGNAL_SET : op == NVSHMEM_SIGNAL_ADD ? SHMEM_SIGNAL_ADD : op;
}

/// True once symmetric memory is that of GPUs. It is chosen by the first allocation, for all PEs alike.
bool is_on_gpu() noexcept;
/// Chooses the kind of memory if no allocation has. Collective over all PEs.
Memory choose_memory();
void forget_memory() noexcept;  ///< at finalize
void forget_teams() noexcept;   ///< at finalize

/// Options to join the job of an MPI communicator, by the MPI that this process has loaded. `comm` is the
/// address of an MPI_Comm. Throws Error(bootstrap) without MPI.
JobOptions mpi_options(const void* comm);

// ---- environment.cpp
/// True if NVSHMEM_HEAP_KIND asks for memory of the host. Throws Error(settings) for other words than its
/// own.
bool wants_host_memory();
/// Names NVSHMEM's variables that have no effect here, on stderr.
void warn_about_variables();

// ---- foreign_library.cpp
/// Throws Error(bootstrap) if NVSHMEM's own library answers this process's calls of its names.
void refuse_foreign_library();

// ---- setup.cpp: set-up, exit and queries
void init();
int init_thread(int requested, int* provided);
int hostlib_init_attr(unsigned flags, const nvshmemx_init_attr_t* attr);
int init_status();
void query_thread(int* provided);
void finalize();
inline void hostlib_finalize() { finalize(); }
[[noreturn]] void global_exit(int status);
int my_pe();
int n_pes();
void info_get_version(int* major, int* minor);
void info_get_name(char* name);
void vendor_get_version_info(int* major, int* minor, int* patch);
int get_uniqueid(nvshmemx_uniqueid_t* id);
int set_attr_uniqueid_args(int my_rank, int n_ranks, const nvshmemx_uniqueid_t* id,
                           nvshmemx_init_attr_t* attr);
int set_attr_mpi_comm_args(void* comm, nvshmemx_init_attr_t* attr);

// ---- memory.cpp
void* malloc(std::size_t bytes);
void* calloc(std::size_t count, std::size_t bytes);
void* align(std::size_t alignment, std::size_t bytes);
void free(void* block);
void* ptr(const void* dest, int pe);
void* mc_ptr(nvshmem_team_t team, const void* ptr);
int buffer_register(void* address, std::size_t bytes);
int buffer_unregister(void* address);
void buffer_unregister_all();
void* buffer_register_symmetric(void* buffer, std::size_t bytes, int flags);
int buffer_unregister_symmetric(void* view, std::size_t bytes);
void fence();
void signal_counted_reset(std::uint64_t* signal);

// ---- teams.cpp
int team_my_pe(nvshmem_team_t team);
int team_n_pes(nvshmem_team_t team);
void team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config);
int team_translate_pe(nvshmem_team_t from, int pe, nvshmem_team_t to);
int team_get_uniqueid(nvshmemx_team_uniqueid_t* id);
int team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes, int my_pe);
int team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                       const nvshmem_team_config_t* config, long mask, nvshmem_team_t* team);
int team_split_2d(nvshmem_team_t parent, int xrange, const nvshmem_team_config_t* xconfig, long xmask,
                  nvshmem_team_t* xteam, const nvshmem_team_config_t* yconfig, long ymask,
                  nvshmem_team_t* yteam);
void team_destroy(nvshmem_team_t team);

// ---- modules.cpp: kernels' modules, whose state has the teams
/// Fills the state of the modules that lack the newest one. Local; nothing without GPU memory.
void fill_modules();
bool has_modules() noexcept;  ///< true if a source file of the program has kernels
/// The same, after the choice of memory. Collective at the first call. Ends the job before nvshmem_init.
void prepare_modules(const shmem::Call& call);
void tell_modules(nvshmem_team_t changed);  ///< a team was made or destroyed; local
void forget_modules() noexcept;             ///< at finalize
int cumodule_init(CUmodule module);
int cumodule_finalize(CUmodule module);
int culibrary_init(CUlibrary library);
int culibrary_finalize(CUlibrary library);

// ---- hints.cpp: calls that only advise NVSHMEM, and are accepted
int qp_create(int count, nvshmemx_qp_handle_t** handles);
int region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attributes);
int region_stop(nvshmemx_region_handle_t handle);
int region_is_active(std::uint32_t hints, int* active);
void forget_region() noexcept;  ///< at finalize

}  // namespace atl::nvshmem
