# The module _atoll: thin bindings of the shared library, which is beside it in lib/.
file(GLOB_RECURSE ATOLL_PYTHON_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*.cpp")
set(ATOLL_PYTHON_HEADERS "" CACHE PATH "Headers of the Python that the module is for; empty: those of the Python that builds")
if(NOT ATOLL_PYTHON OR NOT ATOLL_PYTHON_SOURCES OR NOT TARGET atoll OR (CMAKE_CROSSCOMPILING AND NOT ATOLL_PYTHON_HEADERS))
    return()
endif()

# A wheel must have the module. A plain C++ build has it if Python allows, and reports it if not.
function(_atoll_no_python reason)
    if(DEFINED SKBUILD)
        message(FATAL_ERROR "${reason}")
    endif()
    message(STATUS "Atoll: no Python module (${reason})")
endfunction()

if(ATOLL_PYTHON_HEADERS)
    # CMake seeks headers only of the Python that it runs, so what nanobind reads of its result is set here.
    find_package(Python 3.10 QUIET COMPONENTS Interpreter)
    file(STRINGS "${ATOLL_PYTHON_HEADERS}/patchlevel.h" _line REGEX "define PY_VERSION +")
    string(REGEX REPLACE ".*\"([0-9]+)\\.([0-9]+).*" "\\1.\\2" Python_VERSION "${_line}")
    string(REPLACE "." "" _digits "${Python_VERSION}")
    file(STRINGS "${ATOLL_PYTHON_HEADERS}/pyconfig.h" _no_gil REGEX "define Py_GIL_DISABLED 1")
    if(_no_gil)
        string(APPEND _digits t)   # nanobind reads from this name that the module is for a free-threaded Python
    endif()
    set(SKBUILD_SOABI "cpython-${_digits}-${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
    set(SKBUILD_SOSABI abi3)
    set(Python_INCLUDE_DIRS "${ATOLL_PYTHON_HEADERS}")
    add_library(Python::Module INTERFACE IMPORTED)
    add_library(Python::SABIModule INTERFACE IMPORTED)
    set(_abi STABLE_ABI)   # from 3.12 on, if it has a GIL
else()
    find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
    set(_abi)
endif()
if(NOT Python_FOUND)
    _atoll_no_python("Atoll needs Python 3.10 or newer with its development headers.")
    return()
endif()
execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
            "import numpy, nanobind; print(numpy.__version__, numpy.get_include(), nanobind.cmake_dir(), sep='|')"
    OUTPUT_VARIABLE _found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT _found)
    _atoll_no_python("Atoll needs NumPy 2 or newer and nanobind 3 or newer in ${Python_EXECUTABLE}.")
    return()
endif()
string(REPLACE "|" ";" _found "${_found}")
list(GET _found 0 _numpy_version)
list(GET _found 1 _numpy_include)
list(GET _found 2 _nanobind_dir)
if(_numpy_version VERSION_LESS 2)
    _atoll_no_python("Atoll needs NumPy 2 or newer; ${Python_EXECUTABLE} has ${_numpy_version}.")
    return()
endif()
find_package(nanobind 3 CONFIG REQUIRED PATHS "${_nanobind_dir}" NO_DEFAULT_PATH)

# Optimised for speed rather than size. A module for given headers of Python 3.12 or newer is for the stable ABI, so that
# one wheel serves all these Pythons. Others are for the Python of the build, whose own ABI is a little faster. The
# domain is separate because __signature__ is added to nanobind's type of methods, which the modules of a domain
# share.
nanobind_add_module(_atoll ${_abi} FREE_THREADED NB_STATIC NB_DOMAIN atoll NOMINSIZE NOSTRIP NB_SUPPRESS_WARNINGS ${ATOLL_PYTHON_SOURCES})
target_include_directories(_atoll SYSTEM PRIVATE "${_numpy_include}")
target_include_directories(_atoll PRIVATE "${PROJECT_SOURCE_DIR}/python/src" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(_atoll PRIVATE NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION
                                          NPY_TARGET_VERSION=NPY_2_0_API_VERSION)
target_link_libraries(_atoll PRIVATE atoll atoll_flags)
# Compiled alone: sources with helpers of the same names, large templates, and the device headers compiled for a trace.
set(_alone "/(module|kernel_trace|strided|shmem|rma|waits|atomics|boxes|pool|device_array|stream_arguments|names|method_errors)[.]cpp$")
foreach(_source IN LISTS ATOLL_PYTHON_SOURCES)
    if(_source MATCHES "${_alone}")
        set_source_files_properties("${_source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
endforeach()
set_target_properties(_atoll PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python"
                                        INSTALL_RPATH "$ORIGIN/lib")
