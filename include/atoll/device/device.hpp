// All functions for kernels, except atomics of half types (atoll/device/half.hpp) and launches
// (atoll/device/launch.hpp). C++17; under NVRTC it needs no host header.
#pragma once

#include "atoll/device/atomics.hpp"
#include "atoll/device/collectives.hpp"
#include "atoll/device/local.hpp"
#include "atoll/device/mailbox.hpp"
#include "atoll/device/rma.hpp"
#include "atoll/device/signals.hpp"
#include "atoll/device/sync.hpp"
#include "atoll/device/tile_modes.hpp"
#include "atoll/device/trace.hpp"
#include "atoll/device/waits.hpp"
