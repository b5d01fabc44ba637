// tests/device/words_test.cpp with PEs as processes.
#define ATOLL_PES_ARE_PROCESSES
#include "device/words_test.cpp"
#include "support/multi_main.hpp"
