#include "common/call_site.hpp"

#include "common/elf_symbols.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace atl::common {

namespace {

std::string_view file_name(const char* path) {
    const std::string_view whole = path ? path : "";
    return whole.substr(whole.rfind('/') + 1);
}

/// The library's own shared objects: libatoll.so, libatoll_shmem.so, …
bool is_ours(const Dl_info& info) { return file_name(info.dli_fname).starts_with("libatoll"); }

std::string frame_text(const void* frame, const Dl_info& info) {
    const auto address = reinterpret_cast<std::uintptr_t>(frame) - 1;  // within the call, not behind it
    const auto offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    std::string name = info.dli_sname ? info.dli_sname : "";
    std::uintptr_t within = name.empty() ? 0 : address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
    if (const auto symbol = nearest_symbol(info.dli_fname, offset)) {
        name = symbol->name;
        within = offset - symbol->offset;
    }
    const std::string file(file_name(info.dli_fname));
    if (name.empty()) return file + "+" + address_text(reinterpret_cast<const void*>(offset));
    return name + "+" + address_text(reinterpret_cast<const void*>(within)) + " (" + file + ")";
}

}  // namespace

std::string call_site(void* hook_state) {
    if (wait_hooks().call_site) return wait_hooks().call_site(hook_state);
    std::array<void*, 64> frames;
    const int n = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    bool in_library = false;
    for (int i = 0; i < n; ++i) {
        Dl_info info{};
        if (::dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || !info.dli_fname) continue;
        if (is_ours(info))
            in_library = true;
        else if (in_library)
            return frame_text(frames[static_cast<std::size_t>(i)], info);
    }
    return {};
}

}  // namespace atl::common
