// Shared by the examples of this folder: CUDA's errors as exceptions, arrays on every PE's GPU, a main().
#pragma once

#include <atoll/atoll.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

inline void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

/// `n` zeroed elements at the same offset on every PE's GPU. Collective. Finalize frees them.
template <class T> T* zeros(atoll::Job& job, std::size_t n) {
    return static_cast<T*>(job.calloc(n, sizeof(T), atoll::Memory::device));
}
template <class T> void upload(T* to, const std::vector<T>& from) {
    check(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyDefault));
    check(cudaDeviceSynchronize());
}
template <class T> std::vector<T> download(const T* from, std::size_t n) {
    std::vector<T> result(n);
    check(cudaMemcpy(result.data(), from, n * sizeof(T), cudaMemcpyDefault));
    return result;
}

/// Runs `program` on this PE with its GPU current; the program's result becomes the exit status.
template <class Program> int run(Program program) {
    try {
        atoll::Job& job = atoll::init();
        zeros<char>(job, 1);  // opens the GPUs
        check(cudaSetDevice(job.device_heap_use().number));
        const bool right = program(job);
        std::printf("PE %d of %d: %s\n", job.my_pe(), job.n_pes(), right ? "right" : "WRONG");
        atoll::finalize();
        return right ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
