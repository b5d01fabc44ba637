// main() of the programs of tests/multi: the launched PEs run the same suites in step. The first failure ends
// the program: PEs out of step, or a full heap, would fail later tests.
#pragma once

#include "atoll/atoll.hpp"

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    atl::init();
    ::testing::GTEST_FLAG(fail_fast) = true;  // the command line may say otherwise
    ::testing::InitGoogleTest(&argc, argv);
    // PE 0 reports the tests; each PE reports its own failures.
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
    if (status == 0) atl::finalize();  // a PE that failed need not wait for those that hang as a result
    return status;
}
