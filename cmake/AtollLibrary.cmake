# The library, twice from the same objects. The static atoll_core is for our own programs and tests, which use
# internals. The shared library atoll is for users and exports only ATOLL_API.
set(_layers common bootstrap memory transport gpu core collective stream front)
set(ATOLL_CORE_SOURCES)
foreach(_layer IN LISTS _layers)
    file(GLOB_RECURSE _found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${_layer}/*.cpp")
    list(APPEND ATOLL_CORE_SOURCES ${_found})
endforeach()
list(FILTER ATOLL_CORE_SOURCES EXCLUDE REGEX "/src/gpu/cuda/")   # the plug-in, a library of its own
# UCX is loaded at run time, and src/transport/ucx/interface.hpp declares it. Sanitizers go without: LeakSanitizer crashes
# in processes with UCX's threads, and ThreadSanitizer does not see UCX's locks.
if(ATOLL_SANITIZE)
    list(FILTER ATOLL_CORE_SOURCES EXCLUDE REGEX "/transport/ucx/[^/]*\\.cpp$")
    list(APPEND ATOLL_CORE_SOURCES "${PROJECT_SOURCE_DIR}/src/transport/ucx/absent.cpp")
else()
    list(FILTER ATOLL_CORE_SOURCES EXCLUDE REGEX "/transport/ucx/absent\\.cpp$")
endif()
# Reductions give the same bits on every machine: the compiler must not fuse multiplication and addition.
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/collective/folds/host_folds.cpp" PROPERTIES COMPILE_OPTIONS
                            -ffp-contract=off)
file(GLOB_RECURSE ATOLL_CLI_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cpp")

set(ATOLL_GENERATED_INCLUDE "${PROJECT_BINARY_DIR}/generated/include")
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.hpp.in" "${ATOLL_GENERATED_INCLUDE}/atoll/version.hpp" @ONLY)

if(NOT ATOLL_CORE_SOURCES)
    message(STATUS "Atoll: no library sources, so nothing to build")
    return()
endif()

add_library(atoll_core STATIC ${ATOLL_CORE_SOURCES})
target_compile_features(atoll_core PUBLIC cxx_std_20)
target_include_directories(atoll_core PUBLIC "${PROJECT_SOURCE_DIR}/include" "${ATOLL_GENERATED_INCLUDE}"
                                             "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(atoll_core PUBLIC Threads::Threads ${CMAKE_DL_LIBS}
                                         PRIVATE $<BUILD_INTERFACE:atoll_flags>)

# Both the file and its soname are libatoll.so. Before 1.0 there is no ABI to version, and a wheel cannot contain the
# symbolic links that a versioned name needs.
add_library(atoll SHARED $<TARGET_OBJECTS:atoll_core>)
add_library(atoll::atoll ALIAS atoll)
target_compile_features(atoll INTERFACE cxx_std_20)
target_include_directories(atoll INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           $<BUILD_INTERFACE:${ATOLL_GENERATED_INCLUDE}>)
target_link_libraries(atoll PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(atoll PRIVATE ${ATOLL_NO_UNDEFINED} ${ATOLL_KEEP_INSIDE})

# The launcher contains the static core, so that it is one file that runs wherever it is copied.
if(ATOLL_CLI_SOURCES)
    find_package(CLI11 QUIET)
    find_package(nlohmann_json QUIET)
    if(NOT CLI11_FOUND OR NOT nlohmann_json_FOUND)
        message(FATAL_ERROR "Atoll's launcher needs CLI11 and nlohmann-json; "
                            "on Debian: apt-get install libcli11-dev nlohmann-json3-dev.")
    endif()
    # Those that read CLI11 or JSON come first, so that one unit of a unity build reads these large headers.
    set(_first)
    foreach(_source IN LISTS ATOLL_CLI_SOURCES)
        file(STRINGS "${_source}" _large REGEX "^#include .*(nlohmann/json|command/parse|top/table|page/page_data|page/time_line)[.]hpp" LIMIT_COUNT 1)
        if(_large)
            list(APPEND _first "${_source}")
        endif()
    endforeach()
    list(REMOVE_ITEM ATOLL_CLI_SOURCES ${_first})
    list(LENGTH _first _unit)
    add_executable(atoll_cli ${_first} ${ATOLL_CLI_SOURCES})
    set_target_properties(atoll_cli PROPERTIES UNITY_BUILD_BATCH_SIZE ${_unit})
    set_target_properties(atoll_cli PROPERTIES OUTPUT_NAME atoll)
    include(AtollPage)
    atoll_embed_page(atoll_cli)
    include(AtollCompletion)
    atoll_embed_completion(atoll_cli)
    target_compile_options(atoll_cli PRIVATE $<$<CONFIG:Release>:-O1> ${ATOLL_QUICK})   # it mostly waits; CLI11 and JSON are large
    target_link_libraries(atoll_cli PRIVATE atoll_core atoll_flags CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
