#include "gpu/cuda/primary_context.hpp"

#include "gpu/cuda/device.hpp"

#include <string>

namespace atl::cuda {

PrimaryContext::PrimaryContext(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {
    driver.check(driver.retain_context(&context_, device), "make a context on GPU " + std::to_string(device));
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

}  // namespace atl::cuda
