#include "common/wait_hooks.hpp"

namespace atl::common {

static WaitHooks process_hooks;
void set_wait_hooks(const WaitHooks& hooks) noexcept { process_hooks = hooks; }
const WaitHooks& wait_hooks() noexcept { return process_hooks; }

}  // namespace atl::common
