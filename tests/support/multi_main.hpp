// main() of the programs in tests/multi and tests/gpu.
#pragma once

#include "support/as_pe.hpp"

int main(int argc, char** argv) { return atl::testing::run_as_pe(argc, argv); }
