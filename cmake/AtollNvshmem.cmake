# libnvshmem_host.so: NVSHMEM's host functions over libatoll.so, on the objects of OpenSHMEM's front. The bodies are
# the same, so each library has a copy; they share the process's job, which is libatoll's.
if(NOT TARGET atoll_shmem)
    return()
endif()
file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/nvshmem/*.cpp"
     "${PROJECT_SOURCE_DIR}/api/generated/nvshmem/*.cpp")
set(_nvshmem_exports "${PROJECT_SOURCE_DIR}/api/generated/nvshmem/exports.map")
add_library(atoll_nvshmem SHARED ${_sources} $<TARGET_OBJECTS:atoll_shmem_front>)
add_library(atoll::nvshmem ALIAS atoll_nvshmem)
set(ATOLL_NVSHMEM_INCLUDE "${PROJECT_SOURCE_DIR}/include_nvshmem" "${PROJECT_SOURCE_DIR}/api/generated/nvshmem/include")
# It has folders of its own (nvshmem/include, nvshmem/lib), so that no build takes these headers for NVIDIA's unasked.
set_target_properties(atoll_nvshmem PROPERTIES EXPORT_NAME nvshmem OUTPUT_NAME nvshmem_host INSTALL_RPATH "$ORIGIN/../../lib"
                                               LINK_DEPENDS "${_nvshmem_exports}")
target_include_directories(atoll_nvshmem PUBLIC "$<BUILD_INTERFACE:${ATOLL_NVSHMEM_INCLUDE}>"
                                         PRIVATE "${PROJECT_SOURCE_DIR}/include" "${ATOLL_SHMEM_INCLUDE}"
                                                 "${PROJECT_SOURCE_DIR}/src" "${ATOLL_GENERATED_INCLUDE}")
target_compile_definitions(atoll_nvshmem PRIVATE ATOLL_NVSHMEM_WITHOUT_CUDA)
target_link_libraries(atoll_nvshmem PRIVATE atoll atoll_flags Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(atoll_nvshmem PRIVATE ${ATOLL_NO_UNDEFINED} "-Wl,--version-script=${_nvshmem_exports}")
target_compile_options(atoll_nvshmem PRIVATE $<$<CONFIG:Release>:-O2> ${ATOLL_QUICK})
# The name of NVIDIA's library file, for programs and ctypes that ask for it. It is a filter: the loader takes its names
# from libnvshmem_host.so beside it. (A wheel would hold a link as a copy, so that a process could load the library twice.)
add_library(atoll_nvshmem_numbered SHARED "${PROJECT_SOURCE_DIR}/api/generated/nvshmem/numbered/names.cpp")
set_target_properties(atoll_nvshmem_numbered PROPERTIES OUTPUT_NAME nvshmem_host SUFFIX ".so.3" BUILD_RPATH "$ORIGIN"
                                                        INSTALL_RPATH "$ORIGIN" UNITY_BUILD OFF)
target_link_libraries(atoll_nvshmem_numbered PRIVATE atoll_flags)
target_link_options(atoll_nvshmem_numbered PRIVATE "-Wl,--filter=libnvshmem_host.so" "-Wl,-soname,libnvshmem_host.so.3")
add_dependencies(atoll_nvshmem_numbered atoll_nvshmem)
# Programs of NVSHMEM link -lnvshmem_device, too. Functions of kernels are in the headers here, so it is almost empty.
add_library(atoll_nvshmem_device STATIC "${PROJECT_SOURCE_DIR}/src/nvshmem/device_library/version.cpp")
set_target_properties(atoll_nvshmem_device PROPERTIES OUTPUT_NAME nvshmem_device POSITION_INDEPENDENT_CODE ON)
target_link_libraries(atoll_nvshmem_device PRIVATE atoll_flags)
