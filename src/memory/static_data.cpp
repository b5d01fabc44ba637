#include "memory/static_data.hpp"

#include "atoll/error.hpp"
#include "common/descriptors/fd.hpp"
#include "common/log.hpp"
#include "common/text.hpp"
#include "memory/static_fork.hpp"
#include "memory/static_guard.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace atl::memory {

namespace {

std::uintptr_t page_bytes() {
    static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}
std::uintptr_t page_down(std::uintptr_t address) { return address & ~(page_bytes() - 1); }
std::uintptr_t page_up(std::uintptr_t address) { return page_down(address + page_bytes() - 1); }

/// Adds data to the FNV-1a hash `identity`.
void add_to_identity(std::uint64_t& identity, const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) identity = (identity ^ p[i]) * 0x100000001b3u;
}

/// Adds the linker's build id, if there is one.
bool add_build_id(std::uint64_t& identity, const dl_phdr_info& object, const ElfW(Phdr) & part) {
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);
    const char* end = at + part.p_memsz;
    const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
    while (static_cast<std::size_t>(end - at) > sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* name = at + sizeof note;
        const char* description = name + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
            add_to_identity(identity, description, note.n_descsz);
            return true;
        }
        at = description + padded(note.n_descsz);
    }
    return false;
}

void add_file(std::uint64_t& identity) {
    struct stat file {};
    if (::stat("/proc/self/exe", &file) != 0) return;
    const std::array<std::int64_t, 4> marks{static_cast<std::int64_t>(file.st_dev),
                                            static_cast<std::int64_t>(file.st_ino), file.st_size,
                                            file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec};
    add_to_identity(identity, marks.data(), sizeof marks);
}

StaticData describe(const dl_phdr_info& object) {
    StaticData found;
    found.identity = 0xcbf29ce484222325u;
    std::uintptr_t constant_begin = 0, constant_end = 0;
    bool has_build_id = false;
    found.image = ~std::uintptr_t{0};
    const auto parts = std::vector<ElfW(Phdr)>(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum);
    for (const ElfW(Phdr) & part : parts) {
        const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
        add_to_identity(found.identity, &part.p_vaddr, sizeof part.p_vaddr);
        add_to_identity(found.identity, &part.p_memsz, sizeof part.p_memsz);
        if (part.p_type == PT_NOTE && !has_build_id)
            has_build_id = add_build_id(found.identity, object, part);
        if (part.p_type == PT_GNU_RELRO) {
            constant_begin = page_down(begin);
            constant_end = page_down(begin + part.p_memsz);
        }
        if (part.p_type != PT_LOAD) continue;
        found.image = std::min(found.image, page_down(begin));
        found.image_end = std::max(found.image_end, page_up(begin + part.p_memsz));
    }
    if (!has_build_id) add_file(found.identity);
    for (const ElfW(Phdr) & part : parts) {
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_W)) continue;
        const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
        StaticData::Segment segment{page_down(begin), page_up(begin + part.p_filesz),
                                    page_up(begin + part.p_memsz),
                                    PROT_READ | PROT_WRITE | ((part.p_flags & PF_X) ? PROT_EXEC : 0)};
        if (constant_begin < segment.end && segment.begin < constant_end) segment.begin = constant_end;
        segment.file_end = std::clamp(segment.file_end, segment.begin, std::max(segment.begin, segment.end));
        if (segment.begin < segment.end) found.segments.push_back(segment);
    }
    return found;
}

/// Copies through a system call: sanitizers would report reads by this code as errors.
void copy_out(int fd, std::uintptr_t from, std::size_t bytes, std::size_t to) {
    while (bytes > 0) {
        const long written = ::syscall(SYS_pwrite64, fd, from, bytes, to);
        if (written <= 0)
            throw Error(ErrorCode::system, "The program's static data cannot be copied into shared memory: " +
                                               common::errno_text(errno) + ".");
        from += static_cast<std::uintptr_t>(written);
        to += static_cast<std::size_t>(written);
        bytes -= static_cast<std::size_t>(written);
    }
}

/// Copies only pages that were ever written, so that a large sparse array remains sparse.
void copy_resident(int fd, std::uintptr_t from, std::uintptr_t end, std::size_t to) {
    const common::Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    std::array<std::uint64_t, 512> entries;
    while (from < end) {
        const std::size_t pages = std::min<std::size_t>((end - from) / page_bytes(), entries.size());
        const auto file_offset = static_cast<off_t>(from / page_bytes() * sizeof entries[0]);
        const ssize_t bytes =
            pagemap ? ::pread(pagemap.get(), entries.data(), pages * sizeof entries[0], file_offset) : 0;
        if (bytes <= 0) return copy_out(fd, from, end - from, to);  // no /proc: dense, but correct
        const auto known = static_cast<std::size_t>(bytes) / sizeof entries[0];
        for (std::size_t i = 0; i < known; ++i, from += page_bytes(), to += page_bytes())
            if (entries[i] >> 62) copy_out(fd, from, page_bytes(), to);  // present, or swapped
    }
}

void map_over(const StaticData& data, int fd, std::size_t offset) {
    for (const StaticData::Segment& segment : data.segments) {
        const std::size_t file_offset = offset + (segment.begin - data.begin());
        const long mapped = ::syscall(SYS_mmap, segment.begin, segment.end - segment.begin,
                                      segment.protection, MAP_SHARED | MAP_FIXED, fd, file_offset);
        if (mapped == -1)
            throw Error(ErrorCode::out_of_memory,
                        "The program's static data cannot be mapped as shared memory: " +
                            common::errno_text(errno) + ".");
    }
}

}  // namespace

StaticData find_static_data() {
    StaticData found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            *static_cast<StaticData*>(result) = describe(*object);
            return 1;  // the first is the executable
        },
        &found);
    return found;
}

void share_static_data(const StaticData& data, int fd, std::size_t offset) {
    prepare_for_forks(data, fd, offset);
    const WriteGuard guard(data);
    for (const StaticData::Segment& segment : data.segments) {
        const std::size_t file_offset = offset + (segment.begin - data.begin());
        copy_out(fd, segment.begin, segment.file_end - segment.begin, file_offset);
        copy_resident(fd, segment.file_end, segment.end, file_offset + (segment.file_end - segment.begin));
    }
    map_over(data, fd, offset);
    isolate_forks();
}

}  // namespace atl::memory
