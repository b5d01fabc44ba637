#include "memory/mapping.hpp"

#include "atoll/error.hpp"
#include "common/log.hpp"
#include "common/reserve.hpp"
#include "common/text.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace atl::memory {

/// ftruncate past RLIMIT_FSIZE raises SIGXFSZ, which kills the process: check first.
static void check_file_limit(std::size_t bytes) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        throw Error(ErrorCode::out_of_memory,
                    "The window needs a memory file of " + common::bytes_text(bytes) +
                        " (sparse), but the file size limit is " + common::bytes_text(limit.rlim_cur) +
                        "; run `ulimit -f unlimited` or lower ATOLL_HEAP_SIZE.");
}

static void size_file(int fd, std::size_t bytes) {
    struct stat status {};
    if (::fstat(fd, &status) == 0 && static_cast<std::size_t>(status.st_size) >= bytes) return;
    check_file_limit(bytes);
    if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
        throw Error(ErrorCode::system, "The memory file of the window cannot be sized to " +
                                           common::bytes_text(bytes) + ": " + common::errno_text(errno) +
                                           ".");
}

static std::vector<int> first_slots(int n) {
    std::vector<int> slots(static_cast<std::size_t>(n));
    std::iota(slots.begin(), slots.end(), 0);
    return slots;
}

Mapping::Mapping(const common::Fd& heap_fd, const Layout& layout, int n_slots, int my_slot)
    : Mapping(heap_fd, layout, n_slots, first_slots(n_slots), my_slot) {}

Mapping::Mapping(const common::Fd& heap_fd, const Layout& layout, int n_in_file,
                 const std::vector<int>& which, int my_slot)
    : bytes_(layout.stride() * which.size()), owned_(true), layout_(layout) {
    size_file(heap_fd.get(), layout.stride() * static_cast<std::size_t>(n_in_file));
    char* reserved = common::reserve_aligned(bytes_, std::min(layout.stride(), common::window_alignment));
    bool mapped = reserved != nullptr;
    // Maps adjacent slots of the file with one call: one host's whole window is one mapping.
    for (std::size_t i = 0, next; i < which.size() && mapped; i = next) {
        for (next = i + 1; next < which.size() && which[next] == which[next - 1] + 1;) ++next;
        mapped =
            ::mmap(reserved + i * layout.stride(), (next - i) * layout.stride(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED, heap_fd.get(),
                   static_cast<off_t>(static_cast<std::size_t>(which[i]) * layout.stride())) != MAP_FAILED;
    }
    if (!mapped) {
        const int error = errno;
        if (reserved) ::munmap(reserved, bytes_);
        throw Error(ErrorCode::out_of_memory,
                    "The window of " + std::to_string(which.size()) + " slots of " +
                        common::bytes_text(layout.stride()) +
                        " cannot be mapped: " + common::errno_text(error) +
                        "; lower ATOLL_HEAP_SIZE or lift the address space limit (ulimit -v).");
    }
    base_ = reserved;
    // A core dump of one PE should contain only its own memory.
    ::madvise(base_, static_cast<std::size_t>(my_slot) * layout.stride(), MADV_DONTDUMP);
    ::madvise(slot(my_slot + 1), (which.size() - static_cast<std::size_t>(my_slot) - 1) * layout.stride(),
              MADV_DONTDUMP);
}

Mapping::Mapping(char* base, const Layout& layout, int n_slots)
    : base_(base), bytes_(layout.stride() * static_cast<std::size_t>(n_slots)), layout_(layout) {}

std::size_t Mapping::base_alignment() const {
    return std::min({layout_.stride(), common::window_alignment,
                     std::size_t{1} << std::countr_zero(reinterpret_cast<std::uintptr_t>(base_))});
}

Mapping::~Mapping() {
    if (owned_) ::munmap(base_, bytes_);
}

/// Reports that MADV_REMOVE clears pages here: qemu-user accepts it and does nothing. Asks once a process,
/// with a mark in a page that the caller is about to give back.
static bool removal_clears(char* page_to_return, std::size_t page) {
    static const bool clears = [&] {
        *page_to_return = 1;
        return ::madvise(page_to_return, page, MADV_REMOVE) == 0 && *page_to_return == 0;
    }();
    return clears;
}

bool Mapping::release_pages(char* from, std::size_t bytes) const {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    const std::size_t before = (page - at % page) % page, after = (at + bytes) % page;
    if (bytes < before + after + page) return false;
    if (!removal_clears(from + before, page)) return false;
    if (::madvise(from + before, bytes - before - after, MADV_REMOVE) != 0) return false;
    std::memset(from, 0, before);
    std::memset(from + bytes - after, 0, after);
    return true;
}

}  // namespace atl::memory
