// Makes a job from the layers of the library.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "common/settings/settings.hpp"
#include "core/job/job_state.hpp"

#include <memory>

namespace atl::front {

/// Collective over the PEs of the bootstrap.
std::unique_ptr<core::JobState> new_job(std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                        const common::Settings& settings);

}  // namespace atl::front
