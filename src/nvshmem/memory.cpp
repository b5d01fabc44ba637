// NVSHMEM's symmetric memory: the device heap if every PE has a GPU, else the host heap.
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "common/log.hpp"
#include "nvshmem/front.hpp"
#include "shmem/allocation.hpp"
#include "shmem/hand.hpp"

namespace atl::nvshmem {

using shmem::Call;

namespace {

std::atomic<int> chosen{-1};  // -1: not yet; else a Memory

/// Allocates in the chosen memory; a full heap gives null.
template <class Body> void* null_when_full(const char* name, Body&& body) {
    return shmem::null_or_end(
        name,
        [&](Job& job) {
            const Memory memory = choose_memory();
            fill_modules();
            return body(job, memory);
        },
        [](ErrorCode code) { return code == ErrorCode::out_of_memory; });
}

}  // namespace

bool is_on_gpu() noexcept {
    return chosen.load(std::memory_order_relaxed) == static_cast<int>(Memory::device);
}

Memory choose_memory() {
    const int known = chosen.load(std::memory_order_acquire);
    if (known >= 0) return static_cast<Memory>(known);
    Job& job = shmem::job_for("nvshmem_malloc");
    std::int32_t on_host = wants_host_memory() ? 1 : 0;  // on any PE, then on all
    const std::span<std::int32_t> word(&on_host, 1);
    job.world().max_reduce(word, word);
    Memory memory = on_host != 0 ? Memory::host : Memory::device;
    try {
        if (memory == Memory::device) job.free(job.malloc(64, Memory::device));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::unsupported) throw;  // unsupported on every PE
        memory = Memory::host;
    }
    chosen.store(static_cast<int>(memory), std::memory_order_release);
    if (memory == Memory::host && job.my_pe() == 0 && has_modules())
        common::warn(
            std::string("symmetric memory is on the host, ") +
            (on_host != 0 ? "as NVSHMEM_HEAP_KIND=SYSMEM asks" : "since a PE has no GPU") +
            ". Calls of the host work; kernels of this program cannot use it, and do not run without a GPU.");
    return memory;
}
void forget_memory() noexcept { chosen = -1; }

void* malloc(std::size_t bytes) {
    return null_when_full("nvshmem_malloc",
                          [&](Job& job, Memory memory) { return job.malloc(bytes, memory); });
}
void* calloc(std::size_t count, std::size_t bytes) {
    return null_when_full("nvshmem_calloc",
                          [&](Job& job, Memory memory) { return job.calloc(count, bytes, memory); });
}
void* align(std::size_t alignment, std::size_t bytes) {
    return null_when_full("nvshmem_align",
                          [&](Job& job, Memory memory) { return job.align(alignment, bytes, memory); });
}
void free(void* block) {
    const Call call{"nvshmem_free", SHMEM_CTX_DEFAULT};
    shmem::guarded(call, [&] { shmem::job_for(call.name).free(block); });
}

void* ptr(const void* dest, int pe) { return shmem::ptr(dest, pe); }
void* mc_ptr(nvshmem_team_t, const void*) {
    static std::atomic<bool> has_warned{false};
    if (shmem::is_checked() && !has_warned.exchange(true))
        common::warn(
            "nvshmemx_mc_ptr returns NULL: Atoll has no multicast memory. A program that uses the address "
            "without a check ends by SIGSEGV.");
    return nullptr;
}

int buffer_register(void* address, std::size_t) {
    return address == nullptr ? NVSHMEMX_ERROR_INVALID_VALUE : NVSHMEMX_SUCCESS;  // any memory may be local
}
int buffer_unregister(void* address) { return buffer_register(address, 0); }
void buffer_unregister_all() {}

void* buffer_register_symmetric(void* buffer, std::size_t bytes, int) {
    return null_when_full("nvshmemx_buffer_register_symmetric", [&](Job& job, Memory memory) {
        if (memory == Memory::host) {
            const Call call{"nvshmemx_buffer_register_symmetric", SHMEM_CTX_DEFAULT};
            shmem::status(call, [] {
                throw Error(ErrorCode::unsupported,
                            "buf_ptr: only GPU memory can be registered, so NULL is returned; allocate host "
                            "memory by nvshmem_malloc.");
            });
            return static_cast<void*>(nullptr);
        }
        return job.register_buffer(buffer, bytes).address;
    });
}
int buffer_unregister_symmetric(void* view, std::size_t) {
    free(view);
    return NVSHMEMX_SUCCESS;
}

void fence() {
    const Call call{"nvshmem_fence", SHMEM_CTX_DEFAULT};
    shmem::guarded(call, [&] { shmem::context_of(call).fence(); });
}

void signal_counted_reset(std::uint64_t* signal) {
    const Call call{"nvshmemx_signal_counted_reset", SHMEM_CTX_DEFAULT};
    shmem::guarded(call, [&] {
        const Context& context = shmem::context_of(call);
        context.signal_set(signal, 0, context.my_pe());
    });
}

}  // namespace atl::nvshmem
