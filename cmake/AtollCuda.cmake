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
target_link_options(atoll_cuda PRIVATE $<$<NOT:$<BOOL:${ATOLL_SANITIZE}>>:-Wl,--no-undefined>)
# Everything of ours that wants the core is complete only with it.
add_dependencies(atoll atoll_cuda)
