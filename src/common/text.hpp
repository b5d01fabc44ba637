// Numbers and lists as readable text, and names of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atoll/export.hpp"

namespace atl::common {

/// Returns a text such as "512 MiB", "1.5 GiB", or "17 bytes".
std::string bytes_text(std::uint64_t bytes);
/// Returns a text such as "0.25 s" or "12.3 s".
std::string elapsed_text(double seconds);
/// Returns a text such as "0x7f00…".
std::string address_text(const void* address);
/// A float (4 bytes) or a double by its bits: "0.25".
std::string floating_text(std::uint64_t bits, int bytes);
/// A list in English: "a", "a and b", "a, b and c".
ATOLL_API std::string list_text(const std::vector<std::string>& names);
/// The words of a text, which spaces separate.
std::vector<std::string> words_of(std::string_view text);
/// The last part of a path.
constexpr std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace atl::common
