// The symmetric heap under OpenSHMEM's names: returns NULL if there is no room. realloc then keeps the block.
#include "shmem/allocation.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

namespace {

/// A full heap gives null. An unsupported alignment does, too, unless mistakes are checked.
template <class Body> void* null_when_full(const char* name, Body&& body) {
    return null_or_end(name, body, [](ErrorCode code) {
        return code == ErrorCode::out_of_memory || (code == ErrorCode::invalid_argument && !is_checked());
    });
}

}  // namespace

void* malloc(std::size_t bytes) {
    return null_when_full("shmem_malloc", [&](Job& job) { return job.malloc(bytes); });
}

void free(void* block) {
    guarded({"shmem_free", SHMEM_CTX_INVALID}, [&] { job_for("shmem_free").free(block); });
}

void* realloc(void* block, std::size_t bytes) {
    return null_when_full("shmem_realloc", [&](Job& job) { return job.realloc(block, bytes); });
}

void* align(std::size_t alignment, std::size_t bytes) {
    return null_when_full("shmem_align", [&](Job& job) { return job.align(alignment, bytes); });
}

void* malloc_with_hints(std::size_t bytes, long hints) {
    return null_when_full("shmem_malloc_with_hints", [&](Job& job) {
        if (is_checked() && (hints & ~(SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE)) != 0)
            throw Mistake(
                ErrorCode::invalid_argument, "hints",
                std::to_string(hints) +
                    " has unknown bits; combine SHMEM_MALLOC_ATOMICS_REMOTE and SHMEM_MALLOC_SIGNAL_REMOTE.");
        const AllocationHints wanted{(hints & SHMEM_MALLOC_ATOMICS_REMOTE) != 0,
                                     (hints & SHMEM_MALLOC_SIGNAL_REMOTE) != 0};
        return job.allocate(bytes, 0, wanted).address;
    });
}

void* calloc(std::size_t count, std::size_t bytes) {
    return null_when_full("shmem_calloc", [&](Job& job) { return job.calloc(count, bytes); });
}

}  // namespace atl::shmem
