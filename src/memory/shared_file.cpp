#include "memory/shared_file.hpp"

#include "atoll/error.hpp"
#include "common/kernel_identity.hpp"
#include "common/log.hpp"
#include "common/text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <utility>

namespace atl::memory {
namespace {

/// Shows that a file is the one that was meant, since process identifiers are used again.
struct Token {
    std::uint64_t random[2];
};
static_assert(sizeof(Token) <= SharedFile::token_bytes);

std::string system_text(const std::string& what) {
    return what + " failed: " + common::errno_text(errno) + ".";
}

/// ftruncate past the limit raises SIGXFSZ, which kills the process.
void check_file_limit(std::size_t bytes, const std::string& purpose) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes)
        return;
    throw Error(ErrorCode::out_of_memory,
                "Shared memory for " + purpose + " needs a file of " + common::bytes_text(bytes) +
                    " (sparse), but the file size limit is " + common::bytes_text(limit.rlim_cur) +
                    ". Run `ulimit -f unlimited`.");
}

}  // namespace

std::string host_text() {
    char name[256] = "?";
    ::gethostname(name, sizeof name - 1);
    // Process identifiers have a meaning only within one namespace.
    return common::boot_id() + ":" + std::to_string(common::own_pid_namespace()) + ":" + name;
}

std::string name_of_host(const std::string& text) { return text.substr(text.rfind(':') + 1); }

SharedFile::SharedFile(common::Fd fd, std::size_t bytes, int process)
    : fd_(std::move(fd)), bytes_(bytes), process_(process) {}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      bytes_(other.bytes_),
      process_(other.process_),
      base_(std::exchange(other.base_, nullptr)),
      address_(std::move(other.address_)) {}

SharedFile::~SharedFile() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
}

void SharedFile::map(const std::string& purpose) {
    void* base = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
    if (base == MAP_FAILED)
        throw Error(ErrorCode::system, system_text("Mapping " + common::bytes_text(bytes_) +
                                                   " of shared memory for " + purpose));
    base_ = static_cast<char*>(base);
}

SharedFile SharedFile::create(std::size_t bytes, const std::string& purpose) {
    check_file_limit(bytes, purpose);
    common::Fd fd(::memfd_create("atoll", MFD_CLOEXEC));
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
        throw Error(ErrorCode::system, system_text("Making shared memory for " + purpose));
    SharedFile file(std::move(fd), bytes, ::getpid());
    file.map(purpose);
    Token token{};
    std::random_device random;
    for (auto& word : token.random) word = std::uint64_t{random()} << 32 | random();
    std::memcpy(file.base_, &token, sizeof token);
    std::ostringstream address;
    address << file.process_ << ' ' << file.fd_.get() << ' ' << token.random[0] << ' ' << token.random[1]
            << ' ' << bytes << ' ' << host_text();
    file.address_ = address.str();
    return file;
}

SharedFile SharedFile::join(const std::string& address, const std::string& purpose) {
    std::istringstream text(address);
    int process = 0, number = 0;
    std::size_t bytes = 0;
    Token expected{};
    std::string host;
    text >> process >> number >> expected.random[0] >> expected.random[1] >> bytes >> host;
    if (!text)
        throw Error(ErrorCode::bootstrap,
                    "\"" + address + "\" is not the address of shared memory for " + purpose + ".");
    if (const std::string mine = host_text(); host != mine)
        throw Error(ErrorCode::unsupported,
                    "The processes that share memory for " + purpose +
                        " run on several hosts or in several containers (" + name_of_host(host) + " and " +
                        name_of_host(mine) +
                        "); symmetric memory needs one host. Make a group of the ranks of each host for it.");
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
    common::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd)
        throw Error(
            ErrorCode::system,
            system_text("Opening shared memory for " + purpose + " at " + path) +
                " All its processes must be of one user, and the one that made the memory must live.");
    SharedFile file(std::move(fd), bytes, process);
    struct stat status {};
    const bool fits =
        ::fstat(file.fd_.get(), &status) == 0 && static_cast<std::size_t>(status.st_size) == bytes;
    if (fits) file.map(purpose);
    if (!fits || std::memcmp(file.base_, &expected, sizeof expected) != 0)
        throw Error(ErrorCode::bootstrap, path + " is not the shared memory for " + purpose +
                                              "; the process that made it has ended.");
    file.address_ = address;
    return file;
}

}  // namespace atl::memory
