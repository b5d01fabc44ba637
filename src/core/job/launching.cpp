#include "core/job/launching.hpp"

#include "bootstrap/bootstrap.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::core {

bool may_take_store() { return bootstrap::may_take_store(common::read_settings()); }

bool is_invited() {
    const common::JobEnvironment environment = common::read_job_environment();
    return !environment.launched.empty() || !environment.join.empty();
}

}  // namespace atl::core
