// The tests of a program as one PE of a launched job: all PEs run the same suites in step.
#pragma once

#include "atoll/atoll.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fnmatch.h>
#include <sstream>
#include <string>

namespace atl::testing {

/// True if one of the patterns, separated by colons, matches.
inline bool matches_any(const std::string& patterns, const std::string& name) {
    std::istringstream each(patterns);
    for (std::string pattern; std::getline(each, pattern, ':');)
        if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    return false;
}

/// Narrows --gtest_filter to the tests of a source file, such as core/rma_test.cpp.
inline void keep_tests_of(const std::string& file) {
    const std::string given = ::testing::GTEST_FLAG(filter);
    const std::size_t minus = given.find('-');
    const std::string wanted = minus == 0 ? "*" : given.substr(0, minus);
    const std::string unwanted = minus == std::string::npos ? "" : given.substr(minus + 1);
    std::string kept;
    const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < tests.total_test_suite_count(); ++i) {
        const ::testing::TestSuite& suite = *tests.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const ::testing::TestInfo& test = *suite.GetTestInfo(j);
            const std::string path = test.file(), name = std::string(suite.name()) + "." + test.name();
            if (path.ends_with("/" + file) && matches_any(wanted, name) && !matches_any(unwanted, name))
                kept += (kept.empty() ? "" : ":") + name;
        }
    }
    ::testing::GTEST_FLAG(filter) = kept.empty() ? "-*" : kept;
}

/// Runs all tests, or those of one source file. The first failure ends the program: PEs out of step, or a
/// full heap, would fail later tests. Returns the exit status.
inline int run_as_pe(int argc, char** argv, const char* file = nullptr) {
    atl::init();
    ::testing::GTEST_FLAG(fail_fast) = true;  // the command line may say otherwise
    ::testing::InitGoogleTest(&argc, argv);
    if (file != nullptr) keep_tests_of(file);
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

}  // namespace atl::testing
