// main() of core_tests and collective_tests. Their PEs are threads. With ATOLL_TEST_SUITE=core/rma_test.cpp
// (one of tests/multi/suites.txt) the process is a PE of a launched job, and runs the tests of that file.
#include "support/as_pe.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
    const char* suite = std::getenv("ATOLL_TEST_SUITE");
    if (suite != nullptr) return atl::testing::run_as_pe(argc, argv, suite);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
