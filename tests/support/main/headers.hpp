// Headers that the tests include, for precompilation. None depends on macros of a test.
#pragma once

#include "support/pe_threads.hpp"
#include "transport/ucx/ucx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
