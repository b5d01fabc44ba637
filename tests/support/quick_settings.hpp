// Settings of a job whose start fails soon, for tests of bootstraps.
#pragma once

#include "common/settings/settings.hpp"

namespace atl::test {

inline common::Settings quick_settings(double init_timeout_s = 20) {
    common::Settings settings;
    settings.init_timeout_s = init_timeout_s;
    return settings;
}

}  // namespace atl::test
