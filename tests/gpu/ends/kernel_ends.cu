// The end of a job while kernels wait. The first argument selects the case; the launcher's status and output
// are the test.
//
// `waits`: for a signal that is never sent, until ATOLL_WAIT_TIMEOUT. `crowd`: the same by thousands of
// threads, of which one reports. `wrong`: no wait, but an invalid PE. `place`: no wait, but an asymmetric
// address. `dies`: PE 1 is killed while PE 0's kernel spins. `leaves`: it ends with status 3. `goes`: it ends
// with status 0. `goes-from-stream`: it does so while the other's stream waits. `messages`: a message has a
// different size. `crammed`: a collect without room for all. Others: one of the waits in waits.cuh, listed by
// `names`.
#define ATOLL_DEVICE_CHECK_ADDRESSES 1
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

#include "waits.cuh"

namespace {

__global__ void wait_kernel(atl::device::Team team, unsigned long long* signal) {
    atl::device::signal_wait_until(team, signal, atl::device::Compare::ge, 5, atl::device::Block{}, 42);
}

__global__ void crowd_kernel(atl::device::Team team, unsigned long long* signal) {
    atl::device::signal_wait_until(team, signal, atl::device::Compare::ge, 5, atl::device::Thread{}, 42);
}

__global__ void wrong_kernel(atl::device::Team team, unsigned long long* x) {
    atl::device::put(team, x, x, 1, team.n_pes, atl::device::Block{});
}

__global__ void place_kernel(atl::device::Team team, unsigned long long* x) {
    atl::device::atomic_add(team, x, 1, (team.my_pe + 1) % team.n_pes);
}

/// Prints the time of its death by the clock of `date +%s%N`.
void die() {
    timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    std::printf("killed at %lld\n", t.tv_sec * 1000000000ll + t.tv_nsec);
    std::fflush(stdout);
    ::raise(SIGKILL);
}

void wrong_sizes(atl::Job& job, unsigned long long* x) {
    const atl::StreamTeam team(job.world(), {cudaStreamPerThread});
    if (job.my_pe() == 0)
        team.recv_bytes(x, 4, 1);
    else
        team.send_bytes(x, 8, 0);
}

}  // namespace

int main(int, char** arguments) {
    if (std::strcmp(arguments[1], "names") == 0) {
        ends::print_names();
        return 0;
    }
    atl::Job& job = atl::init();
    auto* signal =
        static_cast<unsigned long long*>(job.calloc(2, sizeof(unsigned long long), atl::Memory::device));
    cudaSetDevice(job.device_heap_use().number);
    const atl::device::Team team = job.world().device(atl::Memory::device);
    job.world().barrier();
    const auto mode = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
    if (job.my_pe() == 1 && (mode("dies") || mode("leaves") || mode("goes") || mode("goes-from-stream"))) {
        ::usleep(300000);  // most likely the other PE's kernel spins by now
        if (mode("dies")) die();
        ::_exit(mode("leaves") ? 3 : 0);
    }
    if (ends::wait_in_vain(job, arguments[1]))
        ;
    else if (mode("goes-from-stream"))
        atl::StreamTeam(job.world(), {cudaStreamPerThread}).sync();
    else if (mode("messages"))
        wrong_sizes(job, signal);
    else if (mode("crammed"))  // the target has room for only one PE's word
        atl::StreamTeam(job.world(), {cudaStreamPerThread}).collect_bytes(signal, 8, signal + 1, 8);
    else if (job.my_pe() == 0) {
        if (mode("crowd"))
            crowd_kernel<<<64, 256>>>(team, signal);
        else if (mode("wrong"))
            wrong_kernel<<<8, 64>>>(team, signal);
        else if (mode("place")) {
            unsigned long long* ordinary = nullptr;
            cudaMalloc(&ordinary, sizeof *ordinary);
            place_kernel<<<8, 64>>>(team, ordinary);
        } else
            wait_kernel<<<1, 64>>>(team, signal);
    }
    const cudaError_t result = cudaDeviceSynchronize();
    std::printf("PE %d: %s\n", job.my_pe(), cudaGetErrorString(result));
    std::fflush(stdout);
    if (result != cudaSuccess) return 5;
    try {
        job.world().barrier();  // the other PEs are here when the job ends
    } catch (const atl::Error&) {
        ::sleep(30);  // this wait is as long as the kernel's, which ends the job with a report
    }
    return 0;
}
