// How this process was started, for language fronts.
#pragma once

#include "atoll/export.hpp"

namespace atl::core {

/// True if init without options may use a store that a front has found, since neither ATOLL_BOOTSTRAP nor our
/// launcher decides otherwise. Throws Error(settings).
ATOLL_API bool may_take_store();
/// True while the environment has a variable of `atoll run`, with or without --hosts; init removes it on
/// joining.
ATOLL_API bool is_invited();

}  // namespace atl::core
