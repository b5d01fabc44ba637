// The error of a call, for tests of its text.
#pragma once

#include "atoll/error.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace atl::testing {

/// The sentence of the Error that `body` throws. Expects this code; a body that does not throw is a failure.
inline std::string error_of(const std::function<void()>& body, ErrorCode code) {
    try {
        body();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

}  // namespace atl::testing
