#include "gpu/mailboxes.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

__global__ void __launch_bounds__(1024, 1)
    post_kernel(const device::Team team, const device::Mailbox box, const std::uint64_t* src,
                unsigned long long n, int pe) {
    device::post(team, box, src, n, pe, device::Block{});
}
__global__ void __launch_bounds__(1024, 1) receive_kernel(const device::Team team, const device::Mailbox box,
                                                          std::uint64_t* dst, unsigned long long n, int pe) {
    device::receive(team, box, dst, n, pe, device::Block{});
}

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void post_in_kernel(const device::Team& team, const device::Mailbox& box, const std::uint64_t* src,
                    std::uint64_t n, int pe, unsigned threads, cudaStream_t stream) {
    post_kernel<<<1, threads, 0, stream>>>(team, box, src, n, pe);
    check(cudaGetLastError());
}

void receive_in_kernel(const device::Team& team, const device::Mailbox& box, std::uint64_t* dst,
                       std::uint64_t n, int pe, unsigned threads, cudaStream_t stream) {
    receive_kernel<<<1, threads, 0, stream>>>(team, box, dst, n, pe);
    check(cudaGetLastError());
}

}  // namespace atl::testing
