# find_package(atoll) gives the targets atoll::atoll (C++), atoll::shmem (OpenSHMEM in C and C++) and
# atoll::nvshmem (NVSHMEM's host functions). All of them exist, so that COMPONENTS only names the ones that are used.
include("${CMAKE_CURRENT_LIST_DIR}/atollTargets.cmake")

foreach(_atoll_component IN LISTS atoll_FIND_COMPONENTS)
    if(TARGET "atoll::${_atoll_component}")
        set("atoll_${_atoll_component}_FOUND" TRUE)
    elseif(atoll_FIND_REQUIRED_${_atoll_component})
        set(atoll_FOUND FALSE)
        set(atoll_NOT_FOUND_MESSAGE
            "there is no component ${_atoll_component}; the components are atoll, shmem and nvshmem")
    endif()
endforeach()
unset(_atoll_component)
