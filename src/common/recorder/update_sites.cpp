#include "common/recorder/update_sites.hpp"

#include "common/elf/call_site.hpp"
#include "common/recorder/ticks.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace atl::common {

namespace {

/// So many places are looked up at once (docs/measurements/2026-11-29-update-lines.md).
constexpr std::uint32_t at_once = 64;
/// Ticks between two of the later ones, and the number of updates after which the clock is read.
constexpr std::uint64_t between_ticks = 1u << 22;
constexpr std::uint32_t clock_interval = 64;

}  // namespace

bool UpdateSites::is_due() noexcept {
    const std::uint32_t done = n_lookups_.load(std::memory_order_relaxed);
    if (done >= at_once) {
        const std::uint32_t left_out = left_out_.load(std::memory_order_relaxed) + 1;
        left_out_.store(left_out, std::memory_order_relaxed);
        if (left_out % clock_interval != 0) return false;
        const std::uint64_t now = counter_ticks();
        if (now - last_ticks_.load(std::memory_order_relaxed) < between_ticks) return false;
        last_ticks_.store(now, std::memory_order_relaxed);
    }
    n_lookups_.store(done + 1, std::memory_order_relaxed);
    return true;
}

std::uint64_t UpdateSites::number_here() noexcept try {
    if (!is_due()) return 0;
    const CallSite site = CallSite::in_program();
    std::uint64_t wanted[words] = {};
    const bool is_text = !site.text.empty();
    if (is_text) {
        const std::string_view text = file_name(site.text.c_str());
        const std::size_t length = std::min(text.size(), sizeof wanted - 1);
        std::memcpy(wanted, text.data() + (text.size() - length), length);
    } else {
        const auto n = std::min(static_cast<std::size_t>(site.frames.count), words);
        for (std::size_t i = 0; i < n; ++i)
            wanted[i] = reinterpret_cast<std::uintptr_t>(site.frames.addresses[i]);
    }
    return wanted[0] == 0 ? 0 : number_of(wanted, is_text);
} catch (...) {
    return 0;  // no memory for a text
}

std::uint64_t UpdateSites::number_of(const std::uint64_t (&wanted)[words], bool is_text) noexcept {
    const std::uint32_t used = used_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < used; ++i) {
        const auto& known = entries_[i].words;
        bool is_same = true;
        for (std::size_t w = 0; w < words; ++w)
            is_same = is_same && known[w].load(std::memory_order_relaxed) == wanted[w];
        if (is_same) return i + 1;
    }
    if (used == most) return 0;
    for (std::size_t w = 0; w < words; ++w)
        entries_[used].words[w].store(wanted[w], std::memory_order_relaxed);
    if (is_text) texts_.fetch_or(std::uint64_t{1} << used, std::memory_order_relaxed);
    used_.store(used + 1, std::memory_order_release);
    return used + 1;
}

UpdateSite UpdateSites::site(std::uint64_t number) const noexcept {
    UpdateSite found;
    if (number == 0 || number > std::min<std::uint64_t>(used_.load(std::memory_order_acquire), most))
        return found;
    std::uint64_t copy[words];
    for (std::size_t w = 0; w < words; ++w)
        copy[w] = entries_[number - 1].words[w].load(std::memory_order_relaxed);
    if ((texts_.load(std::memory_order_relaxed) >> (number - 1) & 1) != 0) {
        static_assert(sizeof copy == UpdateSite::text_bytes);
        std::memcpy(found.text, copy, sizeof copy);
        found.text[sizeof copy - 1] = '\0';
    } else {
        std::copy_n(copy, words, found.callers);
    }
    return found;
}

void UpdateSites::clear() noexcept {
    used_.store(0, std::memory_order_relaxed);
    texts_.store(0, std::memory_order_relaxed);
    n_lookups_.store(0, std::memory_order_relaxed);
    left_out_.store(0, std::memory_order_relaxed);
    last_ticks_.store(0, std::memory_order_relaxed);
}

}  // namespace atl::common
