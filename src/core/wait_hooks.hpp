// The hooks of a language front, which looks no deeper than core.
#pragma once

#include "common/wait_hooks.hpp"

namespace atl::core {

using common::set_wait_hooks;
using common::WaitHooks;

}  // namespace atl::core
