# tests/<folder>/*_test.cpp   one GoogleTest program a folder, on the static core (PEs are threads where several are wanted)
# tests/support/*.cpp         what these share; headers are included as "support/..."
# tests/multi/*.cpp           programs that run under our launcher at 1, 2, 3, 4 and 7 PEs and exit 0 when right
# tests/multi/suites.txt      suites of other folders that run so too, by the programs that hold them
# tests/shmem/*.c, *.cpp      OpenSHMEM programs at 1, 2, 4 and 7 PEs, and at four times the cores; generated/*.c are printed by generate.py beside them
# tests/gpu/*.cpp             the same at 1, 2 and 4 PEs, where the GPU part is built
# tests/simulated/*.cpp       a GPU made of memory of the host, as libatoll_cuda.so: for tests of Python's GPU arrays
# tests/soak/*.cpp            the same, but only with `ctest -C soak` (make soak)
if(NOT ATOLL_TESTS OR NOT TARGET atoll_core)
    return()
endif()
enable_testing()

find_package(GTest QUIET)
if(NOT GTest_FOUND OR CMAKE_CROSSCOMPILING)
    # Debian's sources, for a compiler that the packaged library is not built for.
    if(NOT EXISTS /usr/src/googletest/CMakeLists.txt)
        message(STATUS "Atoll: no tests (they need GoogleTest; on Debian: apt-get install libgtest-dev googletest)")
        return()
    endif()
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK OFF)
    set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
    add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
    if(NOT TARGET GTest::gtest_main)
        add_library(GTest::gtest ALIAS gtest)
        add_library(GTest::gtest_main ALIAS gtest_main)
    endif()
endif()
include(GoogleTest)

# Less than half the time of compiling; the library itself is what users get. Programs of a moment gain nothing from -O3.
set(ATOLL_TEST_FLAGS $<$<CONFIG:Release>:-Og> ${ATOLL_QUICK})
if(ATOLL_SANITIZE MATCHES "undefined")
    # Optimising the checks takes GCC as long as all else. The address sanitizer finds what these three find, or nearly so;
    # the library has them.
    list(APPEND ATOLL_TEST_FLAGS -fno-sanitize=null,object-size,vptr)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND ATOLL_TEST_FLAGS $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)   # guesses more where it inlines less
endif()
add_library(atoll_test_support INTERFACE)
target_compile_options(atoll_test_support INTERFACE ${ATOLL_TEST_FLAGS})
target_include_directories(atoll_test_support INTERFACE "${PROJECT_SOURCE_DIR}/tests")
# UCX's tests. The package of its headers brings the library too, and ucx_interface_test.cpp compares our declarations
# with them.
if(NOT CMAKE_CROSSCOMPILING AND NOT ATOLL_SANITIZE)
    find_path(ATOLL_UCX_INCLUDE ucp/api/ucp.h)
    if(NOT ATOLL_UCX_INCLUDE)
        message(STATUS "Atoll: no tests of UCX (they need its headers, on Debian libucx-dev)")
    endif()
endif()
if(ATOLL_UCX_INCLUDE)
    target_include_directories(atoll_test_support SYSTEM INTERFACE "${ATOLL_UCX_INCLUDE}")
endif()
target_link_libraries(atoll_test_support INTERFACE atoll_core atoll_flags)
if(CMAKE_CROSSCOMPILING)
    target_compile_definitions(atoll_test_support INTERFACE ATOLL_EMULATED)
