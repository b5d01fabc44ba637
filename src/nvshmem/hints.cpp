// Calls by which a program advises NVSHMEM. They are accepted; nothing here needs the advice.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "nvshmem/front.hpp"
#include "shmem/checks.hpp"

namespace atl::nvshmem {

namespace {
std::atomic<std::uint64_t> regions{0};  // numbers given out
std::atomic<int> active_regions{0};
}  // namespace

/// All operations of a PE share one path, so each handle names that one. The caller owns the array, by
/// malloc().
int qp_create(int count, nvshmemx_qp_handle_t** handles) {
    shmem::require({"nvshmemx_qp_create", SHMEM_CTX_DEFAULT}, "out_qp_array", handles);
    if (count < 0) {
        shmem::status({"nvshmemx_qp_create", SHMEM_CTX_DEFAULT}, [&] {
            throw Error(ErrorCode::invalid_argument,
                        "num_qps: " + std::to_string(count) + " was passed; pass 0 or more.");
        });
        return NVSHMEMX_ERROR_INVALID_VALUE;
    }
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(nvshmemx_qp_handle_t);
    *handles = static_cast<nvshmemx_qp_handle_t*>(std::malloc(bytes));
    if (*handles == nullptr && count > 0) return NVSHMEMX_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < count; ++i) (*handles)[i] = NVSHMEMX_QP_DEFAULT;
    return NVSHMEMX_SUCCESS;
}

int region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t*) {
    shmem::require({"nvshmemx_region_start", SHMEM_CTX_DEFAULT}, "handle", handle);
    *handle = ++regions;
    ++active_regions;
    return NVSHMEMX_SUCCESS;
}
int region_stop(nvshmemx_region_handle_t handle) {
    if (handle == 0 || handle > regions || active_regions == 0) return NVSHMEMX_ERROR_INVALID_VALUE;
    --active_regions;
    return NVSHMEMX_SUCCESS;
}
int region_is_active(std::uint32_t, int* active) {
    shmem::require({"nvshmemx_region_is_active", SHMEM_CTX_DEFAULT}, "active", active);
    *active = active_regions > 0 ? 1 : 0;
    return NVSHMEMX_SUCCESS;
}

}  // namespace atl::nvshmem
