// Umbrella header of Atoll's C++ API.
#pragma once

#include "atoll/array.hpp"
#include "atoll/context.hpp"
#include "atoll/error.hpp"
#include "atoll/job.hpp"
#include "atoll/lock.hpp"
#include "atoll/mailbox.hpp"
#include "atoll/ops.hpp"
#include "atoll/requests.hpp"
#include "atoll/team.hpp"
#include "atoll/types.hpp"
