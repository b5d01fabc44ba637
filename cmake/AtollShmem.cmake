# libatoll_shmem.so: OpenSHMEM's C names over libatoll.so. api/generated is the output of api/generate.py. It is
# committed, so a build needs no Python; tests/layout checks that it is up to date.
if(NOT TARGET atoll)
    return()
endif()
file(GLOB _front CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/shmem/*.cpp")
list(FILTER _front EXCLUDE REGEX "/extensions\\.cpp$")   # names of the library's own
file(GLOB ATOLL_SHMEM_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/generated/*.cpp")
set(ATOLL_SHMEM_INCLUDE "${PROJECT_SOURCE_DIR}/api/generated/include")
set(_exports "${PROJECT_SOURCE_DIR}/api/generated/exports.map")

# Also in libnvshmem_host.so.
add_library(atoll_shmem_front OBJECT ${_front})
target_include_directories(atoll_shmem_front PRIVATE "${PROJECT_SOURCE_DIR}/include" "${ATOLL_SHMEM_INCLUDE}"
                                                     "${PROJECT_SOURCE_DIR}/src" "${ATOLL_GENERATED_INCLUDE}")
target_link_libraries(atoll_shmem_front PRIVATE atoll atoll_flags)
target_compile_options(atoll_shmem_front PRIVATE $<$<CONFIG:Release>:-O2> ${ATOLL_QUICK})
add_library(atoll_shmem SHARED ${ATOLL_SHMEM_SOURCES} "${PROJECT_SOURCE_DIR}/src/shmem/extensions.cpp"
            $<TARGET_OBJECTS:atoll_shmem_front>)
add_library(atoll::shmem ALIAS atoll_shmem)
set_target_properties(atoll_shmem PROPERTIES EXPORT_NAME shmem INSTALL_RPATH "$ORIGIN" LINK_DEPENDS "${_exports}")
target_include_directories(atoll_shmem PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<BUILD_INTERFACE:${ATOLL_SHMEM_INCLUDE}>
                                       PRIVATE "${PROJECT_SOURCE_DIR}/src" "${ATOLL_GENERATED_INCLUDE}")
target_link_libraries(atoll_shmem PRIVATE atoll atoll_flags Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(atoll_shmem PRIVATE ${ATOLL_NO_UNDEFINED} "-Wl,--version-script=${_exports}")
# 1,788 thunks: -O3 would only make them larger, and slower to compile.
target_compile_options(atoll_shmem PRIVATE $<$<CONFIG:Release>:-O2> ${ATOLL_QUICK})
