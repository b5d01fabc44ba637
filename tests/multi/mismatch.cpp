// tests/collective/mismatch_test.cpp with PEs as processes.
#define ATOLL_PES_ARE_PROCESSES
#include "collective/mismatch_test.cpp"
#include "support/multi_main.hpp"
