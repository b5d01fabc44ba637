# The options of a build, and the flags that all our targets share.
if(DEFINED SKBUILD)
    set(_own OFF)   # a wheel needs the library, the launcher and the module, nothing else
else()
    set(_own ${PROJECT_IS_TOP_LEVEL})
endif()
# Warnings of a compiler that these sources were not built with must not stop a user's build.
# Tried are those of Debian 12 and 13.
set(_werror OFF)
if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU (12|14)|Clang (14|19))\\.")
    set(_werror ${PROJECT_IS_TOP_LEVEL})
endif()
option(ATOLL_WERROR "Warnings in our own sources are errors" ${_werror})
option(ATOLL_PYTHON "Build the Python module (where Python and nanobind are found)" ON)
option(ATOLL_TESTS "Build the tests" ${_own})
option(ATOLL_EXAMPLES "Build the C++ examples" ${_own})
option(ATOLL_BENCH "Build the benchmarks" ${_own})
# Programs that only a machine with a GPU can run take a third of the time of a fresh build.
set(_gpu_here OFF)
if(EXISTS /dev/nvidiactl)
    set(_gpu_here ON)
endif()
option(ATOLL_GPU_PROGRAMS "Build the tests, examples and benchmarks that need a GPU, and run those tests" ${_gpu_here})
set(ATOLL_SANITIZE "" CACHE STRING "What -fsanitize= gets: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Release: -O3 for the vectoriser, which reductions and copies need; -g1 for stacks of crashes in a build tree (wheels
# are stripped). NDEBUG is set: ATOLL_CHECK checks mistakes of users and throws. assert() is for our own invariants, in
# the debug and sanitizer builds.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Builds in any two folders give the same files: paths in them are relative to the sources.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>
                    $<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=build>)
# GCC collects its garbage from 128 MiB on. Without that, large units take a twelfth less time and a third more memory
# (docs/measurements/2026-11-30-ci-parts.md).
cmake_host_system_information(RESULT _memory QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT _cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR _memory_of_a_core "${_memory} / ${_cores}")
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND _memory_of_a_core GREATER 4096)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:--param=ggc-min-heapsize=1048576>)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(ATOLL_CCACHE ccache)
    if(ATOLL_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${ATOLL_CCACHE}")
    endif()
endif()

# A unity build compiles several sources as one, which saves more than half of the time of a fresh build. Few cores with
# much memory take 40, since each unit reads the standard headers. Other machines take 10, for more units at once. The
# debug preset does without, so that one edit compiles one file; clang-tidy and clangd read its compile commands.
if(NOT CMAKE_UNITY_BUILD_BATCH_SIZE)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
    if(_cores LESS_EQUAL 4 AND _memory_of_a_core GREATER 4096)
        set(CMAKE_UNITY_BUILD_BATCH_SIZE 40)
    endif()
endif()

find_package(Threads REQUIRED)

# Flags of all our own targets; none of them reaches a user of the library.
add_library(atoll_flags INTERFACE)
target_compile_options(atoll_flags INTERFACE -Wall -Wextra $<$<BOOL:${ATOLL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 reports an overlapping copy in `"text" + std::string` at -O2 and above (its bugs 105329 and 105651).
    target_compile_options(atoll_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(atoll_flags INTERFACE -Wno-deprecated-declarations)   # std::stable_partition's buffer uses a deprecated function
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A class of one source may hold members of types that only this source knows.
    target_compile_options(atoll_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    target_compile_options(atoll_flags INTERFACE -Wno-psabi)   # a note about GCC 10's ABI, not about our code
endif()
target_compile_definitions(atoll_flags INTERFACE ATOLL_BUILD_TYPE="${CMAKE_BUILD_TYPE}"
                                                 ATOLL_SANITIZE="${ATOLL_SANITIZE}")
if(ATOLL_SANITIZE)
    set(_flags -fsanitize=${ATOLL_SANITIZE} -fno-omit-frame-pointer)
    if(ATOLL_SANITIZE MATCHES "undefined")
        list(APPEND _flags -fno-sanitize-recover=all)
    endif()
    if(ATOLL_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # TSan does not see bare fences, of which GCC warns. It then sees less order than there is, so code that it
        # accepts is right. Order that it must see is carried by atomics.
        target_compile_options(atoll_flags INTERFACE -Wno-tsan)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        # GCC's names for what it sanitizes, which our sources ask for.
        if(ATOLL_SANITIZE MATCHES "thread")
            add_compile_definitions(__SANITIZE_THREAD__)
            # The runtime has static objects. Inside the program PEs would share them with the program's own.
            execute_process(COMMAND "${CMAKE_CXX_COMPILER}"
                                    -print-file-name=libclang_rt.tsan-${CMAKE_SYSTEM_PROCESSOR}.so
                            OUTPUT_VARIABLE _runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
            cmake_path(GET _runtime PARENT_PATH _runtime)
            add_link_options(-shared-libsan "-Wl,-rpath,${_runtime}")
        else()
            add_compile_definitions(__SANITIZE_ADDRESS__)
        endif()
        # The library that a program in C links is of C++.
        add_link_options("$<$<LINK_LANGUAGE:C>:-fsanitize-link-c++-runtime;-Wl,--no-as-needed,-lstdc++>")
    endif()
    add_compile_options(${_flags})
    add_link_options(${_flags})
endif()
# Parts that need no speed under sanitizers: fronts of one line a function, the launcher, and the tests.
set(ATOLL_QUICK "")
if(ATOLL_SANITIZE)
    set(ATOLL_QUICK -O0)
endif()
# A library that lacks a symbol does not link. With Clang's sanitizers the program has their symbols.
set(ATOLL_NO_UNDEFINED -Wl,--no-undefined)
if(ATOLL_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(ATOLL_NO_UNDEFINED "")
endif()

# A statically linked C++ library is kept hidden in ours. When its symbols were exported, they replaced those of the
# libstdc++.so that torch uses. Its streams then freed a locale that the other library had made.
set(ATOLL_KEEP_INSIDE -Wl,--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a)
