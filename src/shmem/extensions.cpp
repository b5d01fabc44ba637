// shmemx.h: written by hand, since there are few names.
#include "shmem/collective_templates.hpp"
#include "shmemx.h"

namespace atl::shmem {
const std::string& remembered_error() noexcept;
int init_callbacks(int my_pe, int n_pes, const shmemx_callbacks_t* callbacks);

template <class T>
static int sum_reduce_scatter(const char* name, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce_scatter({name, SHMEM_CTX_INVALID}, team, dest, source, n, ReduceOp::sum);
}
}  // namespace atl::shmem

using atl::shmem::Call;

#pragma GCC visibility push(default)
extern "C" {

void shmemx_float_atomic_add(float* dest, float value, int pe) {
    atl::shmem::atomic_add(Call{"shmemx_float_atomic_add", SHMEM_CTX_DEFAULT}, dest, value, pe);
}
void shmemx_double_atomic_add(double* dest, double value, int pe) {
    atl::shmem::atomic_add(Call{"shmemx_double_atomic_add", SHMEM_CTX_DEFAULT}, dest, value, pe);
}
float shmemx_float_atomic_fetch_add(float* dest, float value, int pe) {
    return atl::shmem::atomic_fetch_add(Call{"shmemx_float_atomic_fetch_add", SHMEM_CTX_DEFAULT}, dest, value,
                                        pe);
}
double shmemx_double_atomic_fetch_add(double* dest, double value, int pe) {
    return atl::shmem::atomic_fetch_add(Call{"shmemx_double_atomic_fetch_add", SHMEM_CTX_DEFAULT}, dest,
                                        value, pe);
}
int shmemx_int_sum_reduce_scatter(shmem_team_t team, int* dest, const int* source, size_t nreduce) {
    return atl::shmem::sum_reduce_scatter("shmemx_int_sum_reduce_scatter", team, dest, source, nreduce);
}
int shmemx_long_sum_reduce_scatter(shmem_team_t team, long* dest, const long* source, size_t nreduce) {
    return atl::shmem::sum_reduce_scatter("shmemx_long_sum_reduce_scatter", team, dest, source, nreduce);
}
int shmemx_float_sum_reduce_scatter(shmem_team_t team, float* dest, const float* source, size_t nreduce) {
    return atl::shmem::sum_reduce_scatter("shmemx_float_sum_reduce_scatter", team, dest, source, nreduce);
}
int shmemx_double_sum_reduce_scatter(shmem_team_t team, double* dest, const double* source, size_t nreduce) {
    return atl::shmem::sum_reduce_scatter("shmemx_double_sum_reduce_scatter", team, dest, source, nreduce);
}
int shmemx_team_split(shmem_team_t parent, int color, int key, shmem_team_t* team) {
    const Call call{"shmemx_team_split", SHMEM_CTX_INVALID};
    atl::shmem::require(call, "team", team);
    *team = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID) return -1;
    return atl::shmem::status(
        call, [&] { *team = atl::shmem::handle_of(atl::shmem::team_of(parent).split(color, key)); });
}
int shmemx_team_get_unique_id(uint64_t* unique_id) {
    return atl::shmem::team_get_unique_id({"shmemx_team_get_unique_id", SHMEM_CTX_INVALID}, unique_id);
}
int shmemx_team_init(uint64_t unique_id, int npes, int my_pe, shmem_team_t* team) {
    return atl::shmem::team_init({"shmemx_team_init", SHMEM_CTX_INVALID}, unique_id, npes, my_pe, nullptr, 0,
                                 team);
}
int shmemx_init_callbacks(int my_pe, int n_pes, const shmemx_callbacks_t* callbacks) {
    return atl::shmem::init_callbacks(my_pe, n_pes, callbacks);
}
const char* shmemx_last_error(void) { return atl::shmem::remembered_error().c_str(); }

}  // extern "C"
#pragma GCC visibility pop
