// The kernels of tests/gpu/mailboxes.cu, in stream order.
#pragma once

#include "atoll/device/mailbox.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace atl::testing {

/// One message by one block of `threads`.
void post_in_kernel(const device::Team& team, const device::Mailbox& box, const std::uint64_t* src,
                    std::uint64_t n, int pe, unsigned threads, cudaStream_t stream);
void receive_in_kernel(const device::Team& team, const device::Mailbox& box, std::uint64_t* dst,
                       std::uint64_t n, int pe, unsigned threads, cudaStream_t stream);

}  // namespace atl::testing
