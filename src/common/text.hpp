// Numbers as readable text.
#pragma once

#include <cstdint>
#include <string>

namespace atl::common {

/// "512 MiB", "1.5 GiB", "17 bytes".
std::string bytes_text(std::uint64_t bytes);
/// "0.25 s", "12.3 s".
std::string elapsed_text(double seconds);
/// "0x7f00…".
std::string address_text(const void* address);

}  // namespace atl::common
