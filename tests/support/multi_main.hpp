// main() of the programs of tests/multi: the PEs that the launcher started run the same suites in step.
#pragma once

#include "atoll/atoll.hpp"

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
    atl::init();
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
    const int status = RUN_ALL_TESTS();
    if (status == 0) atl::finalize();  // a PE that failed need not wait for those that hang because of it
    return status;
}
