// Barriers of all PEs, and locks.
#include "atoll/lock.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

namespace {

Job& job_for(const Call& call) {
    context_of(call);
    return *front.job;
}

static_assert(sizeof(long) == sizeof(std::int64_t));
std::int64_t* word_of(long* lock) {
    if (is_checked()) check_symmetric(*front.context, {"lock", lock, sizeof *lock, alignof(long)});
    return reinterpret_cast<std::int64_t*>(lock);
}

}  // namespace

void barrier_all() {
    const Call call{"shmem_barrier_all", SHMEM_CTX_DEFAULT};
    guarded(call, [&] { job_for(call).world().barrier(); });
}

void sync_all() {
    const Call call{"shmem_sync_all", SHMEM_CTX_DEFAULT};
    guarded(call, [&] { job_for(call).world().sync(); });
}

void set_lock(long* lock) {
    const Call call{"shmem_set_lock", SHMEM_CTX_DEFAULT};
    const void* const caller = __builtin_return_address(0);  // in the program: the thunk jumps here
    guarded(call, [&] {
        atl::set_lock(job_for(call), word_of(lock));
        atl::detail::note_holder(*front.job, word_of(lock), caller);
    });
}

void clear_lock(long* lock) {
    const Call call{"shmem_clear_lock", SHMEM_CTX_DEFAULT};
    guarded(call, [&] { atl::clear_lock(job_for(call), word_of(lock)); });
}

int test_lock(long* lock) {
    const Call call{"shmem_test_lock", SHMEM_CTX_DEFAULT};
    const void* const caller = __builtin_return_address(0);
    return guarded(call, [&] {
        if (!atl::test_lock(job_for(call), word_of(lock))) return 1;
        atl::detail::note_holder(*front.job, word_of(lock), caller);
        return 0;
    });
}

void wait_until(long* word, int cmp, long value) {
    const Call call{"shmem_wait_until", SHMEM_CTX_DEFAULT};
    guarded(call, [&] {
        const Context& context = context_of(call);
        check_compare(cmp);
        if (context.window().check_args) [[unlikely]]
            check_symmetric(context, {"ivar", word, sizeof *word, alignof(long)});
        context.wait_until(word, static_cast<Compare>(cmp), value);
    });
}

void wait(long* word, long value) { wait_until(word, SHMEM_CMP_NE, value); }

}  // namespace atl::shmem
