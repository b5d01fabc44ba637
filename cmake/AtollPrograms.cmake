# Examples and benchmarks: each source file is a program named as the file, linked to the shared library as a user's
# would be. They stand in examples/ and bench/ of the build tree.
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

if(NOT TARGET atoll)
    return()
endif()
if(ATOLL_EXAMPLES)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*/*.cpp")
    atoll_add_programs(examples ${_sources})
endif()
if(ATOLL_BENCH)
    file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
    atoll_add_programs(bench ${_sources})
endif()

# `atoll bench` looks for this one beside the launcher. Like the launcher it holds the static core, so that it runs from
# wherever a wheel puts it; comparisons (bench/compare.py) use bench/core, which calls the shared library as users do.
if(TARGET atoll_cli AND EXISTS "${PROJECT_SOURCE_DIR}/bench/core.cpp")
    add_executable(atoll_bench_core "${PROJECT_SOURCE_DIR}/bench/core.cpp")
    set_target_properties(atoll_bench_core PROPERTIES OUTPUT_NAME atoll-bench-core)
    target_link_libraries(atoll_bench_core PRIVATE atoll_core atoll_flags)
endif()
