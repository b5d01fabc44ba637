# find_package(atoll) gives the targets atoll::atoll (C++), atoll::shmem (OpenSHMEM in C and C++) and
# atoll::nvshmem (NVSHMEM's host functions).
include("${CMAKE_CURRENT_LIST_DIR}/atollTargets.cmake")
