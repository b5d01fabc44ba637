# Compiles for older systems, or for another machine, against the C library of a sysroot (scripts/wheels.sh makes one).
# Debian's GCC has no C++ library for them, so it is linked statically, but for exceptions (exceptions.map).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ATOLL_SYSROOT ATOLL_MACHINE)
set(_triplet ${ATOLL_MACHINE}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${ATOLL_MACHINE})
set(CMAKE_SYSROOT "${ATOLL_SYSROOT}")
set(CMAKE_CXX_COMPILER ${_triplet}-g++)
set(CMAKE_C_COMPILER ${_triplet}-gcc)

# The folders of headers that GCC has, without those of a cross-compiler's own, newer C library.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} "--sysroot=${CMAKE_SYSROOT}" -E -v -x c++ /dev/null
                OUTPUT_QUIET ERROR_VARIABLE _report)
string(REGEX REPLACE ".*include <[^\n]*\n(.*)End of search.*" "\\1" _folders "${_report}")
string(STRIP "${_folders}" _folders)
string(REGEX REPLACE "[ \n]+" ";" _folders "${_folders}")
list(FILTER _folders EXCLUDE REGEX "/${_triplet}/include$")
list(TRANSFORM _folders PREPEND "-isystem ")
list(JOIN _folders " " _folders)
set(CMAKE_CXX_FLAGS_INIT "-nostdinc ${_folders} -include ${CMAKE_CURRENT_LIST_DIR}/old_glibc.hpp")

set(_root "${CMAKE_SYSROOT}")
set(_flags "-B${_root}/usr/lib/${_triplet} -L${_root}/lib/${_triplet} -L${_root}/usr/lib/${_triplet} -static-libstdc++")
string(APPEND _flags " -Wl,--push-state,--no-as-needed,${_root}/usr/lib/${_triplet}/libexceptions.so,--pop-state")
# The C++ library stays hidden in each file, for the reason at ATOLL_KEEP_INSIDE.
string(APPEND _flags " -Wl,--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a")
foreach(_kind EXE SHARED MODULE)
    set(CMAKE_${_kind}_LINKER_FLAGS_INIT "${_flags}")
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
