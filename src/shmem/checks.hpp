// Checks by ATOLL_CHECK beyond the core's own, so that an error names the argument. Called only if checks are
// on. All throw Mistake.
#pragma once

#include <cstdint>

#include "atoll/team.hpp"
#include "shmem/front.hpp"

namespace atl::shmem {

/// An error whose text already names the argument.
class Mistake : public Error {
  public:
    Mistake(ErrorCode code, const std::string& argument, const std::string& sentence)
        : Error(code, argument + ": " + sentence) {}
};

/// The memory of a pointer argument.
struct Area {
    const char* argument;
    const void* address;
    std::size_t bytes;
    std::size_t alignment = 1;
};
/// Blocks of an Area; strides and blocks in bytes.
struct Blocks {
    std::ptrdiff_t stride;
    std::size_t block;
    std::size_t count;
};

/// Ends the job if a pointer that a call stores through is null: a status could not report it on all PEs.
inline void require(const Call& call, const char* argument, const void* pointer) {
    if (pointer == nullptr) [[unlikely]]
        fail(call, std::string(argument) + ": NULL was passed; pass the address of memory.");
}
/// For collectives: ends the job if either is null. One PE's error status would leave the others waiting.
inline void require_given(const Call& call, const void* dest, const void* source, std::size_t n) {
    if (n == 0) return;
    require(call, "dest", dest);
    require(call, "source", source);
}
std::string handle_text(const void* handle);
[[noreturn]] void throw_null_argument(const char* argument);
/// Throws Mistake for null.
inline void check_given(const char* argument, const void* pointer) {
    if (pointer == nullptr) [[unlikely]]
        throw_null_argument(argument);
}

/// True for most correct calls, by the table of blocks and without locks. That is a put or get (or, without
/// `local`, a word of `bytes`) in one block of the heap, with local memory outside the heap. Otherwise the
/// functions below find the error, if there is one.
bool is_right(const Context& context, const void* remote, const void* local, std::size_t bytes,
              std::size_t alignment, int pe) noexcept;
bool is_right(const Context& context, const void* word, std::size_t bytes, int pe) noexcept;

void check_symmetric(const Context& context, const Area& area);
void check_aligned(const Area& area);
/// Throws if they share a byte; both are this PE's memory.
void check_disjoint(const Area& dest, const Area& source);
void check_disjoint(const Area& dest, const Blocks& to, const Area& source, const Blocks& from);
void check_pe(const char* argument, int pe, int n_pes);
[[noreturn]] void throw_compare(int cmp);
inline void check_compare(int cmp) {
    if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE) [[unlikely]]
        throw_compare(cmp);
}
[[noreturn]] void throw_signal_op(int op);
inline void check_signal_op(int op) {
    if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD) [[unlikely]]
        throw_signal_op(op);
}

/// The argument of an OpenSHMEM name to which an error of the core refers; "" for no particular one.
const char* argument_of(const char* name, ErrorCode code);

/// Checks a put (or get) of `bytes`: the remote side first.
void check_transfer(const Context& context, const Area& remote, const Area& local, int pe);
/// Checks a strided one; the areas' sizes are not used.
void check_strided(const Context& context, const Area& remote, const Blocks& there, const Area& local,
                   const Blocks& here, int pe);

/// Check collectives. `in_place`: dest may be source.
void check_collective(const Team& team, const Area& dest, const Area& source, bool in_place = false);
void check_strided_collective(const Team& team, const Area& dest, const Blocks& to, const Area& source,
                              const Blocks& from);
/// Only the root's source is checked.
void check_broadcast(const Team& team, const Area& dest, const Area& source, int root);

}  // namespace atl::shmem
