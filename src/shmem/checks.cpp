#include "shmem/checks.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "atoll/job.hpp"
#include "core/job/job_state.hpp"
#include "shmem.h"

namespace atl::shmem {

namespace {

template <class Body> void naming(const char* argument, Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        throw Mistake(error.code(), argument, error.what());
    }
}

std::uintptr_t number_of(const Area& area) { return reinterpret_cast<std::uintptr_t>(area.address); }

bool overlap(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) {
    return a_bytes != 0 && b_bytes != 0 && (b - a < a_bytes || a - b < b_bytes);
}

[[noreturn]] void throw_overlap(const Area& dest, const Area& source) {
    const auto distance = static_cast<std::ptrdiff_t>(number_of(source) - number_of(dest));
    const std::string where = distance == 0  ? "at the same address"
                              : distance > 0 ? std::to_string(distance) + " bytes behind it"
                                             : std::to_string(-distance) + " bytes before it";
    throw Mistake(ErrorCode::invalid_argument, dest.argument,
                  "it overlaps " + std::string(source.argument) + ", which begins " + where +
                      "; pass different memory.");
}

std::size_t extent(const Blocks& blocks) {
    if (blocks.count == 0 || blocks.block == 0) return 0;
    return detail::extent_bytes(blocks.stride, blocks.block, blocks.count, 1);
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

void check_strides(const Blocks& a, const Blocks& b) {
    if (a.stride < 1 || b.stride < 1)
        throw Mistake(ErrorCode::invalid_argument, "dst or sst",
                      "strides count elements and must be at least 1.");
}

const char* symmetric_argument(std::string_view name) {
    if (contains(name, "lock")) return "lock";
    if (name == "shmem_free" || name == "shmem_realloc") return "ptr";
    if (contains(name, "signal")) return "sig_addr";
    if (contains(name, "_wait") || contains(name, "_test")) return "ivar";
    const bool reads = contains(name, "get") || ends_with(name, "_g") || ends_with(name, "_fetch") ||
                       ends_with(name, "_fetch_nbi");
    return reads ? "source" : "dest";
}

}  // namespace

const char* argument_of(const char* name, ErrorCode code) {
    if (code == ErrorCode::pe) return contains(name, "pe_quiet") ? "target_pes" : "pe";
    const bool in_heap =
        code == ErrorCode::use_after_free && (contains(name, "free") || contains(name, "realloc"));
    return code == ErrorCode::not_symmetric || in_heap ? symmetric_argument(name) : "";
}

std::string handle_text(const void* handle) {
    char text[24];
    std::snprintf(text, sizeof text, "%p", handle);
    return text;
}

void throw_null_argument(const char* argument) {
    throw Mistake(ErrorCode::invalid_argument, argument, "NULL was passed; pass the address of memory.");
}

namespace {

/// Checks memory that is in no block of the host heap: static data, the device heap, or an error.
[[gnu::noinline]] void check_symmetric_elsewhere(const Context& context, const Area& area) {
    naming(area.argument, [&] { current_job().check_symmetric(area.address, area.bytes); });
    const auto& window = context.window();
    if (std::string_view(area.argument) != "source" && window.holds(area.address, area.bytes) &&
        !window.shares(area.address, area.bytes))
        throw Mistake(ErrorCode::not_symmetric, area.argument,
                      "it is among the program's constants, which cannot be written; pass a variable.");
}

[[noreturn, gnu::cold]] void throw_misaligned(const Area& area) {
    throw Mistake(ErrorCode::invalid_argument, area.argument,
                  "its address must be a multiple of " + std::to_string(area.alignment) +
                      ", as its type needs; it is " + std::to_string(number_of(area) % area.alignment) +
                      " bytes behind one.");
}

/// Checks memory of this PE alone. Memory of the heap must lie in one block.
void check_local(const Context& context, const Area& area) {
    if (area.bytes == 0) return;
    if (area.address == nullptr) [[unlikely]]
        throw Mistake(
            ErrorCode::invalid_argument, area.argument,
            "NULL was passed; pass memory of " + std::to_string(area.bytes) + " bytes" + ", or a size of 0.");
    if (context.window().heap_has(area.address) &&
        !context.job().heap().is_in_listed_block(area.address, area.bytes)) [[unlikely]]
        naming(area.argument, [&] { current_job().check_symmetric(area.address, area.bytes); });
    check_aligned(area);
}

/// True for memory in one block of the heap, or among the program's variables.
bool is_plainly_symmetric(const Context& context, const void* address, std::size_t bytes) noexcept {
    return context.job().heap().is_in_listed_block(address, bytes) ||
           (!context.window().heap_has(address) && context.window().shares(address, bytes));
}

}  // namespace

bool is_right(const Context& context, const void* remote, const void* local, std::size_t bytes,
              std::size_t alignment, int pe) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(remote) | reinterpret_cast<std::uintptr_t>(local);
    return (bits & (alignment - 1)) == 0 && local != nullptr && !context.window().heap_has(local) &&
           static_cast<unsigned>(pe) < static_cast<unsigned>(context.n_pes()) &&
           // Variables of this PE may overlap.
           (pe == context.my_pe() ? context.job().heap().is_in_listed_block(remote, bytes)
                                  : is_plainly_symmetric(context, remote, bytes));
}

