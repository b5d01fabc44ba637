#include "common/elf/call_site.hpp"

#include "common/elf/elf_lines.hpp"
#include "common/elf/elf_symbols.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::common {

namespace {

/// The library's own shared objects: libatoll.so, libatoll_shmem.so, … and NVSHMEM's names.
bool is_ours(const Dl_info& info) {
    const std::string_view name = file_name(info.dli_fname ? info.dli_fname : "");
    return name.starts_with("libatoll") || name.starts_with("libnvshmem_host.so");
}

/// True for our own headers and the system's: their functions may be inlined into the program's call.
bool is_no_program(std::string_view directory, std::string_view name) {
    const std::string path = std::string(directory) + "/" + std::string(name);
    return path.find("include/atoll/") != std::string::npos ||
           path.find("include/c++/") != std::string::npos || path.starts_with("/usr/include/");
}

/// A frame of the program, outside the library's shared objects.
struct Frame {
    std::string file;           ///< the object's path
    std::uintptr_t offset = 0;  ///< within the object
    std::string name;           ///< name of the function; empty if unknown
    std::string linkage_name;
    std::uintptr_t function = 0;  ///< start of the function

    Frame(const void* returns_to, const Dl_info& info) : file(info.dli_fname) {
        const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
        offset = reinterpret_cast<std::uintptr_t>(returns_to) - 1 - base;  // in the call, not after it
        if (const auto symbol = nearest_symbol(info.dli_fname, offset)) {
            name = symbol->name;
            linkage_name = symbol->linkage_name;
            function = symbol->offset;
        } else if (info.dli_sname) {
            name = linkage_name = info.dli_sname;
            function = reinterpret_cast<std::uintptr_t>(info.dli_saddr) - base;
        }
    }
    /// A function of our headers that the compiler did not inline.
    bool is_of_headers() const {
        constexpr std::string_view ours[] = {"_ZN3atl", "_ZNK3atl", "_ZN5atoll"};
        return std::any_of(std::begin(ours), std::end(ours),
                           [&](std::string_view prefix) { return linkage_name.starts_with(prefix); });
    }
    std::string text() const {
        const auto hex = [](std::uintptr_t number) {
            return address_text(reinterpret_cast<const void*>(number));
        };
        if (name.empty()) return std::string(file_name(file.c_str())) + "+" + hex(offset);
        const std::string at = name + "+" + hex(offset - function);
        const SourceLine line = source_line(file.c_str(), offset, function, is_no_program);
        if (line.text.empty()) return at + " (" + std::string(file_name(file.c_str())) + ")";
        return line.exact ? line.text + " (" + at + ")" : at + ", near " + line.text;
    }
};

/// The first frame of the program behind those of the library.
std::string find_site(std::span<void* const> frames) {
    bool in_library = false;
    std::optional<Frame> site;
    for (void* frame : frames) {
        Dl_info info{};
        if (::dladdr(frame, &info) == 0 || !info.dli_fname) continue;
        if (is_ours(info))
            in_library = true;
        else if (in_library) {
            site.emplace(frame, info);
            if (!site->is_of_headers()) break;
        }
    }
    return site ? site->text() : std::string();
}

/// The sites that were found, by their frames. A program that waits often at one place reads its debug
/// information once. A library that was unloaded, and another at its addresses, could only mislead a report.
class KnownSites {
  public:
    std::string operator()(std::span<void* const> frames) {
        std::vector<void*> key(frames.begin(), frames.end());
        {
            const std::lock_guard guard(mutex_);
            if (const auto known = sites_.find(key); known != sites_.end()) return known->second;
        }
        std::string site = find_site(frames);
        const std::lock_guard guard(mutex_);
        if (sites_.size() == most) sites_.clear();
        return sites_.emplace(std::move(key), std::move(site)).first->second;
    }

  private:
    static constexpr std::size_t most = 4096;
    std::mutex mutex_;
    std::map<std::vector<void*>, std::string> sites_;
};

std::string site_in(std::span<void* const> frames) {
    static KnownSites& known = *new KnownSites;  // never destroyed: reports are made until the process ends
    return known(frames);
}

}  // namespace

std::string call_site(void* hook_state) {
    if (wait_hooks().call_site) return wait_hooks().call_site(hook_state);
    std::array<void*, 64> frames;
    const int n = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    return site_in({frames.data(), static_cast<std::size_t>(n)});
}

std::string site_of_thread() {
    return wait_hooks().site_of_thread ? wait_hooks().site_of_thread() : std::string();
}

CallFrames CallFrames::here() noexcept {
    CallFrames frames;
    frames.count = ::backtrace(frames.addresses.data(), static_cast<int>(frames.addresses.size()));
    return frames;
}

std::string call_site_of(const CallFrames& frames) {
    return site_in({frames.addresses.data(), static_cast<std::size_t>(frames.count)});
}

CallSite CallSite::here() {
    CallSite site;
    if (wait_hooks().call_site)
        site.text = wait_hooks().call_site(nullptr);
    else
        site.frames = CallFrames::here();
    return site;
}

CallSite CallSite::in_program() {
    CallSite site = here();
    const std::span all(site.frames.addresses.data(), static_cast<std::size_t>(site.frames.count));
    const auto first = std::find_if(all.begin(), all.end(), [](const void* frame) {
        Dl_info info{};
        return ::dladdr(frame, &info) != 0 && info.dli_fname && !is_ours(info);
    });
    site.frames.count = static_cast<int>(std::copy(first, all.end(), all.begin()) - all.begin());
    return site;
}

}  // namespace atl::common
