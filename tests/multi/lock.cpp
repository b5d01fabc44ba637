// tests/core/lock_test.cpp with PEs as processes.
#define ATOLL_PES_ARE_PROCESSES
#include "core/lock_test.cpp"
#include "support/multi_main.hpp"
