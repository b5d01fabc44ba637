#include "common/recorder/crash_note.hpp"

#include "common/elf/stack_walk.hpp"
#include "common/recorder/stack_area.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

namespace atl::common {

namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::atomic<StackArea*> noted{nullptr};
std::atomic<int> process{0};  // a forked child is no PE

/// The addresses of a stack, the innermost first. The first one is exact, others follow a call.
struct Addresses {
    std::uintptr_t all[CrashNote::most_frames];
    std::size_t count = 0;
};

/// True for a fault that a full stack makes: at an address that is not mapped, and near the stack pointer.
bool is_at_stack(const siginfo_t& info, const void* context) {
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    std::uintptr_t stack = 0;
#if defined(__x86_64__)
    stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    stack = machine.sp;
#else
    static_cast<void>(machine);
#endif
    constexpr std::uintptr_t near = 1 << 16;
    const auto at = reinterpret_cast<std::uintptr_t>(info.si_addr);
    return info.si_signo == SIGSEGV && info.si_code > 0 && stack > near && at > stack - near &&
           at < stack + near;
}

Addresses stack_of(const siginfo_t& info, const void* context) {
    Addresses found;
    found.count = walk_stack(context, found.all, CrashNote::most_frames);
    const std::uintptr_t at = found.count == 0 ? 0 : found.all[0];
    const bool is_access = info.si_signo == SIGSEGV || info.si_signo == SIGBUS;
    if (is_access && info.si_code > 0 && reinterpret_cast<std::uintptr_t>(info.si_addr) == at) {
        found.all[0] = at;  // no code is there, as after a call of a null pointer
        found.count = 1 + walk_stack_of_caller(context, found.all + 1, CrashNote::most_frames - 1);
    }
    return found;
}

/// Reads /proc/self/maps line by line into memory of its own.
class Maps {
  public:
    Maps() : fd_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
    ~Maps() { ::close(fd_); }
    Maps(const Maps&) = delete;
    Maps& operator=(const Maps&) = delete;

    /// The next line without its end; null after the last one. Longer lines than the buffer are cut.
    const char* next() {
        for (;;) {
            if (char* const end = static_cast<char*>(std::memchr(text_ + from_, '\n', size_ - from_))) {
                const char* const line = text_ + from_;
                *end = '\0';
                from_ = static_cast<std::size_t>(end + 1 - text_);
                return line;
            }
            std::memmove(text_, text_ + from_, size_ - from_);
            size_ -= from_;
            from_ = 0;
            if (size_ == sizeof text_) size_ = 0;
            const ssize_t n = ::read(fd_, text_ + size_, sizeof text_ - size_);
            if (n <= 0) return nullptr;
            size_ += static_cast<std::size_t>(n);
        }
    }

