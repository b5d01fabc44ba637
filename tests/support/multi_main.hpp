// main() of the programs of tests/multi: the PEs that the launcher started run the same suites in step. The
// first failure ends the program: PEs out of step, or a heap left full, would fail the tests after it.
#pragma once

#include "atoll/atoll.hpp"

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    atl::init();
    ::testing::GTEST_FLAG(fail_fast) = true;  // the command line may say otherwise
    ::testing::InitGoogleTest(&argc, argv);
    // One PE tells what is run; what fails is told by whoever sees it.
    if (atl::current_job().my_pe() != 0) {
        auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
        struct Failures : ::testing::EmptyTestEventListener {
            void OnTestPartResult(const ::testing::TestPartResult& result) override {
                if (result.failed())
                    std::fprintf(stderr, "%s:%d: %s\n", result.file_name() ? result.file_name() : "?",
                                 result.line_number(), result.message());
            }
        };
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new Failures);
    }
    int status = RUN_ALL_TESTS();
    if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
        std::fprintf(stderr, "no test of this program has the name that --gtest_filter asks for\n");
        status = 1;
    }
    if (status == 0) atl::finalize();  // a PE that failed need not wait for those that hang because of it
    return status;
}
