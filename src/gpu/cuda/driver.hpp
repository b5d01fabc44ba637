// NVIDIA's driver, loaded at run time. A build with the toolkit's headers also runs without a driver, and
// reports that it is missing.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace atl::cuda {

/// Formats 13000 as "13.0".
std::string version_text(int version);

/// The functions of the driver that are used here. A type's suffix is the version of CUDA that defines the
/// interface. The driver is asked for that version, which newer ones still offer.
struct Driver {
    PFN_cuInit_v2000 init;
    PFN_cuDriverGetVersion_v2020 driver_version;
    PFN_cuGetErrorName_v6000 error_name;
    PFN_cuGetErrorString_v6000 error_string;
    PFN_cuDeviceGetCount_v2000 device_count;
    PFN_cuDeviceGet_v2000 device;
    PFN_cuDeviceGetName_v2000 device_name;
    PFN_cuDeviceTotalMem_v3020 total_memory;
    PFN_cuDeviceGetUuid_v11040 device_uuid;
    PFN_cuDeviceGetAttribute_v2000 device_attribute;
    PFN_cuDeviceCanAccessPeer_v4000 can_access_peer;
    PFN_cuDeviceGetP2PAttribute_v8000 peer_attribute;
    PFN_cuDevicePrimaryCtxRetain_v7000 retain_context;
    PFN_cuDevicePrimaryCtxRelease_v11000 release_context;
    PFN_cuDevicePrimaryCtxGetState_v7000 context_state;
    PFN_cuCtxPushCurrent_v4000 push_context;
    PFN_cuCtxPopCurrent_v4000 pop_context;
    PFN_cuMemGetInfo_v3020 memory_info;
    PFN_cuMemGetAllocationGranularity_v10020 granularity;
    PFN_cuMemAddressReserve_v10020 reserve;
    PFN_cuMemAddressFree_v10020 free_addresses;
    PFN_cuMemCreate_v10020 create;
    PFN_cuMemRelease_v10020 release;
    PFN_cuMemExportToShareableHandle_v10020 export_handle;
    PFN_cuMemImportFromShareableHandle_v10020 import_handle;
    PFN_cuMemMap_v10020 map;
    PFN_cuMemUnmap_v10020 unmap;
    PFN_cuMemSetAccess_v10020 set_access;
    PFN_cuMemHostRegister_v6050 register_host;
    PFN_cuMemHostUnregister_v4000 unregister_host;
    PFN_cuMemHostGetDevicePointer_v3020 host_as_device;
    PFN_cuStreamCreate_v2000 create_stream;
    PFN_cuStreamDestroy_v4000 destroy_stream;
    PFN_cuStreamSynchronize_v2000 synchronize;
    PFN_cuMemcpyAsync_v4000 copy;
    PFN_cuMemsetD8Async_v3020 fill;
    PFN_cuStreamGetCtx_v9020 stream_context;
    PFN_cuCtxGetCurrent_v4000 current_context;
    PFN_cuPointerGetAttribute_v4000 pointer_attribute;
    PFN_cuPointerGetAttributes_v7000 pointer_attributes;
    PFN_cuStreamIsCapturing_v10000 is_capturing;
    PFN_cuMemRetainAllocationHandle_v11000 retain;
    PFN_cuMemGetAllocationPropertiesFromHandle_v10020 properties;
    PFN_cuMemHostAlloc_v2020 allocate_pinned;
    PFN_cuMemFreeHost_v2000 free_pinned;
    PFN_cuModuleLoadData_v2000 load_module;
    PFN_cuModuleUnload_v2000 unload_module;
    PFN_cuModuleGetFunction_v2000 get_function;
    PFN_cuFuncGetAttribute_v2020 function_attribute;
    PFN_cuFuncLoad_v12040 load_function;  ///< null in drivers before CUDA 12.4
    PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050 resident_blocks;
    PFN_cuLaunchKernel_v4000 launch;
    PFN_cuFlushGPUDirectRDMAWrites_v11030 show_network_writes;

    /// Loads the driver and calls cuInit. Throws Error(unsupported): no driver, too old, no GPU.
    static const Driver& get();

    /// The text of a result, such as "CUDA_ERROR_INVALID_VALUE, invalid argument".
    std::string text(CUresult result) const;
    /// Throws Error(system; kernel if the context is lost) unless `result` is a success. `doing` names the
    /// operation; in the text it follows "The GPU's driver refused to".
    void check(CUresult result, const std::string& doing) const {
        if (result != CUDA_SUCCESS) [[unlikely]]
            fail(result, doing);
    }
    /// True if the GPU stopped a kernel: all further calls of this context fail.
    static bool is_lost(CUresult result);
    [[noreturn]] void fail(CUresult result, const std::string& doing) const;
};

}  // namespace atl::cuda
