// What a language front asks about how this process was started.
#pragma once

#include "atoll/export.hpp"

namespace atl::core {

/// Whether init without options may take a store that a front has found: neither ATOLL_BOOTSTRAP nor a
/// launcher of ours says otherwise. Throws Error(settings).
ATOLL_API bool may_take_store();
/// Whether the environment still has the variable of `atoll run`; init removes it when it joins.
ATOLL_API bool is_invited();

}  // namespace atl::core
