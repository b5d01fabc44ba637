# libnvshmem_device.bc: NVSHMEM's functions for kernels as LLVM bitcode, which Triton and others link to kernels. It is for
# every GPU. It needs clang with code for GPUs of NVIDIA, and Python, but no CUDA.
set(ATOLL_NVSHMEM_BITCODE AUTO CACHE STRING "Build the bitcode of NVSHMEM's functions for kernels: AUTO (in a release build, where clang is found), ON or OFF")
if(NOT TARGET atoll_nvshmem OR ATOLL_NVSHMEM_BITCODE STREQUAL "OFF"
   OR (ATOLL_NVSHMEM_BITCODE STREQUAL "AUTO" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release"))
    return()
endif()
# The oldest comes first: newer compilers read the bitcode of older ones.
find_program(ATOLL_CLANG NAMES clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22 clang
             NO_CMAKE_FIND_ROOT_PATH)
find_program(ATOLL_PYTHON3 NAMES python3 NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(ATOLL_CLANG ATOLL_PYTHON3)
set(_targets)
if(ATOLL_CLANG AND ATOLL_PYTHON3)
    execute_process(COMMAND "${ATOLL_CLANG}" --print-targets OUTPUT_VARIABLE _targets ERROR_QUIET)
    execute_process(COMMAND "${ATOLL_CLANG}" -dumpversion OUTPUT_VARIABLE _version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT _targets MATCHES "nvptx64" OR _version VERSION_LESS 14)
    set(_reason "it needs clang 14 or newer with code for nvptx64, and Python 3")
    if(ATOLL_NVSHMEM_BITCODE STREQUAL "ON")
        message(FATAL_ERROR "ATOLL_NVSHMEM_BITCODE is ON, but ${_reason}; install clang, or set ATOLL_CLANG.")
    endif()
    message(STATUS "Atoll: no bitcode of NVSHMEM's functions for kernels (${_reason})")
    return()
endif()

set(_options -DATOLL_NVSHMEM_BITCODE=1 "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/src/nvshmem/bitcode/cuda"
             "-I${PROJECT_SOURCE_DIR}/include")
foreach(_folder IN LISTS ATOLL_NVSHMEM_INCLUDE)
    list(APPEND _options "-I${_folder}")
endforeach()
# The host's char is that of kernels.
if(CMAKE_SYSTEM_PROCESSOR)
    list(APPEND _options "--target=${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
endif()
set(ATOLL_BITCODE "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libnvshmem_device.bc")
file(GLOB_RECURSE _read CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/nvshmem/bitcode/*"
     "${PROJECT_SOURCE_DIR}/include/atoll/device/*.hpp" "${PROJECT_SOURCE_DIR}/include_nvshmem/*.h"
     "${PROJECT_SOURCE_DIR}/api/generated/nvshmem/include/atoll_nvshmem/*.h")
add_custom_command(
    OUTPUT "${ATOLL_BITCODE}"
    COMMAND "${ATOLL_PYTHON3}" "${PROJECT_SOURCE_DIR}/cmake/nvshmem_bitcode.py" "${ATOLL_CLANG}" "${ATOLL_BITCODE}"
            "${PROJECT_SOURCE_DIR}/src/nvshmem/bitcode/device.cu" ${_options}
    DEPENDS ${_read} "${PROJECT_SOURCE_DIR}/include/atoll/anywhere.hpp" "${PROJECT_SOURCE_DIR}/cmake/nvshmem_bitcode.py"
    COMMENT "Compiling NVSHMEM's functions for kernels to bitcode" VERBATIM)
add_custom_target(atoll_nvshmem_bitcode ALL DEPENDS "${ATOLL_BITCODE}")
