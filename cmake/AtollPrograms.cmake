# Examples and benchmarks: each source file is a program of the same name, linked to the shared library like a user's.
# They are built in examples/ and bench/ of the build tree.
function(atoll_add_programs kind)
    foreach(_source IN LISTS ARGN)
        get_filename_component(_stem "${_source}" NAME_WE)
        set(_target "${kind}_${_stem}")
        add_executable(${_target} "${_source}")
        set_target_properties(${_target} PROPERTIES OUTPUT_NAME "${_stem}"
                                                    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${kind}")
        target_link_libraries(${_target} PRIVATE atoll::atoll atoll_flags)
    endforeach()
endfunction()

# Adds the programs of NVSHMEM with a suffix, which know its headers only, and lists them in _targets.
function(_atoll_add_porting prefix suffix)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/porting/*${suffix}")
    set(_targets)
    foreach(_source IN LISTS _sources)
        get_filename_component(_stem "${_source}" NAME_WE)
        add_executable(${prefix}${_stem} "${_source}")
        set_target_properties(${prefix}${_stem} PROPERTIES OUTPUT_NAME "${_stem}"
                                                           RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples/porting")
        target_link_libraries(${prefix}${_stem} PRIVATE atoll::nvshmem)
        list(APPEND _targets ${prefix}${_stem})
    endforeach()
    set(_targets ${_targets} PARENT_SCOPE)
endfunction()

if(NOT TARGET atoll)
    return()
endif()
if(ATOLL_EXAMPLES)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*/*.cpp")
    atoll_add_programs(examples ${_sources})
    # OpenSHMEM's examples: C and C++ that include only shmem.h.
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/openshmem/*.c"
         "${PROJECT_SOURCE_DIR}/examples/openshmem/*.cc")
    if(TARGET atoll_shmem)
        enable_language(C)
        foreach(_source IN LISTS _sources)
            get_filename_component(_stem "${_source}" NAME_WE)
            add_executable(openshmem_${_stem} "${_source}")
            set_target_properties(openshmem_${_stem} PROPERTIES OUTPUT_NAME "${_stem}" C_STANDARD 11
                                  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples/openshmem")
            target_link_libraries(openshmem_${_stem} PRIVATE atoll::shmem Threads::Threads)
            list(APPEND ATOLL_OPENSHMEM_EXAMPLES openshmem_${_stem})
        endforeach()
    endif()
    # NVSHMEM's in C++ run without a GPU (AtollTests.cmake).
    if(TARGET atoll_nvshmem)
        _atoll_add_porting(porting_ .cc)
        foreach(_target IN LISTS _targets)
            target_link_libraries(${_target} PRIVATE atoll_flags)
            target_compile_definitions(${_target} PRIVATE ATOLL_NVSHMEM_WITHOUT_CUDA)
        endforeach()
        set(ATOLL_PORTING_EXAMPLES ${_targets})
    endif()
endif()
# GPU examples, if nvcc is there; their kernels are for the GPUs in CMAKE_CUDA_ARCHITECTURES.
if(ATOLL_EXAMPLES AND ATOLL_NVCC)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/gpu/*.cu")
    foreach(_source IN LISTS _sources)
        get_filename_component(_stem "${_source}" NAME_WE)
        add_executable(examples_gpu_${_stem} "${_source}")
        set_target_properties(examples_gpu_${_stem} PROPERTIES OUTPUT_NAME "${_stem}" CUDA_STANDARD 20
                              RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples/gpu")
        target_link_libraries(examples_gpu_${_stem} PRIVATE atoll::atoll)
    endforeach()
    if(TARGET atoll_nvshmem)
        _atoll_add_porting(examples_gpu_porting_ .cu)
        foreach(_target IN LISTS _targets)
            target_include_directories(${_target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
        endforeach()
    endif()
endif()
if(ATOLL_BENCH)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
    atoll_add_programs(bench ${_sources})
    if(TARGET atoll_cuda AND TARGET CUDA::cudart_static)
        # bench/gpu/NAME becomes gpu_NAME. These are compared with CUDA itself, which they call by its runtime.
        function(_atoll_add_gpu_bench pattern)
            file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/gpu/${pattern}")
            foreach(_source IN LISTS _sources)
                get_filename_component(_stem "${_source}" NAME_WE)
                add_executable(bench_gpu_${_stem} "${_source}")
                set_target_properties(bench_gpu_${_stem} PROPERTIES OUTPUT_NAME gpu_${_stem}
                                      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
                target_link_libraries(bench_gpu_${_stem} PRIVATE atoll::atoll ${ARGN})
            endforeach()
        endfunction()
        _atoll_add_gpu_bench(*.cpp atoll_flags CUDA::cudart_static)
        if(ATOLL_NVCC)
            set_source_files_properties("${PROJECT_SOURCE_DIR}/bench/gpu/far_kernels.cu" PROPERTIES COMPILE_DEFINITIONS ATOLL_DEVICE_FAR=1)
            _atoll_add_gpu_bench(*.cu)   # nvcc has flags of its own, and brings its runtime
            # The kernels that bench/gpu/kernels.py compares with the same kernels in other languages.
            file(GLOB _headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/atoll/device/*.hpp"
                 "${PROJECT_SOURCE_DIR}/include/atoll/device/detail/*.hpp")
            set(_source "${PROJECT_SOURCE_DIR}/bench/gpu/forms/kernels.cu")
            set(_cubin "${PROJECT_BINARY_DIR}/bench/kernels.cubin")
            add_custom_command(OUTPUT "${_cubin}"
                COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++20 -O3 -Werror=all-warnings -arch=sm_90 -cubin "-I${PROJECT_SOURCE_DIR}/include"
                        "${_source}" -o "${_cubin}"
                DEPENDS "${_source}" ${_headers} VERBATIM)
            add_custom_target(bench_gpu_kernels DEPENDS "${_cubin}")
        endif()
    endif()
endif()

# The peers' own C source, with our shmem.h and library; compare.py compares it with the same source built by theirs.
if(ATOLL_BENCH AND TARGET atoll_shmem)
    enable_language(C)
    add_executable(bench_oshmem "${PROJECT_SOURCE_DIR}/bench/peers/oshmem_bench.c")
    set_target_properties(bench_oshmem PROPERTIES OUTPUT_NAME oshmem RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench"
                                                  C_STANDARD 11)
    target_compile_definitions(bench_oshmem PRIVATE BENCH_SIDE="atoll_c")
    target_link_libraries(bench_oshmem PRIVATE atoll::shmem m)
endif()

# Benchmarks across a network, see bench/network.py and bench/scaling.py.
if(ATOLL_BENCH AND TARGET atoll_shmem)
    foreach(_source peers/network.c scaling.c)
        get_filename_component(_program ${_source} NAME_WE)
        add_executable(bench_${_program} "${PROJECT_SOURCE_DIR}/bench/${_source}")
        set_target_properties(bench_${_program} PROPERTIES OUTPUT_NAME ${_program} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench"
                                                           C_STANDARD 11)
        target_link_libraries(bench_${_program} PRIVATE atoll::shmem m)
    endforeach()
    target_compile_definitions(bench_network PRIVATE BENCH_SIDE="atoll" BENCH_HAS_SIGNALS)
endif()

# `atoll bench` looks for this one beside the launcher. It contains the static core, so that it runs from any folder of
# a wheel. Comparisons (bench/compare.py) use bench/core, which calls the shared library as users do.
if(TARGET atoll_cli AND EXISTS "${PROJECT_SOURCE_DIR}/bench/core.cpp")
    add_executable(atoll_bench_core "${PROJECT_SOURCE_DIR}/bench/core.cpp")
    set_target_properties(atoll_bench_core PROPERTIES OUTPUT_NAME atoll-bench-core)
    target_link_libraries(atoll_bench_core PRIVATE atoll_core atoll_flags)
endif()