  private:
    int fd_;
    char text_[4096];
    std::size_t from_ = 0, size_ = 0;
};

std::int32_t file_number(CrashNote& note, const char* path) {
    const std::size_t bytes = std::strlen(path) + 1;
    if (bytes > CrashNote::path_bytes) return -1;
    for (std::uint32_t i = 0; i < note.n_files; ++i)
        if (std::memcmp(note.files[i], path, bytes) == 0) return static_cast<std::int32_t>(i);
    if (note.n_files == CrashNote::most_files) return -1;
    std::memcpy(note.files[note.n_files], path, bytes);
    return static_cast<std::int32_t>(note.n_files++);
}

/// Finds the files of the addresses: the process's maps are gone after its end.
void write_frames(CrashNote& note, const Addresses& stack) {
    for (std::size_t i = 0; i < stack.count; ++i) note.frames[i] = {stack.all[i], -1};
    Maps maps;
    char last[CrashNote::path_bytes] = {};
    std::uintptr_t base = 0;
    while (const char* line = maps.next()) {
        const char* const path = std::strchr(line, '/');
        if (path == nullptr || std::strlen(path) >= sizeof last) continue;
        char* end = nullptr;
        const std::uintptr_t begins = std::strtoull(line, &end, 16);
        const std::uintptr_t ends = std::strtoull(end + 1, &end, 16);
        constexpr std::size_t of_rights = 6;  // " r-xp "
        const std::uintptr_t offset = std::strtoull(end + of_rights, &end, 16);
        if (std::strcmp(path, last) != 0) base = begins - offset;
        std::strcpy(last, path);
        for (std::size_t i = 0; i < stack.count; ++i) {
            const std::uintptr_t address = stack.all[i] - (i == 0 ? 0 : 1);
            if (address >= begins && address < ends)
                note.frames[i] = {address - base, file_number(note, path)};
        }
    }
    note.n_frames = static_cast<std::uint32_t>(stack.count);
}

constexpr std::size_t stack_bytes = 1 << 17;

/// Lets Python's faulthandler write its stacks, and keeps that of the current thread.
void write_python(CrashNote& note, const StackArea& area) {
    static char text[1 << 14];
    const int fd = area.python.load(std::memory_order_acquire) - 1;
    const int asks = area.signal.load(std::memory_order_acquire);
    struct stat before {};
    stack_t stack{};
    // Python's own stack has no room for the handlers that this signal starts.
    if (::sigaltstack(nullptr, &stack) != 0 ||
        ((stack.ss_flags & SS_ONSTACK) != 0 && stack.ss_size < stack_bytes))
        return;
    if (fd < 0 || asks == 0 || ::fstat(fd, &before) != 0) return;
    ::raise(asks);
    const ssize_t n = ::pread(fd, text, sizeof text, before.st_size);
    constexpr char begin[] = "Current thread";
    const char* const current =
        n <= 0
            ? nullptr
            : static_cast<const char*>(::memmem(text, static_cast<std::size_t>(n), begin, sizeof begin - 1));
    if (current == nullptr) return;
    const auto bytes = std::min(static_cast<std::size_t>(text + n - current), CrashNote::python_bytes - 1);
    std::memcpy(note.python, current, bytes);
    note.python[bytes] = '\0';
}

struct sigaction previous[std::size(crash_signals)];

void on_crash(int number, siginfo_t* info, void* context) {
    const auto index = static_cast<std::size_t>(
        std::find(std::begin(crash_signals), std::end(crash_signals), number) - std::begin(crash_signals));
    ::sigaction(number, &previous[index], nullptr);  // an error in here ends the process, too
    StackArea* const area = noted.load(std::memory_order_acquire);
    if (area != nullptr && process.load(std::memory_order_relaxed) == ::getpid() &&
        area->crash.begun.exchange(1) == 0) {
        CrashNote& note = area->crash;
        note.signal = number;
        note.pid = ::getpid();
        note.is_at_stack = is_at_stack(*info, context) ? 1 : 0;
        write_frames(note, stack_of(*info, context));
        note.written.store(1, std::memory_order_release);
        write_python(note, *area);
    }
    // A fault repeats itself. A signal that was sent, as by abort, is sent again.
    if (info->si_code <= 0) ::raise(number);
}

}  // namespace

void install_crash_stack() noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || ((now.ss_flags & SS_DISABLE) == 0 && now.ss_size >= stack_bytes))
        return;
    stack_t ours{};
    ours.ss_sp = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ours.ss_size = stack_bytes;
    if (ours.ss_sp != MAP_FAILED && ::sigaltstack(&ours, nullptr) != 0) ::munmap(ours.ss_sp, stack_bytes);
}

void note_crashes(StackArea& area) noexcept {
    noted.store(&area, std::memory_order_release);
    process.store(::getpid(), std::memory_order_relaxed);
    static std::atomic<bool> installed{false};
    if (installed.exchange(true)) return;
    install_crash_stack();
    for (std::size_t i = 0; i < std::size(crash_signals); ++i) {
        struct sigaction now {};
        if (::sigaction(crash_signals[i], nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        previous[i] = now;
        struct sigaction ours {};
        ours.sa_sigaction = &on_crash;
        ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
        ::sigemptyset(&ours.sa_mask);
        ::sigaction(crash_signals[i], &ours, nullptr);
    }
}

void forget_crashes(const StackArea& area) noexcept {
    StackArea* mine = noted.load(std::memory_order_acquire);
    if (mine == &area) noted.store(nullptr, std::memory_order_release);
}

}  // namespace atl::common
