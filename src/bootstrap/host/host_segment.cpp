#include "bootstrap/host/host_segment.hpp"

#include <cstdio>
#include <fcntl.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include "bootstrap/fail.hpp"
#include "common/machine.hpp"

namespace atl::bootstrap {

using common::BoardView;

MappedBoard::MappedBoard(int fd, std::size_t bytes) : bytes_(bytes) {
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory_ == MAP_FAILED) {
        memory_ = nullptr;
        throw_system("The job board (" + std::to_string(bytes) + " bytes) could not be mapped");
    }
    view_ = BoardView(memory_);
    struct stat status {};
    if (fd >= 0 && ::fstat(fd, &status) == 0)
        identity_ = std::to_string(status.st_dev) + "." + std::to_string(status.st_ino);
}

MappedBoard::MappedBoard(MappedBoard&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      view_(std::exchange(other.view_, {})),
      identity_(std::move(other.identity_)),
      why_no_logs_(std::move(other.why_no_logs_)),
      shown_(std::move(other.shown_)) {}

MappedBoard& MappedBoard::operator=(MappedBoard&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(view_, other.view_);
    std::swap(identity_, other.identity_);
    std::swap(why_no_logs_, other.why_no_logs_);
    std::swap(shown_, other.shown_);
    return *this;
}

MappedBoard::~MappedBoard() {
    if (memory_) ::munmap(memory_, bytes_);
}

MappedBoard MappedBoard::create_private(int n_pes) {
    MappedBoard board(-1, BoardView::bytes(n_pes));
    BoardView::create(board.memory_, n_pes);
    return board;
}

MappedBoard MappedBoard::create_shared(int n_pes, common::Fd& fd, const BoardLogs& logs) {
    std::string why;
    try {
        return create_with(n_pes, fd, logs);
    } catch (const Error& error) {  // a limit of addresses or of file sizes
        if (logs.events == 0) throw;
        why = error.what();
    }
    MappedBoard board = create_with(n_pes, fd, {});
    board.why_no_logs_ = std::move(why);
    return board;
}

MappedBoard MappedBoard::adopt_what_fits(int fd, int n_pes, const std::string& whence) {
    std::string why;
    try {
        return adopt(fd, n_pes, whence);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::system) throw;
        why = error.what();
    }
    MappedBoard board(fd, BoardView::bytes(n_pes));
    board.why_no_logs_ = std::move(why);
    return board;
}

MappedBoard MappedBoard::create_with(int n_pes, common::Fd& fd, const BoardLogs& logs) {
    fd = common::Fd(::memfd_create("atoll-board", MFD_CLOEXEC));
    if (!fd) throw_system("Memory for the job board could not be made (memfd_create)");
    const std::size_t bytes = BoardView::bytes(n_pes, logs.events);
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
        throw_system("The job board could not be sized");
    MappedBoard board(fd.get(), bytes);
    // Launchers that are not ours bind each process to a core of its own: the PE's count would be 1.
    common::BoardHeader& header = BoardView::create(board.memory_, n_pes).header();
    header.usable_cpus = common::usable_cpus_of_job();
    header.log_events = logs.events;
    header.log_moves = logs.moves ? 1 : 0;
    board.shown_ = common::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    std::snprintf(header.path, sizeof header.path, "/proc/%d/fd/%d", static_cast<int>(::getpid()),
                  board.shown_.get());
    return board;
}

MappedBoard MappedBoard::adopt(int fd, int n_pes, const std::string& whence) {
    struct stat status {};
    const std::size_t bytes = BoardView::bytes(n_pes);
    if (!is_memory(fd) || ::fstat(fd, &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes)
        throw_bootstrap("Descriptor " + std::to_string(fd) + " " + whence + " is not a job board of " +
                        std::to_string(n_pes) + " PEs.");
    MappedBoard board(fd, bytes);
    const common::BoardHeader& header = board.view_.header();
    if (header.magic != common::board_magic)
        throw_bootstrap("Descriptor " + std::to_string(fd) + " " + whence + " is not a job board.");
    if (header.version != common::board_version)
        throw_bootstrap("The job board " + whence + " has version " + std::to_string(header.version) +
                        ", this library has " + std::to_string(common::board_version) +
                        ": the launcher and all PEs must come from one release of Atoll.");
    if (header.n_pes != n_pes)
        throw_bootstrap("The job board " + whence + " is one of " + std::to_string(header.n_pes) +
                        " PEs, this PE was told " + std::to_string(n_pes) + ".");
    const std::size_t with_logs = BoardView::bytes(n_pes, header.log_events);
    if (with_logs == bytes) return board;
    if (static_cast<std::size_t>(status.st_size) < with_logs)
        throw_bootstrap("The job board " + whence + " has no room for its logs.");
    return {fd, with_logs};
}

MappedBoard MappedBoard::open(const std::string& path, const std::string& identity, int n_pes) {
    const common::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) throw_system("The job board at " + path + " could not be opened");
    MappedBoard board = adopt(fd.get(), n_pes, "at " + path);
    if (board.identity() != identity)
        throw_bootstrap("The job board at " + path + " is another one; the process that made it has ended.");
    return board;
}

std::vector<int> all_pes(int n_pes) {
    std::vector<int> pes(static_cast<std::size_t>(n_pes));
    std::iota(pes.begin(), pes.end(), 0);
    return pes;
}

common::Fd make_heap_fd() {
    common::Fd fd(::memfd_create("atoll-heap", MFD_CLOEXEC));
    if (!fd) throw_system("Memory for the symmetric heap could not be made (memfd_create)");
    return fd;
}

bool is_memory(int fd) noexcept {
    struct stat status {};
    return fd >= 0 && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

std::string pe_text(const BoardView& board, int pe) {
    std::string text = "PE " + std::to_string(pe);
    if (!board || pe < 0 || pe >= board.n_pes()) return text;
    const int pid = board.entry(pe).pid.load(std::memory_order_relaxed);
    return pid > 0 ? text + " (process " + std::to_string(pid) + ")" : text;
}

void throw_if_aborted(const BoardView& board) {
    if (!board || board.header().abort.load(std::memory_order_acquire) == 0) return;
    throw Error(ErrorCode::pe_died, board.header().abort_text);
}

}  // namespace atl::bootstrap
