// Names of symmetric memory in errors: the array, and the line that allocated it.
#pragma once

#include "calls/py.hpp"

#include <cstddef>
#include <string>

namespace atl::python {

/// Records the name of `bytes` from `address`: `what`, elements of `item` bytes, allocated at the caller's
/// line. An example of `what` is "int64 array of shape (8,)".
void name_memory(const void* address, std::size_t bytes, std::size_t item, std::string what);
void forget_name(const void* address) noexcept;
/// Forgets all names. Call it at the end of a job: the next one may reuse the addresses.
void forget_names() noexcept;

/// The name of any address in known memory, such as "element 3 of the int64 array of shape (8,) allocated at
/// ring.py:12". Empty for other addresses. Needs no GIL.
std::string name_of(const void* address);
/// The same without the element.
std::string array_name(const void* address);

}  // namespace atl::python
