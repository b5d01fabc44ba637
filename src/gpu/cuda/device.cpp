#include "gpu/cuda/device.hpp"

#include "atoll/error.hpp"

#include <cstdio>
#include <cstring>

namespace atl::cuda {

namespace {

bool has(const Driver& driver, CUdevice device, CUdevice_attribute attribute) {
    int value = 0;
    driver.check(driver.device_attribute(&value, attribute, device), "say what this GPU can");
    return value != 0;
}

std::string name_of(const Driver& driver, CUdevice device) {
    char name[128] = {};
    driver.check(driver.device_name(name, sizeof name - 1, device), "name this GPU");
    return name;
}

gpu::DeviceUuid uuid_of(const Driver& driver, CUdevice device) {
    CUuuid uuid{};
    driver.check(driver.device_uuid(&uuid, device), "tell this GPU's UUID");
    gpu::DeviceUuid result{};
    std::memcpy(result.data(), uuid.bytes, result.size());
    return result;
}

int count_devices(const Driver& driver) {
    int count = 0;
    driver.check(driver.device_count(&count), "count the GPUs");
    return count;
}

/// True if writes of networks can be ordered for kernels. They arrive over PCIe, which does not order them
/// for running kernels or for kernels of other GPUs.
bool admits_networks(const Driver& driver, CUdevice device) {
    const auto value = [&](CUdevice_attribute attribute) {
        int found = 0;
        return driver.device_attribute(&found, attribute, device) == CUDA_SUCCESS ? found : 0;
    };
    return value(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0 &&
           (value(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS) &
            CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST) != 0;
}

/// True if contexts of several processes do not run concurrently. Drivers before CUDA 12.3 do not know the
/// attribute.
bool takes_turns(const Driver& driver, CUdevice device) {
    constexpr auto mps_enabled = static_cast<CUdevice_attribute>(133);  // CU_DEVICE_ATTRIBUTE_MPS_ENABLED
    int found = 0;
    return driver.device_attribute(&found, mps_enabled, device) == CUDA_SUCCESS && found == 0;
}

}  // namespace

CUdevice choose_device(const Driver& driver, const gpu::DeviceChoice& choice) {
    const int count = count_devices(driver);
    if (count == 0)
        throw Error(ErrorCode::unsupported,
                    "This process sees no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES.");
    if (choice.exact && choice.number >= count)
        throw Error(ErrorCode::invalid_argument,
                    "ATOLL_DEVICE=" + std::to_string(choice.number) + ", but this process sees " +
                        std::to_string(count) +
                        (count == 1 ? " GPU, number 0" : " GPUs, 0 to " + std::to_string(count - 1)) +
                        " (CUDA_VISIBLE_DEVICES chooses which).");
    CUdevice device = 0;
    driver.check(driver.device(&device, choice.number % count), "open GPU " + std::to_string(choice.number));
    const bool shares = has(driver, device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
                        has(driver, device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
    if (!shares)
        throw Error(
            ErrorCode::unsupported,
            "GPU " + std::to_string(device) + " (" + name_of(driver, device) +
                ") cannot map memory by address and share it by descriptors, as a device heap needs.");
    return device;
}

gpu::DeviceFacts describe_device(const Driver& driver, CUdevice device) {
    gpu::DeviceFacts facts;
    facts.number = device;
    facts.name = name_of(driver, device);
    facts.uuid = uuid_of(driver, device);
    driver.check(driver.total_memory(&facts.memory_bytes, device), "tell the size of its memory");
    const CUmemAllocationProp properties = shared_memory_on(device);
    driver.check(driver.granularity(&facts.granularity_bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                 "tell the granularity of its memory");
    facts.admits_networks = admits_networks(driver, device);
    facts.takes_turns = takes_turns(driver, device);
    return facts;
}

CUdevice find_device(const Driver& driver, const gpu::DeviceUuid& uuid) {
    for (int i = 0; i < count_devices(driver); ++i) {
        CUdevice device = 0;
        driver.check(driver.device(&device, i), "open GPU " + std::to_string(i));
        if (uuid_of(driver, device) == uuid) return device;
    }
    return -1;
}

std::string uuid_text(const gpu::DeviceUuid& uuid) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.size(); ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", uuid[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits;
    }
    return text;
}

CUmemAllocationProp shared_memory_on(CUdevice device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
}

}  // namespace atl::cuda
