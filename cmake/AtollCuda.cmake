# libatoll_cuda.so: the device heap and stream-ordered operations. It is loaded when a GPU is first used. It finds the
# driver at run time and links neither CUDA nor our libraries. One file therefore serves the shared library and the
# programs that contain the static core. It needs the toolkit's headers, and nvcc for its kernels.
set(ATOLL_CUDA AUTO CACHE STRING "Build the GPU part: AUTO (where the CUDA toolkit is found), ON or OFF")
if(NOT TARGET atoll OR ATOLL_CUDA STREQUAL "OFF")
    return()
endif()
# Kernels are the same for all hosts, so any host's toolkit will do for them.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_SYSROOT)
    find_package(CUDAToolkit 12.0 QUIET)
endif()
if(NOT CUDAToolkit_FOUND)
    if(ATOLL_CUDA STREQUAL "AUTO")
        message(STATUS "Atoll: no GPU part (it needs the CUDA toolkit, 12.0 or newer, for this machine)")
        return()
    endif()
    message(FATAL_ERROR "ATOLL_CUDA is ON, but there is no CUDA toolkit of 12.0 or newer; set CUDAToolkit_ROOT.")
endif()

set(ATOLL_CUDA_ARCHITECTURES "" CACHE STRING "GPUs that Atoll's kernels are compiled for, as 90;100; empty: 80, 90, 100 and PTX, or 90 alone where tests are built")

