// HMAC-SHA-256 (RFC 2104, FIPS 180-4): proves that a PE knows a secret without sending it. Implemented here,
// because the library needs nothing at run time. The kernel's (AF_ALG) is disabled in many containers, and
// the names of OpenSSL and libsodium differ between systems.
#pragma once

#include <string>
#include <string_view>

namespace atl::common {

/// 64 hexadecimal digits.
std::string hmac_sha256(std::string_view key, std::string_view text);
std::string sha256(std::string_view text);  ///< the same form
/// Compares in a time that does not depend on the first difference.
bool equal_secrets(std::string_view a, std::string_view b) noexcept;
/// `bytes` random bytes of the kernel's, as hexadecimal digits. Throws Error(system).
std::string random_digits(std::size_t bytes);

}  // namespace atl::common
