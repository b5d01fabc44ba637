// The wait hooks of language fronts, which include no layer below core.
#pragma once

#include "common/wait_hooks.hpp"

namespace atl::core {

using common::set_wait_hooks;
using common::WaitHooks;

}  // namespace atl::core
