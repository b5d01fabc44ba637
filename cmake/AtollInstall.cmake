# One tree, installed in two places: the prefix (component atoll), and the folder of the Python package (component
# python, which a wheel contains). Both have lib/, include/, lib/cmake/atoll and lib/pkgconfig, and both are
# relocatable.
if(NOT TARGET atoll)
    return()
endif()
include(CMakePackageConfigHelpers)

# The contents of a wheel, and all that `make` without a target needs.
add_custom_target(atoll_package)
foreach(_target atoll atoll_cuda atoll_shmem atoll_nvshmem atoll_nvshmem_numbered atoll_nvshmem_device atoll_nvshmem_bitcode atoll_cli atoll_bench_core _atoll)
    if(TARGET ${_target})
        add_dependencies(atoll_package ${_target})
    endif()
endforeach()

set(_generated "${PROJECT_BINARY_DIR}/generated/install")
write_basic_package_version_file("${_generated}/atollConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
# The version of NVSHMEM whose names the headers have. Projects ask for the oldest version that has what they use.
write_basic_package_version_file("${_generated}/NVSHMEMConfigVersion.cmake" VERSION 3.8.0 COMPATIBILITY AnyNewerVersion)
configure_file("${PROJECT_SOURCE_DIR}/cmake/atoll.pc.in" "${_generated}/atoll.pc" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/cmake/atoll-shmem.pc.in" "${_generated}/atoll-shmem.pc" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/cmake/atoll-nvshmem.pc.in" "${_generated}/atoll-nvshmem.pc" @ONLY)

function(_atoll_install component root)
    set(_where COMPONENT ${component})
    if(component STREQUAL "python")
        list(APPEND _where EXCLUDE_FROM_ALL)
    endif()
    install(TARGETS atoll atoll_shmem EXPORT atoll_${component} LIBRARY DESTINATION "${root}lib" ${_where}
            INCLUDES DESTINATION "${root}include")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${ATOLL_GENERATED_INCLUDE}/"
                      "${ATOLL_SHMEM_INCLUDE}/" DESTINATION "${root}include"
            ${_where} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cuh")
    install(TARGETS atoll_nvshmem EXPORT atoll_${component} LIBRARY DESTINATION "${root}nvshmem/lib" ${_where}
            INCLUDES DESTINATION "${root}nvshmem/include")
    install(TARGETS atoll_nvshmem_numbered LIBRARY DESTINATION "${root}nvshmem/lib" ${_where})
    install(FILES "$<TARGET_FILE:atoll_nvshmem_device>" "${PROJECT_SOURCE_DIR}/cmake/nvshmem/libnvshmem.so"
            DESTINATION "${root}nvshmem/lib" ${_where})
    if(TARGET atoll_nvshmem_bitcode)
        install(FILES "${ATOLL_BITCODE}" DESTINATION "${root}nvshmem/lib" ${_where})
    endif()
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/nvshmem/NVSHMEMConfig.cmake" "${_generated}/NVSHMEMConfigVersion.cmake"
            DESTINATION "${root}nvshmem/lib/cmake/nvshmem" ${_where})
    install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/nvshmem/nvshmrun" DESTINATION "${root}nvshmem/bin" ${_where})
    foreach(_folder IN LISTS ATOLL_NVSHMEM_INCLUDE)
        install(DIRECTORY "${_folder}/" DESTINATION "${root}nvshmem/include" ${_where}
                FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh")
    endforeach()
    # The headers of kernels again, so that NVSHMEM_HOME alone is enough.
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/atoll/device" DESTINATION "${root}nvshmem/include/atoll" ${_where})
    install(FILES "${PROJECT_SOURCE_DIR}/include/atoll/anywhere.hpp" DESTINATION "${root}nvshmem/include/atoll" ${_where})
    install(EXPORT atoll_${component} FILE atollTargets.cmake NAMESPACE atoll:: DESTINATION "${root}lib/cmake/atoll"
            ${_where})
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/atollConfig.cmake" "${_generated}/atollConfigVersion.cmake"
            DESTINATION "${root}lib/cmake/atoll" ${_where})
    install(FILES "${_generated}/atoll.pc" "${_generated}/atoll-shmem.pc" "${_generated}/atoll-nvshmem.pc" DESTINATION "${root}lib/pkgconfig" ${_where})
