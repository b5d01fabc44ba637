# libatoll_cuda.so: the device heap. It is loaded when a GPU is first used, finds the driver at run time and links
# nothing of CUDA or of ours, so that one file serves the shared library and the programs that hold the static core.
# Only the toolkit's headers are needed.
set(ATOLL_CUDA AUTO CACHE STRING "Build the GPU part: AUTO (where the CUDA toolkit is found), ON or OFF")
if(NOT TARGET atoll OR ATOLL_CUDA STREQUAL "OFF")
    return()
endif()
if(NOT CMAKE_CROSSCOMPILING)
    find_package(CUDAToolkit 12.0 QUIET)
endif()
if(NOT CUDAToolkit_FOUND)
    if(ATOLL_CUDA STREQUAL "AUTO")
        message(STATUS "Atoll: no GPU part (it needs the CUDA toolkit, 12.0 or newer, for this machine)")
        return()
    endif()
    message(FATAL_ERROR "ATOLL_CUDA is ON, but there is no CUDA toolkit of 12.0 or newer; set CUDAToolkit_ROOT.")
endif()

file(GLOB ATOLL_CUDA_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cuda/*.cpp")
add_library(atoll_cuda MODULE ${ATOLL_CUDA_SOURCES} "${PROJECT_SOURCE_DIR}/src/common/text.cpp")
target_compile_features(atoll_cuda PRIVATE cxx_std_20)
target_include_directories(atoll_cuda PRIVATE "${PROJECT_SOURCE_DIR}/include" "${ATOLL_GENERATED_INCLUDE}"
                                              "${PROJECT_SOURCE_DIR}/src")
target_include_directories(atoll_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(atoll_cuda PRIVATE ${CMAKE_DL_LIBS} atoll_flags)
if(NOT ATOLL_SANITIZE)   # their run-time library is the program's
    target_link_options(atoll_cuda PRIVATE -Wl,--no-undefined)
endif()
# Kernels are headers (include/atoll/device), so only our tests and benchmarks need nvcc. nvcc knows no sanitizers.
if((ATOLL_TESTS OR ATOLL_BENCH) AND NOT ATOLL_SANITIZE)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "What GPUs our own kernels are compiled for")
        enable_language(CUDA)
        set(CMAKE_CUDA_STANDARD 20)
        if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)   # CMake before 3.26 does not know that nvcc 12 has it
            set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
            set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
        endif()
        set(ATOLL_NVCC ON)
    else()
        message(STATUS "Atoll: no tests of kernels (they need nvcc)")
    endif()
endif()
# Everything of ours that wants the core is complete only with it.
add_dependencies(atoll atoll_cuda)
