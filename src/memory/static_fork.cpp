#include "memory/static_fork.hpp"

#include "common/descriptors/fd.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

namespace atl::memory {

namespace {

// Fork handlers belong to the process, so this does too. Never destroyed: a fork may come after the end of
// main.
struct Shared {
    std::mutex mutex;  ///< held from before a fork until after it
    StaticData data;
    common::Fd fd;
    std::size_t offset = 0;
    bool active = false;
    char* snapshot =
        nullptr;  ///< the child's copy, made by the parent before the fork, since its peers continue writing
};
Shared& shared() {
    static Shared& instance = *new Shared;
    return instance;
}

// Uses system calls: the C library's functions may be a sanitizer's, which would access what they touch.
char* map_private(std::size_t bytes) {
    const long p = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == -1 ? nullptr : reinterpret_cast<char*>(p);
}

void read_whole(int fd, char* to, std::size_t bytes, off_t from) {
    while (bytes > 0) {
        const long got = ::syscall(SYS_pread64, fd, to, bytes, from);
        if (got <= 0) return;
        to += got;
        from += got;
        bytes -= static_cast<std::size_t>(got);
    }
}

void before_fork() {
    Shared& s = shared();
    s.mutex.lock();
    if (!s.active || !(s.snapshot = map_private(s.data.bytes()))) return;
    const auto begin = static_cast<off_t>(s.offset);
    const auto end = static_cast<off_t>(s.offset + s.data.bytes());
    for (off_t at = begin; (at = ::lseek(s.fd.get(), at, SEEK_DATA)) >= 0 && at < end;) {
        off_t hole = ::lseek(s.fd.get(), at, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        read_whole(s.fd.get(), s.snapshot + (at - begin), static_cast<std::size_t>(hole - at), at);
        at = hole;
    }
}

void after_fork_in_parent() {
    Shared& s = shared();
    if (s.snapshot) ::syscall(SYS_munmap, s.snapshot, s.data.bytes());
    s.snapshot = nullptr;
    s.mutex.unlock();
}

void after_fork_in_child() {
    Shared& s = shared();
    if (s.snapshot) {
        for (const StaticData::Segment& segment : s.data.segments) {
            const std::size_t bytes = segment.end - segment.begin;
            ::syscall(SYS_mremap, s.snapshot + (segment.begin - s.data.begin()), bytes, bytes,
                      MREMAP_MAYMOVE | MREMAP_FIXED, segment.begin);
        }
        s.active = false;  // the child's pages are private, so its own children need no snapshot
    }
    s.snapshot = nullptr;
    s.mutex.unlock();
}

}  // namespace

void prepare_for_forks(const StaticData& data, int fd, std::size_t offset) {
    static const int installed = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    static_cast<void>(installed);
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    s.active = false;  // left by an earlier job
    s.data = data;
    s.fd = common::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    s.offset = offset;
}

void isolate_forks() {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    s.active = true;
}

}  // namespace atl::memory
