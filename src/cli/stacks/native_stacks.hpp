// Stacks in C and C++ of a live PE, as its signal handler wrote them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/stacks/stacks.hpp"
#include "common/recorder/stack_area.hpp"

namespace atl::cli {

/// One mapped file of a process.
struct Object {
    std::uint64_t begin, end, base;  ///< `base` is the address of the file's start
    std::string path;
};

std::vector<Object> objects_of(int pid);
/// The frame at an address of a process.
NamedFrame named(const std::vector<Object>& objects, std::uint64_t address, Lines lines);

/// The stacks of the threads that have answered, the main one first.
PeStacks native_stacks(const common::StackArea& area, int pid, StackDetail detail);

}  // namespace atl::cli
