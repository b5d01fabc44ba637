# Reports in one sentence that a platform is not supported, before a compiler reports it in many.
include(CheckCXXSourceCompiles)

set(_supported "Atoll supports Linux on x86-64 and aarch64 with glibc 2.31 or newer")
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(FATAL_ERROR "${_supported}; this is ${CMAKE_SYSTEM_NAME}.")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    message(FATAL_ERROR "${_supported}; this processor is ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
    message(FATAL_ERROR "Atoll needs C++20 from GCC 11, Clang 14 or newer; "
                        "this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.")
endif()
check_cxx_source_compiles("
    #include <features.h>
    #if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 31)
    #error too old
    #endif
    int main() {}" ATOLL_HAS_GLIBC_2_31)
if(NOT ATOLL_HAS_GLIBC_2_31)
    message(FATAL_ERROR "${_supported}; this C library is another or an older one.")
endif()
