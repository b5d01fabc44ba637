#include "common/text.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace atl::common {

std::string bytes_text(std::uint64_t bytes) {
    static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    double value = static_cast<double>(bytes);
    int unit = -1;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        ++unit;
    }
    char buffer[48];
    const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
    std::snprintf(buffer, sizeof buffer, whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return buffer;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) found.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

std::string elapsed_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    return text;
}

std::string address_text(const void* address) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%p", address);
    return buffer;
}

std::string floating_text(std::uint64_t bits, int bytes) {
    const double number =
        bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    return text;
}

std::string list_text(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

}  // namespace atl::common
