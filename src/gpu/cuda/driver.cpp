#include "gpu/cuda/driver.hpp"

#include "atoll/error.hpp"

#include <dlfcn.h>

namespace atl::cuda {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

namespace {

[[noreturn]] void unsupported(const std::string& sentence) { throw Error(ErrorCode::unsupported, sentence); }

class Finder {
  public:
    Finder() {
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            unsupported(std::string("Memory on a GPU needs NVIDIA's driver, which cannot be loaded here: ") +
                        ::dlerror() + ".");
        by_name_ = reinterpret_cast<PFN_cuGetProcAddress_v12000>(::dlsym(library, "cuGetProcAddress_v2"));
        if (!by_name_)
            unsupported(
                "The driver of the GPU is older than CUDA 12.0, which Atoll needs; install driver 525 or "
                "newer.");
    }
    template <class F> void operator()(F& function, const char* name, int version) const {
        void* found = nullptr;
        CUdriverProcAddressQueryResult why{};
        if (by_name_(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &why) != CUDA_SUCCESS || !found)
            unsupported(std::string("The driver of the GPU has no ") + name + " of CUDA " +
                        version_text(version) + ", which Atoll needs; install a newer driver.");
        function = reinterpret_cast<F>(found);
    }
    template <class F> void optional(F& function, const char* name, int version) const {
        void* found = nullptr;
        CUdriverProcAddressQueryResult why{};
        if (by_name_(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &why) == CUDA_SUCCESS)
            function = reinterpret_cast<F>(found);
    }

  private:
    PFN_cuGetProcAddress_v12000 by_name_ = nullptr;
};

void find_functions(Driver& d) {
    const Finder find;
    find(d.init, "cuInit", 2000);
    find(d.driver_version, "cuDriverGetVersion", 2020);
    find(d.error_name, "cuGetErrorName", 6000);
    find(d.error_string, "cuGetErrorString", 6000);
    find(d.device_count, "cuDeviceGetCount", 2000);
    find(d.device, "cuDeviceGet", 2000);
    find(d.device_name, "cuDeviceGetName", 2000);
    find(d.total_memory, "cuDeviceTotalMem", 3020);
    find(d.device_uuid, "cuDeviceGetUuid", 11040);
    find(d.device_attribute, "cuDeviceGetAttribute", 2000);
    find(d.can_access_peer, "cuDeviceCanAccessPeer", 4000);
    find(d.peer_attribute, "cuDeviceGetP2PAttribute", 8000);
    find(d.retain_context, "cuDevicePrimaryCtxRetain", 7000);
    find(d.release_context, "cuDevicePrimaryCtxRelease", 11000);
    find(d.context_state, "cuDevicePrimaryCtxGetState", 7000);
    find(d.push_context, "cuCtxPushCurrent", 4000);
    find(d.pop_context, "cuCtxPopCurrent", 4000);
    find(d.memory_info, "cuMemGetInfo", 3020);
    find(d.granularity, "cuMemGetAllocationGranularity", 10020);
    find(d.reserve, "cuMemAddressReserve", 10020);
    find(d.free_addresses, "cuMemAddressFree", 10020);
    find(d.create, "cuMemCreate", 10020);
    find(d.release, "cuMemRelease", 10020);
    find(d.export_handle, "cuMemExportToShareableHandle", 10020);
    find(d.import_handle, "cuMemImportFromShareableHandle", 10020);
    find(d.map, "cuMemMap", 10020);
    find(d.unmap, "cuMemUnmap", 10020);
    find(d.set_access, "cuMemSetAccess", 10020);
    find(d.register_host, "cuMemHostRegister", 6050);
    find(d.unregister_host, "cuMemHostUnregister", 4000);
    find(d.host_as_device, "cuMemHostGetDevicePointer", 3020);
    find(d.create_stream, "cuStreamCreate", 2000);
    find(d.destroy_stream, "cuStreamDestroy", 4000);
    find(d.synchronize, "cuStreamSynchronize", 2000);
    find(d.copy, "cuMemcpyAsync", 4000);
    find(d.fill, "cuMemsetD8Async", 3020);
    find(d.stream_context, "cuStreamGetCtx", 9020);
    find(d.current_context, "cuCtxGetCurrent", 4000);
    find(d.pointer_attribute, "cuPointerGetAttribute", 4000);
    find(d.pointer_attributes, "cuPointerGetAttributes", 7000);
    find(d.is_capturing, "cuStreamIsCapturing", 10000);
    find(d.retain, "cuMemRetainAllocationHandle", 11000);
    find(d.properties, "cuMemGetAllocationPropertiesFromHandle", 10020);
    find(d.allocate_pinned, "cuMemHostAlloc", 2020);
    find(d.free_pinned, "cuMemFreeHost", 2000);
    find(d.load_module, "cuModuleLoadData", 2000);
    find(d.unload_module, "cuModuleUnload", 2000);
    find(d.get_function, "cuModuleGetFunction", 2000);
    find(d.function_attribute, "cuFuncGetAttribute", 2020);
    find.optional(d.load_function, "cuFuncLoad", 12040);
    find(d.resident_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050);
    find(d.launch, "cuLaunchKernel", 4000);
    find(d.show_network_writes, "cuFlushGPUDirectRDMAWrites", 11030);
}

Driver load() {
    Driver driver{};
    find_functions(driver);
    if (const CUresult result = driver.init(0); result != CUDA_SUCCESS)
        unsupported("NVIDIA's driver is installed, but finds no GPU that this process may use: " +
                    driver.text(result) + "; see nvidia-smi and CUDA_VISIBLE_DEVICES.");
    return driver;
}

}  // namespace

const Driver& Driver::get() {
    static const Driver driver = load();  // retried by the next call if it throws
    return driver;
}

std::string Driver::text(CUresult result) const {
    const char* name = nullptr;
    const char* meaning = nullptr;
    if (error_name(result, &name) != CUDA_SUCCESS || error_string(result, &meaning) != CUDA_SUCCESS)
        return "error " + std::to_string(static_cast<int>(result));
    return std::string(name) + ", " + meaning;
}

bool Driver::is_lost(CUresult result) {
    switch (result) {
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
            return true;
        default:
            return false;
    }
}

void Driver::fail(CUresult result, const std::string& doing) const {
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        throw Error(ErrorCode::invalid_argument,
                    "A CUDA graph is being captured, in which the GPU's driver does not " + doing + ": " +
                        text(result) +
                        ". Make such a call before the capture begins, or capture with "
                        "cudaStreamCaptureModeRelaxed or ThreadLocal.");
    if (is_lost(result))
        throw Error(ErrorCode::kernel, "The GPU stopped a kernel of this process: " + text(result) +
                                           ". This process's GPU context is lost, so the driver did not " +
                                           doing + ".");
    throw Error(ErrorCode::system, "The GPU's driver refused to " + doing + ": " + text(result) + ".");
}

}  // namespace atl::cuda
