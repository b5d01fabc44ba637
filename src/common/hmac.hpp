// HMAC-SHA-256 (RFC 2104, FIPS 180-4): how a PE proves that it knows a secret without sending it. Written
// here, because the library is to need nothing at run time: the kernel's (AF_ALG) is closed in many
// containers, and OpenSSL's and libsodium's names differ between the systems that one wheel serves.
#pragma once

#include <string>
#include <string_view>

namespace atl::common {

/// 64 hexadecimal digits.
std::string hmac_sha256(std::string_view key, std::string_view text);
std::string sha256(std::string_view text);  ///< the same form
/// Takes the same time wherever they differ.
bool equal_secrets(std::string_view a, std::string_view b) noexcept;
/// `bytes` random bytes of the kernel's, as hexadecimal digits. Throws Error(system).
std::string random_digits(std::size_t bytes);

}  // namespace atl::common
