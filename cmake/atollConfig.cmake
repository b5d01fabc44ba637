# find_package(atoll) gives the target atoll::atoll.
include("${CMAKE_CURRENT_LIST_DIR}/atollTargets.cmake")
