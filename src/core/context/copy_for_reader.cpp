// Copies whose data another core reads next. From a measured size on
// (docs/measurements/2026-11-21-primitives.md) they bypass the cache. Lines that are dirty in this core's
// cache reach a peer at a tenth of memory's speed.
#include "atoll/detail/context_base.hpp"

#include <cstring>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#endif

namespace atl::detail {

namespace {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/// Streams whole 64-byte lines of `dst`; memcpy copies the partial lines at the ends.
void stream(char* dst, const char* src, std::size_t bytes) noexcept {
    const std::size_t head = (64 - (reinterpret_cast<std::uintptr_t>(dst) & 63)) & 63;
    std::memcpy(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, dst += 64, src += 64) {
        const auto* from = reinterpret_cast<const __m128i*>(src);
        auto* to = reinterpret_cast<__m128i*>(dst);
        const __m128i a = _mm_loadu_si128(from);
        const __m128i b = _mm_loadu_si128(from + 1);
        const __m128i c = _mm_loadu_si128(from + 2);
        const __m128i d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
    std::memcpy(dst, src, bytes);
    // The release store of a flag does not order streaming stores; this fence does.
    _mm_sfence();
}
#endif
}  // namespace

void copy_for_reader(void* dst, const void* src, std::size_t bytes,
                     [[maybe_unused]] std::size_t nontemporal_bytes) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    // Short copies may contain no whole line.
    if (bytes >= nontemporal_bytes && bytes >= 256)
        return stream(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
#endif
    copy(dst, src, bytes);
}

}  // namespace atl::detail