# The code of a kernel file for one GPU, by two commands: compute_NN to PTX, and that to sm_NN. Targets share these files,
# because each takes up to half a minute. Custom commands rather than CMake's language CUDA, because kernels have no host
# code and sanitizers do not apply.
function(_atoll_compile_kernels source sm)
    get_filename_component(_stem "${source}" NAME_WE)
    set(_image "${PROJECT_BINARY_DIR}/generated/kernels/${_stem}.${sm}")
    get_property(_is_known DIRECTORY PROPERTY "_atoll_image_${_stem}_${sm}")
    if(_is_known)
        return()
    endif()
    set_property(DIRECTORY PROPERTY "_atoll_image_${_stem}_${sm}" ON)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/kernels")
    file(GLOB _headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/gpu/cuda/kernels/*.cuh"
         "${PROJECT_SOURCE_DIR}/src/gpu/cuda/kernels/*.hpp" "${PROJECT_SOURCE_DIR}/include/atoll/detail/many_words.hpp"
         "${PROJECT_SOURCE_DIR}/include/atoll/device/*.hpp"
         "${PROJECT_SOURCE_DIR}/include/atoll/device/detail/*.hpp")
    add_custom_command(
        OUTPUT "${_image}.ptx"
        COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++20 -O3 -Werror=all-warnings -ptx -arch=compute_${sm} "-I${PROJECT_SOURCE_DIR}/include"
                "-I${PROJECT_SOURCE_DIR}/src" "${source}" -o "${_image}.ptx"
        DEPENDS "${source}" ${_headers} "${PROJECT_SOURCE_DIR}/src/gpu/device_calls.hpp" "${PROJECT_SOURCE_DIR}/src/gpu/mailbox_on_device.hpp" "${PROJECT_SOURCE_DIR}/include/atoll/types.hpp"
        COMMENT "Compiling kernels ${_stem}.cu for compute_${sm}" VERBATIM)
    add_custom_command(
        OUTPUT "${_image}.cubin"
        COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -Werror=all-warnings -cubin -arch=sm_${sm} "${_image}.ptx" -o "${_image}.cubin"
        DEPENDS "${_image}.ptx" COMMENT "Assembling kernels ${_stem}.cu for sm_${sm}" VERBATIM)
endfunction()

# The library's own kernels: fat binaries, embedded unchanged and loaded by the driver. `names`: sm_80 ... and PTX.
function(_atoll_embed_kernels target names)
    set(_folder "${PROJECT_BINARY_DIR}/generated/${target}")
    set(_text "#include \"gpu/cuda/kernels.hpp\"\n")
    set(_rows)
    set(_count 0)
    set(_fatbins)
    set(_built "without kernels")
    if(CUDAToolkit_NVCC_EXECUTABLE)
        string(REPLACE ";" " " _built "kernels for ${names}")
        file(MAKE_DIRECTORY "${_folder}")
        get_filename_component(_bin "${CUDAToolkit_NVCC_EXECUTABLE}" REALPATH)
        get_filename_component(_bin "${_bin}" DIRECTORY)
        find_program(ATOLL_FATBINARY fatbinary HINTS "${_bin}" "${CUDAToolkit_BIN_DIR}" REQUIRED)   # comes with nvcc
        mark_as_advanced(ATOLL_FATBINARY)
        file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/gpu/cuda/kernels/*.cu")
        foreach(_source IN LISTS _sources)
            get_filename_component(_stem "${_source}" NAME_WE)
            set(_fatbin "${_folder}/${_stem}.fatbin")
            set(_images)
            set(_files)
            foreach(_name IN LISTS names)
                if(_name STREQUAL "PTX")   # PTX for the newest architecture, which precedes it in the list
                    set(_file "${PROJECT_BINARY_DIR}/generated/kernels/${_stem}.${_sm}.ptx")
                    list(APPEND _images "--image3=kind=ptx,sm=${_sm},file=${_file}")
                else()
                    string(REPLACE "sm_" "" _sm "${_name}")
                    _atoll_compile_kernels("${_source}" ${_sm})
                    set(_file "${PROJECT_BINARY_DIR}/generated/kernels/${_stem}.${_sm}.cubin")
                    list(APPEND _images "--image3=kind=elf,sm=${_sm},file=${_file}")
                endif()
                list(APPEND _files "${_file}")
            endforeach()
            add_custom_command(OUTPUT "${_fatbin}" COMMAND "${ATOLL_FATBINARY}" -64 "--create=${_fatbin}" ${_images}
                               DEPENDS ${_files} COMMENT "Joining kernels ${_stem}.cu for ${names}" VERBATIM)
            list(APPEND _fatbins "${_fatbin}")
            string(APPEND _text "asm(\".pushsection .rodata\\n.balign 64\\n.hidden atoll_kernels_${_stem}\\natoll_kernels_${_stem}:\\n"
                                ".incbin \\\"${_fatbin}\\\"\\n.popsection\\n\");\nextern \"C\" const unsigned char atoll_kernels_${_stem}[] __attribute__((visibility(\"hidden\")));\n")
            string(APPEND _rows "{\"${_stem}\", atoll_kernels_${_stem}}, ")
            math(EXPR _count "${_count} + 1")
        endforeach()
    endif()
    string(APPEND _text "namespace atl::cuda {\nconst Embedded embedded_kernels[] = {${_rows}{nullptr, nullptr}};\nconst unsigned embedded_kernel_files = ${_count};\n"
                        "const char embedded_text[] = \"CUDA ${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}, ${_built}\";\n}\n")
    set(_embedded "${PROJECT_BINARY_DIR}/generated/${target}_kernels.cpp")
    file(GENERATE OUTPUT "${_embedded}" CONTENT "${_text}")
    set_source_files_properties("${_embedded}" PROPERTIES GENERATED TRUE OBJECT_DEPENDS "${_fatbins}")
    target_sources(${target} PRIVATE "${_embedded}")
endfunction()

# Every such file has the name libatoll_cuda.so, so each target has a separate folder.
function(_atoll_add_cuda target names)
    add_library(${target} MODULE $<TARGET_OBJECTS:atoll_cuda_objects>)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${ATOLL_GENERATED_INCLUDE}" "${PROJECT_SOURCE_DIR}/src")
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} atoll_flags)
    if(NOT ATOLL_SANITIZE)   # their run-time library is the program's
        target_link_options(${target} PRIVATE ${ATOLL_NO_UNDEFINED} ${ATOLL_KEEP_INSIDE})
    endif()
    _atoll_embed_kernels(${target} "${names}")
endfunction()

file(GLOB ATOLL_CUDA_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/gpu/cuda/*.cpp")
add_library(atoll_cuda_objects OBJECT ${ATOLL_CUDA_SOURCES} "${PROJECT_SOURCE_DIR}/src/common/text.cpp")
set_target_properties(atoll_cuda_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_features(atoll_cuda_objects PRIVATE cxx_std_20)
target_include_directories(atoll_cuda_objects PRIVATE "${PROJECT_SOURCE_DIR}/include" "${ATOLL_GENERATED_INCLUDE}"
                                                      "${PROJECT_SOURCE_DIR}/src")
target_include_directories(atoll_cuda_objects SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(atoll_cuda_objects PRIVATE atoll_flags)

set(_every_gpu sm_80 sm_90 sm_100 PTX)   # the architectures of a wheel, see scripts/wheel_gpus.py
if(ATOLL_CUDA_ARCHITECTURES)
    list(TRANSFORM ATOLL_CUDA_ARCHITECTURES PREPEND sm_ OUTPUT_VARIABLE _names)
elseif(ATOLL_TESTS)
    set(_names sm_90)
else()
    set(_names ${_every_gpu})
endif()
if(NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(STATUS "Atoll: the GPU part is built without kernels (they need nvcc)")
endif()
_atoll_add_cuda(atoll_cuda "${_names}")
if(NOT ATOLL_SANITIZE)
    # For wheels that scripts/wheel.sh makes from a tree with tests.
    _atoll_add_cuda(atoll_cuda_every_gpu "${_every_gpu}")
    set_target_properties(atoll_cuda_every_gpu PROPERTIES EXCLUDE_FROM_ALL ON OUTPUT_NAME atoll_cuda
                          LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/every_gpu")
endif()
# Users compile their kernels themselves (include/atoll/device); CMake compiles those of our tests and benchmarks. nvcc
# has no sanitizers.
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
# Every program of ours that uses the core needs it.
add_dependencies(atoll atoll_cuda)
