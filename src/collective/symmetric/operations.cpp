#include "collective/symmetric/operations.hpp"

#include "atoll/error.hpp"

#include <algorithm>
#include <cstring>

namespace atl::symmetric {
namespace {

/// A part that is reduced and passed on while it is in the cache.
constexpr std::size_t block_bytes = 32 * 1024;

}  // namespace

Operations::Operations(Symmetric& memory, Range range, const Bounds& bounds)
    : memory_(memory), range_(range), bounds_(bounds) {
    memory_.refuse_if_broken();
    if (range.offset > memory.bytes() || range.bytes > memory.bytes() - range.offset)
        throw Error(ErrorCode::shape_mismatch, "The tensor has " + std::to_string(range.bytes) +
                                                   " bytes at byte " + std::to_string(range.offset) +
                                                   " of a symmetric block of " +
                                                   std::to_string(memory.bytes()) + " bytes.");
}

void Operations::fold(const requests::Folding& folding, std::size_t at, std::size_t bytes, char* out) const {
    const auto source = [&](int member) -> const char* { return data(member) + at; };
    if (bytes != 0) folding.fold(memory_.n(), source, bytes, out);
}

void Operations::all_reduce(const requests::Folding& folding, char* out) {
    meet("all_reduce");
    fold(folding, 0, range_.bytes, out);
    meet("all_reduce");  // no member changes its data before all have read it
}

void Operations::all_reduce_in_place(const requests::Folding& folding, char* out) {
    meet("all_reduce");
    const auto n = std::size_t(memory_.n()), me = std::size_t(memory_.rank());
    constexpr std::size_t line = 64;
    const std::size_t each = (range_.bytes + n * line - 1) / (n * line) * line;
    const std::size_t begin = std::min(each * me, range_.bytes), end = std::min(begin + each, range_.bytes);
    for (std::size_t at = begin; at < end; at += block_bytes) {
        const std::size_t bytes = std::min(block_bytes, end - at);
        fold(folding, at, bytes, data(memory_.rank()) + at);
        for (int i = 0; i < memory_.n(); ++i)
            if (i != memory_.rank()) std::memcpy(data(i) + at, data(memory_.rank()) + at, bytes);
    }
    meet("all_reduce");
    if (out != nullptr && range_.bytes != 0) std::memcpy(out, data(memory_.rank()), range_.bytes);
}

void Operations::all_gather(char* out) {
    meet("all_gather");
    for (int i = 0; i < memory_.n() && range_.bytes != 0; ++i)
        std::memcpy(out + std::size_t(i) * range_.bytes, data(i), range_.bytes);
    meet("all_gather");
}

void Operations::reduce_scatter(const requests::Folding& folding, std::size_t row_bytes, char* out) {
    const std::size_t row = row_bytes != 0 ? row_bytes : range_.bytes;
    const auto n = std::size_t(memory_.n());
    if (row % n != 0 || (row != 0 && range_.bytes % row != 0))
        throw Error(ErrorCode::shape_mismatch, "reduce_scatter: rows of " + std::to_string(row) +
                                                   " bytes cannot be divided among " + std::to_string(n) +
                                                   " ranks.");
    const std::size_t part = row / n;
    meet("reduce_scatter");
    for (std::size_t at = 0; at < range_.bytes; at += row, out += part)
        fold(folding, at + part * std::size_t(memory_.rank()), part, out);
    meet("reduce_scatter");
}

}  // namespace atl::symmetric
