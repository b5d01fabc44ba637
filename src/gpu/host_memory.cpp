#include "gpu/host_memory.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace atl::gpu {

namespace {

struct Stack {
    std::uintptr_t low = 0, top = 0;
    Stack() {
        pthread_attr_t attributes;
        if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
        void* address = nullptr;
        std::size_t bytes = 0;
        if (::pthread_attr_getstack(&attributes, &address, &bytes) == 0) {
            low = reinterpret_cast<std::uintptr_t>(address);
            top = low + bytes;
        }
        ::pthread_attr_destroy(&attributes);
    }
};

/// True for the used part of this thread's own stack. A fiber's stack is not known.
bool on_stack(std::uintptr_t address) noexcept {
    static thread_local const Stack stack;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return here >= stack.low && here < stack.top && address >= here && address < stack.top;
}

}  // namespace

HostMemory::HostMemory() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0;
        if (line.ends_with("[heap]") && std::sscanf(line.c_str(), "%lx-", &begin) == 1) {
            brk_begin_ = begin;
            return;
        }
    }
}

bool HostMemory::surely_has(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (on_stack(at)) return true;
    return brk_begin_ != 0 && at >= brk_begin_ && at < reinterpret_cast<std::uintptr_t>(::sbrk(0));
}

}  // namespace atl::gpu
