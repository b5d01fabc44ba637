#include "collective/copy_choice.hpp"

#include "atoll/detail/context_base.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <cstring>

namespace atl::collective {

namespace {

constexpr unsigned first_tries = 8;  // tries of each method
// Odd: pieces may come in pairs, of which one costs less.
constexpr unsigned timed_every = 5;
constexpr unsigned other_every = 31 * timed_every;

}  // namespace

void CopyChoice::copy(char* to, const char* from, std::size_t bytes) {
    const Piece piece = next();
    const std::uint64_t start = piece.timed ? common::now_ns() : 0;
    if (piece.method == streamed)
        detail::copy_for_reader(to, from, bytes, 0);
    else
        std::memcpy(to, from, bytes);
    if (piece.timed) note(piece.method, bytes, common::now_ns() - start);
}

CopyChoice::Piece CopyChoice::next() {
    const unsigned piece = pieces_++;
    if (tried_[streamed] < first_tries) return {tried_[plain] > tried_[streamed] ? streamed : plain, true};
    const bool streams = ns_per_kib_[streamed] < part_ * ns_per_kib_[plain];
    const bool is_try = piece % other_every == 0;
    return {streams != is_try ? streamed : plain, piece % timed_every == 0};
}

void CopyChoice::note(Method method, std::size_t bytes, std::uint64_t ns) {
    if (bytes == 0) return;
    constexpr double kib = 1024, down = 0.5, up = 0.25;
    const double sample = static_cast<double>(ns) * kib / static_cast<double>(bytes);
    double& known = ns_per_kib_[method];
    // One piece during which the thread lost its core must not decide.
    if (tried_[method] == 0 || (tried_[method] < first_tries && sample < known))
        known = sample;
    else if (tried_[method] >= first_tries)
        known += sample < known ? down * (sample - known) : up * (std::min(sample, 2 * known) - known);
    ++tried_[method];
}

}  // namespace atl::collective