endfunction()

# oshcc and oshrun find the tree relative to their own paths, so they need no configuration.
function(_atoll_install_wrappers component folder)
    set(_where DESTINATION "${folder}" COMPONENT ${component})
    if(component STREQUAL "python")
        list(APPEND _where EXCLUDE_FROM_ALL)
    endif()
    install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/oshcc" "${PROJECT_SOURCE_DIR}/cmake/oshrun"
                     "${PROJECT_SOURCE_DIR}/cmake/nvshmem/nvshmrun" ${_where})
    foreach(_name oshc++ oshCC)
        install(PROGRAMS "${PROJECT_SOURCE_DIR}/cmake/oshcc" RENAME ${_name} ${_where})
    endforeach()
endfunction()

# Pages of man, of which that of oshcc has three names.
function(_atoll_install_manual component folder)
    set(_where DESTINATION "${folder}" COMPONENT ${component})
    if(component STREQUAL "python")
        list(APPEND _where EXCLUDE_FROM_ALL)
    endif()
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/cli/man/" ${_where})
    foreach(_name oshc++ oshCC)
        install(FILES "${PROJECT_SOURCE_DIR}/src/cli/man/oshcc.1" RENAME ${_name}.1 ${_where})
    endforeach()
endfunction()

_atoll_install(atoll "")
_atoll_install(python "atoll/")
# A wheel has one of two plug-ins: that of this build, or the one with code for every GPU.
if(TARGET atoll_cuda)
    install(TARGETS atoll_cuda LIBRARY DESTINATION lib COMPONENT atoll)
    install(TARGETS atoll_cuda LIBRARY DESTINATION atoll/lib COMPONENT python_cuda EXCLUDE_FROM_ALL)
endif()
if(TARGET atoll_cuda_every_gpu)
    install(TARGETS atoll_cuda_every_gpu LIBRARY DESTINATION atoll/lib COMPONENT python_every_gpu EXCLUDE_FROM_ALL)
endif()
if(TARGET atoll_cli)
    install(TARGETS atoll_cli RUNTIME DESTINATION bin COMPONENT atoll)
    _atoll_install_manual(atoll share/man/man1)
    set(_scripts "${PROJECT_SOURCE_DIR}/src/cli/shell/completions")
    install(FILES "${_scripts}/atoll.bash" DESTINATION share/bash-completion/completions RENAME atoll COMPONENT atoll)
    install(FILES "${_scripts}/atoll.zsh" DESTINATION share/zsh/site-functions RENAME _atoll COMPONENT atoll)
    install(FILES "${_scripts}/atoll.fish" DESTINATION share/fish/vendor_completions.d COMPONENT atoll)
    _atoll_install_wrappers(atoll bin)
    if(DEFINED SKBUILD_SCRIPTS_DIR)
        install(TARGETS atoll_cli RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python EXCLUDE_FROM_ALL)
        # man finds this folder by that of the commands.
        _atoll_install_manual(python "${SKBUILD_DATA_DIR}/share/man/man1")
        _atoll_install_wrappers(python "${SKBUILD_SCRIPTS_DIR}")
    endif()
endif()
if(TARGET atoll_bench_core)
    install(TARGETS atoll_bench_core RUNTIME DESTINATION libexec/atoll COMPONENT atoll)
    if(DEFINED SKBUILD_SCRIPTS_DIR)
        install(TARGETS atoll_bench_core RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" COMPONENT python EXCLUDE_FROM_ALL)
    endif()
endif()
if(TARGET _atoll)
    install(TARGETS _atoll LIBRARY DESTINATION atoll COMPONENT python EXCLUDE_FROM_ALL)
endif()
# The modules of PyTorch's backend that packaging/torch_modules.py has compiled for a wheel.
set(ATOLL_TORCH_MODULES "" CACHE PATH "Folder of compiled modules for PyTorch; empty: they are compiled at their first use")
if(ATOLL_TORCH_MODULES AND EXISTS "${ATOLL_TORCH_MODULES}")
    install(DIRECTORY "${ATOLL_TORCH_MODULES}/" DESTINATION atoll/_c10d/prebuilt COMPONENT python EXCLUDE_FROM_ALL)
endif()
