// Errors thrown by fast paths, out of line.
#include "atoll/detail/context_base.hpp"
#include "atoll/rma.hpp"
#include "common/text.hpp"
#include "core/context/allocators.hpp"
#include "core/context/host_only.hpp"
#include "core/job/job_state.hpp"

namespace atl {

namespace core {

void throw_on_gpu(const char* operation, const void* local) {
    throw Error(
        ErrorCode::invalid_argument,
        std::string(operation) + " needs memory of the host, and " + common::address_text(local) +
            " is of a GPU. Copy it first, or use put and put_signal, which take both. On a stream and "
            "in kernels there are messages and mailboxes for a GPU's memory.");
}

}  // namespace core

namespace detail {

using common::address_text;
using common::bytes_text;

std::uintptr_t Window::at_elsewhere(std::uintptr_t address, Slot slot) const noexcept {
    if (slot.number() == my_slot) return address;
    const auto there = address + static_cast<std::uintptr_t>(distance(slot));
    if (address - statics.data < statics.data_bytes) return there + statics.shift;
    // Constants are equal on all PEs; the library's own memory follows the heap in the slot.
    return address - statics.image < statics.image_bytes ? address : there;
}

void throw_pe(int pe, int n_pes) {
    throw Error(ErrorCode::pe,
                "PE " + std::to_string(pe) + " does not exist: the team has " + std::to_string(n_pes) +
                    (n_pes == 1 ? " PE, number 0." : " PEs, 0 to " + std::to_string(n_pes - 1) + "."));
}

/// Throws for an address of the device heap that the operation does not accept, or in another PE's slot.
static void refuse_device_memory(const core::JobState& job, const void* address, std::size_t bytes) {
    const gpu::DeviceMemory* device = job.devices().memory();
    if (!device || !device->in_window(address)) return;
    const std::string text = bytes_text(bytes) + " at " + address_text(address) + " are ";
    if (!device->holds(address))
        throw Error(ErrorCode::not_symmetric,
                    text +
                        "another PE's GPU memory seen through the window. Pass the address in this PE's own "
                        "device heap and the number of the PE that is meant.");
    throw Error(
        ErrorCode::not_symmetric,
        text +
            "in the device heap, which the host cannot load and store. This operation needs the host heap. "
            "Put, get, p, g, the strided forms, atomics, signals, wait_until and test take such addresses.");
}

void throw_not_symmetric(const core::JobState& job, const void* address, std::size_t bytes) {
    refuse_device_memory(job, address, bytes);
    const Window& window = job.window();
    const auto distance = static_cast<const char*>(address) - window.mine;
    const auto stride = std::ptrdiff_t{1} << window.stride_log2;
    std::string text = bytes_text(bytes) + " at " + address_text(address) + " ";
    if (address == nullptr) {
        text = "A null pointer was passed as symmetric memory of " + bytes_text(bytes);
    } else if (distance >= 0 && static_cast<std::size_t>(distance) < window.heap_bytes) {
        text += "reach past the end of the symmetric heap (" + bytes_text(window.heap_bytes) + ")";
    } else if (const auto nth =
                   window.my_slot + (distance >= 0 ? distance / stride : -((stride - 1 - distance) / stride));
               nth >= 0 && nth < window.n_slots && nth != window.my_slot) {
        text += "are PE " + std::to_string(job.topology().pe_of_slot(static_cast<int>(nth))) +
                "'s memory seen through the window, not this PE's";
    } else {
        text += window.statics.image_bytes != 0
                    ? "are neither in the symmetric heap nor in the program's static data"
                    : "are not in the symmetric heap";
    }
    throw Error(ErrorCode::not_symmetric, text +
                                              "; pass an address in this PE's own symmetric memory and the "
                                              "number of the PE. Such memory is from " +
                                              std::string(core::allocators) + ".");
}

void throw_misaligned(const void* address, std::size_t needed) {
    throw Error(ErrorCode::invalid_argument, "An atomic or a signal at " + address_text(address) +
                                                 " needs an address that is a "
                                                 "multiple of " +
                                                 std::to_string(needed) + ".");
}

void throw_null(std::size_t bytes) {
    throw Error(ErrorCode::invalid_argument,
                "A null pointer was passed as local memory of " + bytes_text(bytes) +
                    "; pass memory of this PE, or a size of 0, which needs none.");
}

void throw_compare(int compare) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(compare) +
                    " is not a comparison; pass Compare::eq, ne, gt, ge, lt or le (0 to 5 in this order).");
}

void throw_stride(std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride) {
    throw Error(ErrorCode::invalid_argument,
                "Strides count elements and must be at least 1; the target's is " +
                    std::to_string(dst_stride) + ", the source's " + std::to_string(src_stride) + ".");
}

void RmaOps::throw_size(std::size_t dst, std::size_t src) {
    throw Error(ErrorCode::shape_mismatch, "The target has room for " + std::to_string(dst) +
                                               " elements, the source has " + std::to_string(src) +
                                               "; make them fit or pass a subspan.");
}

}  // namespace detail

}  // namespace atl