endif()
file(GLOB _support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
if(_support)
    add_library(atoll_test_objects STATIC ${_support})
    target_include_directories(atoll_test_objects PUBLIC "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(atoll_test_objects PUBLIC atoll_core GTest::gtest PRIVATE atoll_flags)
    target_link_libraries(atoll_test_support INTERFACE atoll_test_objects)
endif()

# Programs that scripts/clusters.sh runs on several hosts.
file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/clusters/*.cpp")
set(_cluster_programs)
foreach(_source IN LISTS _sources)
    get_filename_component(_stem "${_source}" NAME_WE)
    add_executable(cluster_${_stem} "${_source}")
    set_target_properties(cluster_${_stem} PROPERTIES OUTPUT_NAME ${_stem}
                          RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/clusters")
    target_link_libraries(cluster_${_stem} PRIVATE atoll_core atoll_flags)
    if(ATOLL_SANITIZE)
        set_target_properties(cluster_${_stem} PROPERTIES EXCLUDE_FROM_ALL ON)   # hosts run the release build
    endif()
    list(APPEND _cluster_programs cluster_${_stem})
endforeach()
add_custom_target(cluster_programs DEPENDS ${_cluster_programs})
add_custom_target(cluster_suite)   # the host tests, which run over hosts too
file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/*_test.cpp")
# Compared bit for bit with src/collective/folds/host_folds.cpp.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/collective/reduce_test.cpp" PROPERTIES COMPILE_OPTIONS
                            -ffp-contract=off)
# Suites that run as launched jobs too, by the program that holds them (tests/support/main/suites.cpp).
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/multi/suites.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/tests/multi/suites.txt" _suites)
set(ATOLL_SUITE_FOLDERS core collective)
set(_folders)
foreach(_source IN LISTS _sources)
    get_filename_component(_folder "${_source}" DIRECTORY)
    list(APPEND _folders "${_folder}")
endforeach()
list(REMOVE_DUPLICATES _folders)
foreach(_folder IN LISTS _folders)
    get_filename_component(_name "${_folder}" NAME)
    if(_name MATCHES "^(multi|soak|shmem|gpu)$")
        continue()
    endif()
    file(GLOB _sources CONFIGURE_DEPENDS "${_folder}/*_test.cpp")
    if(NOT ATOLL_UCX_INCLUDE)
        list(FILTER _sources EXCLUDE REGEX "/ucx[^/]*_test\\.cpp$")
    endif()
    set(_target ${_name}_tests)
    add_executable(${_target} ${_sources})
    target_link_libraries(${_target} PRIVATE atoll_test_support GTest::gtest)
    if(_name STREQUAL cli)
        set(_tested_sources hosts/trace_receiver.cpp hosts/trace_wire.cpp stacks/file_locks.cpp trace/in_flight.cpp trace/job_trace.cpp
                            trace/kernel_tracks.cpp trace/word_flows.cpp)
        list(TRANSFORM _tested_sources PREPEND "${PROJECT_SOURCE_DIR}/src/cli/")
        target_sources(${_target} PRIVATE ${_tested_sources})
    endif()
    if("${_name}" IN_LIST ATOLL_SUITE_FOLDERS)
        target_sources(${_target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/main/suites.cpp")
    else()
        target_link_libraries(${_target} PRIVATE GTest::gtest_main)
    endif()
    gtest_discover_tests(${_target} TEST_PREFIX "${_name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
                         PROPERTIES TIMEOUT 900 LABELS ${_name} ENVIRONMENT ATOLL_CHECK=all)
endforeach()

if(TARGET transport_tests)
    add_dependencies(cluster_suite transport_tests)   # there also with another UCX
endif()

# A command at several PE counts.
function(_atoll_add_counts name folder counts configurations)
    set(_limit --timeout 400)
    set(_timeout 450)
    if(folder STREQUAL "soak")
        set(_limit)   # it runs as long as ATOLL_TEST_SOAK_SECONDS says
        set(_timeout 7200)
    endif()
    foreach(_n IN LISTS counts)
        set(_test ${name}.n${_n})
        add_test(NAME ${_test} CONFIGURATIONS ${configurations}
                 COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n ${_n} ${_limit} ${ARGN})
        set_tests_properties(${_test} PROPERTIES TIMEOUT ${_timeout} LABELS ${folder} ENVIRONMENT ATOLL_CHECK=all)
        if(_n GREATER 1)
            set_tests_properties(${_test} PROPERTIES PROCESSORS 2)
        endif()
    endforeach()
endfunction()

# A program at several PE counts. Under an emulator the launcher is emulated too, and starts the emulator as each PE.
function(_atoll_add_job_tests folder counts configurations)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
    if(NOT ATOLL_NVCC)
        list(FILTER _sources EXCLUDE REGEX "/gpu/[^/]*_kernels\\.cpp$")
    endif()
    foreach(_source IN LISTS _sources)
        get_filename_component(_stem "${_source}" NAME_WE)
        set(_target ${folder}_${_stem})
        add_executable(${_target} "${_source}")
        target_link_libraries(${_target} PRIVATE atoll_test_support GTest::gtest)
        set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}"
                                                    OUTPUT_NAME ${_stem})
        if(folder STREQUAL "multi")
            add_dependencies(cluster_suite ${_target})
        endif()
        _atoll_add_counts(${folder}.${_stem} ${folder} "${counts}" "${configurations}"
                          ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${_target}>)
    endforeach()
endfunction()

# A program at 4 PEs that pretend to be on several hosts.
function(_atoll_add_hosts_test name program transport hosts)
    string(REPLACE "," "" _letters "${hosts}")
    set(_test ${name}.hosts.${transport}_${_letters})
    add_test(NAME ${_test} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n 4 --timeout 400
                                   ${CMAKE_CROSSCOMPILING_EMULATOR} ${program})
    set_tests_properties(${_test} PROPERTIES TIMEOUT 450 LABELS hosts PROCESSORS 2 ENVIRONMENT
        "ATOLL_CHECK=all;ATOLL_TRANSPORT=${transport};ATOLL_HOST_ID=${hosts};UCX_TLS=tcp,self")
endfunction()

if(TARGET atoll AND NOT ATOLL_SANITIZE)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/simulated/*.cpp")
    add_library(atoll_cuda_simulated MODULE ${_sources} "${PROJECT_SOURCE_DIR}/src/common/text.cpp")
    target_include_directories(atoll_cuda_simulated PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests"
                               "${ATOLL_GENERATED_INCLUDE}")
    target_link_libraries(atoll_cuda_simulated PRIVATE atoll atoll_flags)
    set_target_properties(atoll_cuda_simulated PROPERTIES OUTPUT_NAME atoll_cuda
                          LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/simulated")
endif()

# These choose by macros what the headers declare, so each is compiled alone.
set_source_files_properties(tests/device/checked_addresses_test.cpp tests/device/near_only_test.cpp tests/device/traced_test.cpp
                            tests/bootstrap/pmix_layout_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(TARGET device_tests)   # all of it, for what runs on the host is one program
    target_compile_definitions(device_tests PRIVATE ATOLL_DEVICE_FAR=1)
endif()

if(TARGET atoll_cli)
    set(_counts 1 2 3 4 7)
    if(ATOLL_SANITIZE STREQUAL "thread")   # it sees the threads of a process, of which there are as many with any number of them
        set(_counts 2 4)
    endif()
    _atoll_add_job_tests(multi "${_counts}" "")
    # multi/NAME of a suite is a script, which names it to its program.
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " _emulator)
    set(_multi ucx)
    foreach(_suite IN LISTS _suites)
        string(REGEX REPLACE "^(.*)/(.*)_test.cpp$" "\\2" _stem "${_suite}")
        get_filename_component(_folder "${_suite}" DIRECTORY)
        file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/multi/${_stem}"
             CONTENT "#!/bin/sh\nATOLL_TEST_SUITE=${_suite} exec ${_emulator} '$<TARGET_FILE:${_folder}_tests>' \"$@\"\n"
             FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
        _atoll_add_counts(multi.${_stem} multi "${_counts}" "" "${PROJECT_BINARY_DIR}/multi/${_stem}")
        add_dependencies(cluster_suite ${_folder}_tests)
        list(APPEND _multi ${_stem})
    endforeach()
    if(ATOLL_UCX_INCLUDE)   # the same by UCX and TCP, where UCX would take shared memory
        foreach(_stem IN LISTS _multi)
            foreach(_n 2 4)
                set(_test multi.${_stem}.ucx.n${_n})
                add_test(NAME ${_test} COMMAND $<TARGET_FILE:atoll_cli> run -n ${_n} --timeout 400 "${PROJECT_BINARY_DIR}/multi/${_stem}")
                set_tests_properties(${_test} PROPERTIES TIMEOUT 450 LABELS "multi;ucx" PROCESSORS 2
                                     ENVIRONMENT "ATOLL_CHECK=all;ATOLL_TRANSPORT=ucx;UCX_TLS=tcp,self")
            endforeach()
        endforeach()
        # And with UCX's own puts and gets, over TCP and over shared memory; without a thread, PEs compute undisturbed.
        foreach(_stem rma signals order contexts heap strided stress messages mailbox ucx)
            foreach(_networks "tcp,self" "posix,cma,self")
                string(REGEX REPLACE ",.*" "" _way "${_networks}")
                set(_test multi.${_stem}.ucx_rma_${_way}.n2)
                add_test(NAME ${_test} COMMAND $<TARGET_FILE:atoll_cli> run -n 2 --timeout 400 "${PROJECT_BINARY_DIR}/multi/${_stem}")
                set_tests_properties(${_test} PROPERTIES TIMEOUT 450 LABELS "multi;ucx" PROCESSORS 2 ENVIRONMENT
                    "ATOLL_CHECK=all;ATOLL_TRANSPORT=ucx;ATOLL_UCX_RMA=on;ATOLL_UCX_RMA_BYTES=1;UCX_TLS=${_networks}")
            endforeach()
        endforeach()
        add_test(NAME multi.ucx.ucx_rma_unattended.n2
                 COMMAND $<TARGET_FILE:atoll_cli> run -n 2 --timeout 400 $<TARGET_FILE:multi_ucx> --gtest_filter=*Large*)
        set_tests_properties(multi.ucx.ucx_rma_unattended.n2 PROPERTIES TIMEOUT 450 LABELS "multi;ucx" PROCESSORS 2 ENVIRONMENT
            "ATOLL_CHECK=all;ATOLL_TRANSPORT=ucx;ATOLL_UCX_PROGRESS=none;UCX_TLS=posix,cma,self")
    endif()
    # And on pretended hosts, two and two in turns or one and three: by the reference transport between them, and by UCX.
    list(REMOVE_ITEM _multi ucx)   # it counts connections, of which init needs some here
    foreach(_stem IN LISTS _multi)
        if(NOT ATOLL_SANITIZE STREQUAL "thread")   # not run by it yet
            _atoll_add_hosts_test(multi.${_stem} "${PROJECT_BINARY_DIR}/multi/${_stem}" loopback "a,b,b,b")
        endif()
        if(ATOLL_UCX_INCLUDE)
            _atoll_add_hosts_test(multi.${_stem} "${PROJECT_BINARY_DIR}/multi/${_stem}" ucx "a,b")
        endif()
    endforeach()
    # Device heaps that a transport reaches: a GPU of memory of the host; two hosts, uneven ones, and a forced transport.
    set(_simulated "")
    if(TARGET atoll_cuda_simulated)
        set(_simulated "$<TARGET_FILE:atoll_cuda_simulated>")
    endif()
    target_compile_definitions(multi_device_far_kernels PRIVATE ATOLL_DEVICE_FAR=1)
    foreach(_name device_elements device_far device_far_collectives device_far_kernels device_mailbox)
        target_compile_definitions(multi_${_name} PRIVATE ATOLL_SIMULATED_GPU="${_simulated}")
        if(NOT _simulated)
            continue()
        endif()
        add_dependencies(multi_${_name} atoll_cuda_simulated)
        if(ATOLL_UCX_INCLUDE)
            foreach(_hosts "a,b" "a,b,b,b" "a")
                _atoll_add_hosts_test(multi.${_name} $<TARGET_FILE:multi_${_name}> ucx ${_hosts})
            endforeach()
            set_property(TEST multi.${_name}.hosts.ucx_ab APPEND PROPERTY ENVIRONMENT ATOLL_SIMULATED_REACH=window)
            _atoll_add_hosts_test(multi.${_name}.own $<TARGET_FILE:multi_${_name}> ucx "a,b,b")
            set_property(TEST multi.${_name}.own.hosts.ucx_abb APPEND PROPERTY ENVIRONMENT
                         ATOLL_UCX_RMA=device ATOLL_UCX_RMA_BYTES=1)
        endif()
    endforeach()
    _atoll_add_job_tests(soak "4" "soak")
    # Without a driver they skip, and name the reason. The tests link CUDA's runtime themselves.
    if(TARGET atoll_cuda AND TARGET CUDA::cudart_static)
        set(_configurations gpu)
        if(ATOLL_GPU_PROGRAMS)
            set(_configurations "")
        endif()
        _atoll_add_job_tests(gpu "1;2;4" "${_configurations}")
        file(GLOB ATOLL_GPU_TESTS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/gpu/*.cpp")
        if(NOT ATOLL_NVCC)
            list(FILTER ATOLL_GPU_TESTS EXCLUDE REGEX "_kernels\\.cpp$")
        endif()
        if(TARGET CUDA::nvrtc AND NOT ATOLL_SANITIZE)   # headers compile or do not; the library wants a driver there
            add_executable(nvrtc_headers "${PROJECT_SOURCE_DIR}/tests/gpu/nvrtc/headers.cpp")
            target_link_libraries(nvrtc_headers PRIVATE CUDA::nvrtc atoll_flags)
            set(_folders ${CUDAToolkit_INCLUDE_DIRS})
            list(TRANSFORM _folders PREPEND -I)
            add_test(NAME gpu.nvrtc COMMAND nvrtc_headers "-I${PROJECT_SOURCE_DIR}/include" ${_folders})
        endif()
        if(ATOLL_NVCC)
            # A library of its own: the flags of our sources are not nvcc's.
            file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/gpu/*.cu")
            if(NOT ATOLL_GPU_PROGRAMS)   # headers take most of the time of small kernels, and these sources read the same
                file(GLOB _together CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/gpu/collectives*.cu")
                list(REMOVE_ITEM _sources ${_together})
                list(TRANSFORM _together REPLACE "(.+)" "#include \"\\1\"\n")
                list(JOIN _together "" _text)
                file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/generated/collectives_together.cu" CONTENT "${_text}")
                list(APPEND _sources "${PROJECT_BINARY_DIR}/generated/collectives_together.cu")
            endif()
            add_library(gpu_kernels STATIC ${_sources})
            # CMake 3.31 and newer would merge CUDA sources, too, whose file-local names are equal.
            set_target_properties(gpu_kernels PROPERTIES UNITY_BUILD OFF)
            set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/gpu/far.cu" PROPERTIES COMPILE_DEFINITIONS ATOLL_DEVICE_FAR=1)
            option(ATOLL_TEST_ALL_TYPES "Tests of kernels for all types, not only those that stand for others" OFF)
            if(ATOLL_TEST_ALL_TYPES)
                target_compile_definitions(gpu_kernels PUBLIC ATOLL_TEST_ALL_TYPES)
            endif()
            target_include_directories(gpu_kernels PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/tests")
            if(NOT ATOLL_GPU_PROGRAMS)   # they will not run: a quarter of the time shows that they compile
                target_compile_options(gpu_kernels PRIVATE -Xcicc=-O1 -Xptxas=-O0)
            endif()
            # Its own main(): it ends by what it is started for, see scripts/gpu.sh programs.
            add_executable(gpu_kernel_ends "${PROJECT_SOURCE_DIR}/tests/gpu/ends/kernel_ends.cu")
            set_target_properties(gpu_kernel_ends PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/gpu/ends"
                                                             OUTPUT_NAME kernel_ends)
            target_link_libraries(gpu_kernel_ends PRIVATE atoll::atoll)
            if(NOT ATOLL_GPU_PROGRAMS)
                target_compile_options(gpu_kernel_ends PRIVATE -Xcicc=-O1 -Xptxas=-O0)
            endif()
        endif()
        set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/gpu/far_kernels.cpp" PROPERTIES COMPILE_DEFINITIONS ATOLL_DEVICE_FAR=1)
        foreach(_source IN LISTS ATOLL_GPU_TESTS)
            get_filename_component(_stem "${_source}" NAME_WE)
            target_link_libraries(gpu_${_stem} PRIVATE CUDA::cudart_static)
            if(_stem MATCHES "_kernels$")
                target_link_libraries(gpu_${_stem} PRIVATE gpu_kernels)
            endif()
            add_dependencies(gpu_${_stem} atoll_cuda)
            foreach(_n 1 2 4)
                set_tests_properties(gpu.${_stem}.n${_n} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED ")
            endforeach()
        endforeach()
    endif()
endif()

# NVSHMEM's host functions on GPU memory; it links the library, as a user's program does.
if(TARGET atoll_nvshmem AND TARGET atoll_cuda AND TARGET CUDA::cudart_static AND NOT ATOLL_SANITIZE)
    add_executable(gpu_nvshmem "${PROJECT_SOURCE_DIR}/tests/nvshmem/gpu/on_gpu.cpp")
    set_target_properties(gpu_nvshmem PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/gpu/nvshmem" OUTPUT_NAME on_gpu)
    target_link_libraries(gpu_nvshmem PRIVATE atoll::nvshmem atoll_flags CUDA::cudart_static)
    target_compile_options(gpu_nvshmem PRIVATE ${ATOLL_TEST_FLAGS})
    add_dependencies(gpu_nvshmem atoll_cuda)
    if(TARGET CUDA::nvrtc)   # without a GPU it tests that kernels compile
        add_executable(nvrtc_nvshmem "${PROJECT_SOURCE_DIR}/tests/nvshmem/gpu/runtime_compiled.cpp")
        set_target_properties(nvrtc_nvshmem PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/gpu/nvshmem"
                                                                      OUTPUT_NAME runtime_compiled)
        target_link_libraries(nvrtc_nvshmem PRIVATE atoll::nvshmem atoll_flags CUDA::cudart_static CUDA::nvrtc)
        list(TRANSFORM CUDAToolkit_INCLUDE_DIRS APPEND /cccl OUTPUT_VARIABLE _cccl)   # CUDA 13 has CCCL in a separate folder
        set(_folders ${ATOLL_NVSHMEM_INCLUDE} "${PROJECT_SOURCE_DIR}/include" ${CUDAToolkit_INCLUDE_DIRS} ${_cccl})
        list(TRANSFORM _folders PREPEND -I)
        string(JOIN " " _folders ${_folders})
        target_compile_definitions(nvrtc_nvshmem PRIVATE "ATOLL_TEST_FOLDERS=\"${_folders}\"")
        add_test(NAME gpu.nvshmem_nvrtc COMMAND nvrtc_nvshmem)
    endif()
    if(ATOLL_NVCC)   # functions in kernels
        foreach(_stem in_kernels tiles)
            add_executable(gpu_nvshmem_${_stem} "${PROJECT_SOURCE_DIR}/tests/nvshmem/gpu/${_stem}.cu")
            set_target_properties(gpu_nvshmem_${_stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/gpu/nvshmem"
                                                                  OUTPUT_NAME ${_stem})
            target_link_libraries(gpu_nvshmem_${_stem} PRIVATE atoll::nvshmem)
            target_include_directories(gpu_nvshmem_${_stem} PRIVATE "${PROJECT_SOURCE_DIR}/include")
            # They call much and need no speed; optimised, they would be the longest compilations of all.
            target_compile_options(gpu_nvshmem_${_stem} PRIVATE -Xcicc=-O1 -Xptxas=-O0)
            if(ATOLL_TEST_ALL_TYPES)
                target_compile_definitions(gpu_nvshmem_${_stem} PRIVATE ATOLL_TEST_ALL_TYPES)
            endif()
            add_dependencies(gpu_nvshmem_${_stem} atoll_cuda)
        endforeach()
    endif()
endif()

# Programs that need a GPU. Without one they are built on demand: `make lint` compiles them everywhere.
get_property(_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER _targets INCLUDE REGEX "^(gpu_|examples_gpu_|bench_gpu_)")
# Those that scripts/gpu.sh programs needs on machines with GPUs.
if(TARGET atoll_cli AND TARGET multi_device_absent)
    add_custom_target(gpu_programs DEPENDS atoll atoll_cli multi_device_absent multi_device_elements multi_device_far
                      multi_device_far_collectives multi_device_mailbox ${_targets})
    if(TARGET nvrtc_nvshmem)   # also a test, so it is built by default
        add_dependencies(gpu_programs nvrtc_nvshmem)
    endif()
endif()
if(NOT ATOLL_GPU_PROGRAMS)
    list(REMOVE_ITEM _targets gpu_unit_tests)   # its GPU is simulated
    if(_targets)
        set_target_properties(${_targets} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endif()

# Programs of NVSHMEM's host functions, on host memory.
if(TARGET atoll_cli AND TARGET atoll_nvshmem)
    enable_language(C)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/nvshmem/*.c" "${PROJECT_SOURCE_DIR}/tests/nvshmem/*.cpp")
    foreach(_source IN LISTS _sources)
        get_filename_component(_stem "${_source}" NAME_WE)
        add_executable(nvshmem_${_stem} "${_source}")
        set_target_properties(nvshmem_${_stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/nvshmem"
                                                          OUTPUT_NAME ${_stem})
        target_link_libraries(nvshmem_${_stem} PRIVATE atoll::nvshmem Threads::Threads)
        # Users' compilers find CUDA's headers where there is a toolkit; these programs use none of it.
        target_compile_definitions(nvshmem_${_stem} PRIVATE ATOLL_NVSHMEM_WITHOUT_CUDA)
        target_compile_options(nvshmem_${_stem} PRIVATE ${ATOLL_TEST_FLAGS} -Wall -Wextra)
        foreach(_n 1 2 4)
            add_test(NAME nvshmem.${_stem}.n${_n} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n ${_n}
                     --timeout 400 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:nvshmem_${_stem}>)
            set_tests_properties(nvshmem.${_stem}.n${_n} PROPERTIES TIMEOUT 450 LABELS nvshmem ENVIRONMENT ATOLL_CHECK=all)
            if(_n GREATER 1)
                set_tests_properties(nvshmem.${_stem}.n${_n} PROPERTIES PROCESSORS 2)
            endif()
        endforeach()
    endforeach()
endif()

foreach(_target IN LISTS ATOLL_PORTING_EXAMPLES)   # they check themselves, and exit 0 when all was right
    foreach(_n 1 2 4)
        add_test(NAME nvshmem.example.${_target}.n${_n} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n ${_n}
                 --timeout 60 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${_target}>)
        set_tests_properties(nvshmem.example.${_target}.n${_n} PROPERTIES TIMEOUT 400 LABELS nvshmem PROCESSORS 2
                                                                          ENVIRONMENT ATOLL_CHECK=all)
    endforeach()
endforeach()

# Programs as users write them: they know shmem.h and link libatoll_shmem.so.
if(TARGET atoll_cli AND TARGET atoll_shmem)
    enable_language(C)
    set(_c_flags -std=gnu11 -Wall -Wextra)
    if(ATOLL_WERROR)
        list(APPEND _c_flags -Werror)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND ATOLL_SANITIZE)
        list(APPEND _c_flags -Wno-stringop-overflow)   # it mistakes the sanitizers' own checks
    endif()
    # Four times as many PEs as cores, but at most 16: the arrays of the programs are for no more.
    cmake_host_system_information(RESULT _crowd QUERY NUMBER_OF_LOGICAL_CORES)
    math(EXPR _crowd "4 * ${_crowd}")
    if(_crowd GREATER 16)
        set(_crowd 16)
    endif()
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/shmem/*.c" "${PROJECT_SOURCE_DIR}/tests/shmem/*.cpp"
         "${PROJECT_SOURCE_DIR}/tests/shmem/generated/*.c")
    foreach(_source IN LISTS _sources)
        get_filename_component(_stem "${_source}" NAME_WE)
        set(_target shmem_${_stem})
        add_executable(${_target} "${_source}")
        set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/shmem"
                                                    OUTPUT_NAME ${_stem})
        target_link_libraries(${_target} PRIVATE atoll::shmem Threads::Threads)
        target_compile_options(${_target} PRIVATE ${ATOLL_TEST_FLAGS} $<$<COMPILE_LANGUAGE:C>:${_c_flags}>
                                                  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>)
        if(NOT _source MATCHES "/generated/")
            add_dependencies(cluster_suite ${_target})
        endif()
        set(_counts 1 2 4 7 ${_crowd})
        list(REMOVE_DUPLICATES _counts)
        foreach(_n IN LISTS _counts)
            set(_test shmem.${_stem}.n${_n})
            add_test(NAME ${_test} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n ${_n}
                                           --timeout 400 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${_target}>)
            set_tests_properties(${_test} PROPERTIES TIMEOUT 450 LABELS shmem)
            if(_n EQUAL 4)   # the others run at the default, basic
                set_tests_properties(${_test} PROPERTIES ENVIRONMENT ATOLL_CHECK=all)
            endif()
            if(_n GREATER 1)
                set_tests_properties(${_test} PROPERTIES PROCESSORS 2)
            endif()
        endforeach()
        if(NOT ATOLL_SANITIZE)
            _atoll_add_hosts_test(shmem.${_stem} $<TARGET_FILE:${_target}> loopback "a,a,b,b")
        endif()
        if(ATOLL_UCX_INCLUDE)
            _atoll_add_hosts_test(shmem.${_stem} $<TARGET_FILE:${_target}> ucx "a,b,b,b")
        endif()
    endforeach()
    # The fuzzed program on the reference transport too, which delivers as late and as disorderly as it may.
    set(_fuzz ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n 4)
    add_test(NAME shmem.fuzz.loopback COMMAND ${_fuzz} --timeout 400 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:shmem_fuzz>)
    set_tests_properties(shmem.fuzz.loopback PROPERTIES TIMEOUT 450 LABELS shmem PROCESSORS 2 ENVIRONMENT ATOLL_TRANSPORT=loopback)
    add_test(NAME soak.shmem_fuzz.n4 CONFIGURATIONS soak COMMAND ${_fuzz} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:shmem_fuzz>)
    set_tests_properties(soak.shmem_fuzz.n4 PROPERTIES TIMEOUT 7200 LABELS soak PROCESSORS 2)
    foreach(_target IN LISTS ATOLL_OPENSHMEM_EXAMPLES)   # they check themselves, and exit 0 when all was right
        add_test(NAME shmem.example.${_target} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:atoll_cli> run -n 4
                 --timeout 60 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${_target}>)
        set_tests_properties(shmem.example.${_target} PROPERTIES TIMEOUT 400 LABELS shmem PROCESSORS 2)
    endforeach()
endif()
