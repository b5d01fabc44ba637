// Where the program called the library, for errors: the front's file and line, or the caller's function.
#pragma once

#include <string>

namespace atl::common {

/// "program.py:12", "main+0x4f (./program)", or empty where it cannot be known. Slow. `hook_state` is what
/// WaitHooks::enter gave, null outside a wait.
std::string call_site(void* hook_state);

}  // namespace atl::common
