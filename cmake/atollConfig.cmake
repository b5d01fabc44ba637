# find_package(atoll) gives the targets atoll::atoll (C++) and atoll::shmem (OpenSHMEM in C and C++).
include("${CMAKE_CURRENT_LIST_DIR}/atollTargets.cmake")
