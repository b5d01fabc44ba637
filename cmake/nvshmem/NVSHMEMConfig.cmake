# find_package(NVSHMEM) for projects written for NVSHMEM, answered by Atoll. The targets nvshmem::nvshmem,
# nvshmem::nvshmem_host and nvshmem::nvshmem_device have the headers and link libnvshmem_host.so. Functions of kernels are
# in the headers, so nvshmem::nvshmem_device adds no code, and needs no separable compilation.
get_filename_component(NVSHMEM_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(NVSHMEM_HOME "${NVSHMEM_PREFIX}")
set(NVSHMEM_INCLUDE_DIR "${NVSHMEM_PREFIX}/include")
set(NVSHMEM_INCLUDE_DIRS "${NVSHMEM_INCLUDE_DIR}")
set(NVSHMEM_LIBRARY_DIR "${NVSHMEM_PREFIX}/lib")
set(NVSHMEM_LIBRARIES nvshmem::nvshmem)
if(NOT TARGET nvshmem::nvshmem_host)
    add_library(nvshmem::nvshmem_host SHARED IMPORTED)
    set_target_properties(nvshmem::nvshmem_host PROPERTIES IMPORTED_LOCATION "${NVSHMEM_LIBRARY_DIR}/libnvshmem_host.so"
                                                           IMPORTED_SONAME libnvshmem_host.so
                                                           INTERFACE_INCLUDE_DIRECTORIES "${NVSHMEM_INCLUDE_DIR}")
    add_library(nvshmem::nvshmem_device STATIC IMPORTED)
    set_target_properties(nvshmem::nvshmem_device PROPERTIES IMPORTED_LOCATION "${NVSHMEM_LIBRARY_DIR}/libnvshmem_device.a"
                                                             INTERFACE_INCLUDE_DIRECTORIES "${NVSHMEM_INCLUDE_DIR}")
    add_library(nvshmem::nvshmem INTERFACE IMPORTED)
    set_target_properties(nvshmem::nvshmem PROPERTIES INTERFACE_LINK_LIBRARIES nvshmem::nvshmem_host)
endif()