bool is_right(const Context& context, const void* word, std::size_t bytes, int pe) noexcept {
    return (reinterpret_cast<std::uintptr_t>(word) & (bytes - 1)) == 0 &&
           static_cast<unsigned>(pe) < static_cast<unsigned>(context.n_pes()) &&
           is_plainly_symmetric(context, word, bytes);
}

void check_symmetric(const Context& context, const Area& area) {
    if (area.bytes == 0) return;
    if (!context.job().heap().is_in_listed_block(area.address, area.bytes)) [[unlikely]]
        check_symmetric_elsewhere(context, area);
    check_aligned(area);
}

void check_aligned(const Area& area) {
    if (area.bytes != 0 && (number_of(area) & (area.alignment - 1)) != 0) [[unlikely]]
        throw_misaligned(area);
}

void check_disjoint(const Area& dest, const Area& source) {
    if (overlap(number_of(dest), dest.bytes, number_of(source), source.bytes)) throw_overlap(dest, source);
}

void check_disjoint(const Area& dest, const Blocks& to, const Area& source, const Blocks& from) {
    if (!overlap(number_of(dest), extent(to), number_of(source), extent(from))) return;
    // Overlapping extents are allowed if the blocks in them do not overlap, such as odd and even elements.
    for (std::size_t i = 0; i < to.count; ++i) {
        const std::uintptr_t block = number_of(dest) + i * static_cast<std::size_t>(to.stride);
        const auto distance = static_cast<std::ptrdiff_t>(block - number_of(source));
        const auto reach = static_cast<std::ptrdiff_t>(from.block);
        const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, (distance - reach) / from.stride);
        for (auto j = static_cast<std::size_t>(first); j < from.count; ++j) {
            const std::uintptr_t other = number_of(source) + j * static_cast<std::size_t>(from.stride);
            if (static_cast<std::ptrdiff_t>(other - block) >= static_cast<std::ptrdiff_t>(to.block)) break;
            if (overlap(block, to.block, other, from.block)) throw_overlap(dest, source);
        }
    }
}

void check_pe(const char* argument, int pe, int n_pes) {
    if (pe < 0 || pe >= n_pes) [[unlikely]]
        naming(argument, [&] { detail::throw_pe(pe, n_pes); });
}

void throw_compare(int cmp) {
    throw Mistake(ErrorCode::invalid_argument, "cmp",
                  std::to_string(cmp) + " is not a comparison; pass SHMEM_CMP_EQ, NE, GT, GE, LT or LE.");
}

void throw_signal_op(int op) {
    throw Mistake(ErrorCode::invalid_argument, "sig_op",
                  std::to_string(op) + " is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD.");
}

void check_transfer(const Context& context, const Area& remote, const Area& local, int pe) {
    check_pe("pe", pe, context.n_pes());
    check_symmetric(context, remote);
    check_local(context, local);
    if (pe == context.my_pe()) check_disjoint(remote, local);
}

void check_strided(const Context& context, const Area& remote, const Blocks& there, const Area& local,
                   const Blocks& here, int pe) {
    check_pe("pe", pe, context.n_pes());
    check_strides(there, here);
    check_symmetric(context, {remote.argument, remote.address, extent(there), remote.alignment});
    check_local(context, {local.argument, local.address, extent(here), local.alignment});
    if (pe == context.my_pe()) check_disjoint(remote, there, local, here);
}

void check_collective(const Team& team, const Area& dest, const Area& source, bool in_place) {
    check_symmetric(team.context(), dest);
    check_symmetric(team.context(), source);
    if (!in_place || dest.address != source.address) check_disjoint(dest, source);
}

void check_strided_collective(const Team& team, const Area& dest, const Blocks& to, const Area& source,
                              const Blocks& from) {
    check_strides(to, from);
    check_symmetric(team.context(), {dest.argument, dest.address, extent(to), dest.alignment});
    check_symmetric(team.context(), {source.argument, source.address, extent(from), source.alignment});
    check_disjoint(dest, to, source, from);
}

void check_broadcast(const Team& team, const Area& dest, const Area& source, int root) {
    check_pe("PE_root", root, team.n_pes());
    check_symmetric(team.context(), dest);
    if (team.my_pe() != root) return;  // only the root's source is used, and it may be dest
    check_symmetric(team.context(), source);
    if (dest.address != source.address) check_disjoint(dest, source);
}

}  // namespace atl::shmem
