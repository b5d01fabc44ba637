// NVSHMEM's functions for kernels as bitcode: libnvshmem_device.bc, which compilers such as Triton's link to
// kernels. clang compiles this file without CUDA's headers; cmake/nvshmem_bitcode.py calls it.
#include "nvshmem/bitcode/builtins.hpp"

#include <nvshmem.h>
