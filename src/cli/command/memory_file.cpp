#include "cli/command/memory_file.hpp"

#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace atl::cli {

common::Fd memory_file(const char* name, std::string_view content) {
    common::Fd file(memfd_create(name, MFD_CLOEXEC));
    while (file && !content.empty()) {
        const ssize_t sent = write(file.get(), content.data(), content.size());
        if (sent <= 0) return {};
        content.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (file) lseek(file.get(), 0, SEEK_SET);
    return file;
}

}  // namespace atl::cli
