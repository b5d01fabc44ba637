// Calls by which a program advises NVSHMEM. They are accepted; nothing here needs the advice.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>

#include "nvshmem/front.hpp"
#include "shmem/checks.hpp"

namespace atl::nvshmem {

namespace {

constexpr std::uint32_t known_hints = NVSHMEMX_REGION_HINT_BATCH_RMA;

/// The region of this process; without one the handle is 0. Regions do not nest.
struct Region {
    nvshmemx_region_handle_t handle = 0;
    std::uint32_t hints = 0;
};
std::mutex guard;  // protects the two below
Region active_region;
nvshmemx_region_handle_t regions = 0;  // the number of handles returned so far

/// Reports a wrong argument of a call that returns a status.
int refuse(const char* name, const std::string& sentence) {
    return shmem::status_of({name, SHMEM_CTX_DEFAULT}, Error(ErrorCode::invalid_argument, sentence), false,
                            NVSHMEMX_ERROR_INVALID_VALUE);
}

bool is_joined() { return static_cast<bool>(shmem::front.context); }
constexpr const char* not_joined =
    "NVSHMEM is not initialized in this process; call nvshmem_init first, and nothing after the last "
    "nvshmem_finalize.";

std::string unknown_hints(std::uint32_t hints) {
    return "hints: " + std::to_string(hints) +
           " has bits that mean nothing; pass NVSHMEMX_REGION_HINT_NONE or NVSHMEMX_REGION_HINT_BATCH_RMA.";
}

}  // namespace

/// All operations of a PE share one path, so each handle names that one. The caller owns the array, by
/// malloc().
int qp_create(int count, nvshmemx_qp_handle_t** handles) {
    shmem::require({"nvshmemx_qp_create", SHMEM_CTX_DEFAULT}, "out_qp_array", handles);
    if (count < 0)
        return refuse("nvshmemx_qp_create",
                      "num_qps: " + std::to_string(count) + " was passed; pass 0 or more.");
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(nvshmemx_qp_handle_t);
    *handles = static_cast<nvshmemx_qp_handle_t*>(std::malloc(bytes));
    if (*handles == nullptr && count > 0) return NVSHMEMX_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < count; ++i) (*handles)[i] = NVSHMEMX_QP_DEFAULT;
    return NVSHMEMX_SUCCESS;
}

int region_start(nvshmemx_region_handle_t* handle, const nvshmemx_region_attrs_t* attributes) {
    const char* const name = "nvshmemx_region_start";
    const std::uint32_t hints = attributes == nullptr ? 0U : attributes->hints;
    if (!is_joined()) return refuse(name, not_joined);
    if (handle == nullptr) return refuse(name, "handle: NULL was passed; pass the address of a handle.");
    if ((hints & ~known_hints) != 0) return refuse(name, unknown_hints(hints));
    const std::lock_guard lock(guard);
    if (active_region.handle != 0)
        return refuse(name, "a region is active already; end it by nvshmemx_region_stop before the next.");
    active_region = {++regions, hints};
    *handle = active_region.handle;
    return NVSHMEMX_SUCCESS;
}
int region_stop(nvshmemx_region_handle_t handle) {
    const char* const name = "nvshmemx_region_stop";
    if (!is_joined()) return refuse(name, not_joined);
    const std::lock_guard lock(guard);
    if (active_region.handle == 0 || active_region.handle != handle)
        return refuse(name, "handle: " + std::to_string(handle) +
                                " is not that of the active region; pass what nvshmemx_region_start wrote, "
                                "once.");
    active_region = {};
    return NVSHMEMX_SUCCESS;
}
int region_is_active(std::uint32_t hints, int* active) {
    const char* const name = "nvshmemx_region_is_active";
    if (!is_joined()) return refuse(name, not_joined);
    if (active == nullptr) return refuse(name, "active: NULL was passed; pass the address of an int.");
    if ((hints & ~known_hints) != 0) return refuse(name, unknown_hints(hints));
    const std::lock_guard lock(guard);
    *active = active_region.handle != 0 && (active_region.hints & hints) == hints ? 1 : 0;
    return NVSHMEMX_SUCCESS;
}

void forget_region() noexcept {
    const std::lock_guard lock(guard);
    active_region = {};
}

}  // namespace atl::nvshmem
