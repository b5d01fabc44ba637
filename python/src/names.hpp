// Names of symmetric memory in errors: the array, and the line that allocated it.
#pragma once

#include "py.hpp"

#include <cstddef>
#include <string>

namespace atl::python {

/// Remembers `bytes` from `address` as `what`, elements of `item` bytes, allocated at the caller's line.
/// `what` is such as "int64 array of shape (8,)".
void name_memory(const void* address, std::size_t bytes, std::size_t item, std::string what);
void forget_name(const void* address) noexcept;
/// Forgets all: at the end of a job, whose addresses the next one may have again.
void forget_names() noexcept;

/// "element 3 of the int64 array of shape (8,) allocated at ring.py:12", for any address in it; empty where
/// no array is known. Needs no GIL.
std::string name_of(const void* address);
/// The same without the element.
std::string array_name(const void* address);

}  // namespace atl::python
