// Common parts of the NVSHMEM programs: one process a GPU, joined by a unique id.
#pragma once

#include "../timer.cuh"

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace peers {

using Word = std::uint64_t;

using bench::check;
using bench::Timer;

/// main() of such a program: runs `body(me, n)` in `n` processes, process i with GPU i (modulo the number of
/// GPUs), between init and finalize. Returns 0 if all bodies returned true.
template <class Body> int run(int n, Body body) {
    struct Shared {
        nvshmemx_uniqueid_t id;
        volatile int ready;
    };
    auto* shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::vector<pid_t> children;
    int me = 0;
    for (int i = 1; i < n && me == 0; ++i) {
        const pid_t child = fork();
        if (child == 0)
            me = i;
        else
            children.push_back(child);
    }
    int gpus = 0;
    check(cudaGetDeviceCount(&gpus));
    check(cudaSetDevice(me % gpus));
    if (me == 0) {
        shared->id = NVSHMEMX_UNIQUEID_INITIALIZER;
        nvshmemx_get_uniqueid(&shared->id);
        shared->ready = 1;
    }
    while (!shared->ready) usleep(1000);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_set_attr_uniqueid_args(me, n, &shared->id, &attributes);
    nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
    bool right = body(me, n);
    nvshmem_finalize();
    if (me != 0) return right ? 0 : 1;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        right = right && status == 0;
    }
    return right ? 0 : 1;
}

}  // namespace peers
