#include "gpu/cuda/primary_context.hpp"

#include "atoll/error.hpp"
#include "gpu/cuda/device.hpp"

#include <string>

namespace atl::cuda {

PrimaryContext::PrimaryContext(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {
    driver.check(driver.retain_context(&context_, device), "make a context on GPU " + std::to_string(device));
    CUcontext current = nullptr;
    if (driver.current_context(&current) == CUDA_SUCCESS && current == nullptr)
        is_kept_ = driver.push_context(context_) == CUDA_SUCCESS;
}

PrimaryContext::~PrimaryContext() {
    driver_.release_context(device_);
    if (!is_kept_) return;
    unsigned flags = 0;
    int is_active = 1;
    CUcontext current = nullptr;
    // Others in this process, such as CuPy, may go on with it. The last release destroyed it.
    if (driver_.context_state(device_, &flags, &is_active) != CUDA_SUCCESS || is_active) return;
    if (driver_.current_context(&current) == CUDA_SUCCESS && current == context_)
        driver_.pop_context(&current);
}

PrimaryContext::Current::Current(const PrimaryContext& context) : driver_(context.driver_) {
    CUcontext current = nullptr;
    if (driver_.current_context(&current) == CUDA_SUCCESS && current == context.context_) return;
    pushed_ = true;
    driver_.check(driver_.push_context(context.context_), "use its context");
}

PrimaryContext::Current::~Current() {
    if (!pushed_) return;
    CUcontext popped = nullptr;
    driver_.pop_context(&popped);
}

PrimaryContext::Ending::Ending(const PrimaryContext& context) noexcept
    : driver_(context.driver_), pushed_(driver_.push_context(context.context_) == CUDA_SUCCESS) {}

PrimaryContext::Ending::~Ending() {
    if (!pushed_) return;
    CUcontext popped = nullptr;
    driver_.pop_context(&popped);
}

CudaDevice::CudaDevice(const gpu::DeviceChoice& choice)
    : driver(Driver::get()),
      number(choose_device(driver, choice)),
      facts(describe_device(driver, number)),
      context(driver, number) {}

void CudaDevice::check_peer(const gpu::DeviceUuid& peer) const {
    if (peer == facts.uuid) return;
    const CUdevice other = find_device(driver, peer);
    if (other < 0) return;  // not visible to this process; mapping its memory will report it
    const auto named = [](CUdevice device, const std::string& which) {
        return "GPU " + std::to_string(device) + " (" + which + ")";
    };
    const std::string mine = named(number, facts.name + ", " + uuid_text(facts.uuid));
    const std::string theirs = named(other, uuid_text(peer));
    int can = 0;
    driver.check(driver.can_access_peer(&can, number, other), "say whether two GPUs reach each other");
    if (!can)
        throw Error(ErrorCode::unsupported,
                    mine + " cannot access the memory of " + theirs +
                        ": there is neither NVLink nor PCIe peer access between them; see `nvidia-smi topo "
                        "-p2p r`.");
    int atomics = 0;
    driver.check(
        driver.peer_attribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, number, other),
        "say whether atomics cross between two GPUs");
    if (!atomics)
        throw Error(ErrorCode::unsupported,
                    "The link between " + mine + " and " + theirs +
                        " has no native atomics, which signals and atomics need (PCIe has none); use GPUs "
                        "that NVLink connects, see `nvidia-smi topo -p2p a`.");
}

}  // namespace atl::cuda
