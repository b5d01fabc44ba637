#include "collective/requests/segment.hpp"

#include "common/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

namespace atl::requests {
namespace {

constexpr std::size_t page_of_token = 4096;

/// The first page: shows that a file is the one that was meant, since process identifiers are used again.
struct Token {
    std::uint64_t random[2];
};

std::string host_text() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat space {};
    // Process identifiers have a meaning only within one namespace.
    const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
    char name[256] = "?";
    ::gethostname(name, sizeof name - 1);
    return boot + ":" + std::to_string(known ? space.st_ino : 0) + ":" + name;
}

std::string system_text(const std::string& what) {
    return what + " failed: " + common::errno_text(errno) + ".";
}

std::string name_of_host(const std::string& text) { return text.substr(text.rfind(':') + 1); }

std::size_t segment_bytes(int n) { return page_of_token + std::size_t(n) * Area::bytes(n); }

}  // namespace

Segment::Segment(int n, common::Fd fd) : n_(n), fd_(std::move(fd)), processes_(std::size_t(n)) {}

Segment::~Segment() {
    if (base_ != nullptr) ::munmap(base_, segment_bytes(n_));
}

void Segment::map() {
    void* base =
        ::mmap(nullptr, segment_bytes(n_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
    if (base == MAP_FAILED)
        throw Error(ErrorCode::system, system_text("Mapping " + std::to_string(segment_bytes(n_)) +
                                                   " bytes of shared memory for a group"));
    base_ = static_cast<char*>(base);
}

std::shared_ptr<Segment> Segment::create(int n) {
    if (n < 1 || n > most_members)
        throw Error(ErrorCode::invalid_argument, "A group of " + std::to_string(n) +
                                                     " members was wanted; it can have 1 to " +
                                                     std::to_string(most_members) + ".");
    common::Fd fd(::memfd_create("atoll-group", MFD_CLOEXEC));
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(segment_bytes(n))) != 0)
        throw Error(ErrorCode::system, system_text("Making shared memory for a group"));
    std::shared_ptr<Segment> segment(new Segment(n, std::move(fd)));
    segment->map();
    Token token{};
    std::random_device random;
    for (auto& word : token.random) word = std::uint64_t{random()} << 32 | random();
    std::memcpy(segment->base_, &token, sizeof token);
    std::ostringstream address;
    address << ::getpid() << ' ' << segment->fd_.get() << ' ' << token.random[0] << ' ' << token.random[1]
            << ' ' << n << ' ' << host_text();
    segment->address_ = address.str();
    return segment;
}

std::shared_ptr<Segment> Segment::join(const std::string& address, int n) {
    std::istringstream text(address);
    int process = 0, number = 0, members = 0;
    Token expected{};
    std::string host;
    text >> process >> number >> expected.random[0] >> expected.random[1] >> members >> host;
    const std::string mine = host_text();
    if (!text || members != n)
        throw Error(ErrorCode::bootstrap, "The group's memory has the address \"" + address +
                                              "\", which is not one for " + std::to_string(n) + " members.");
    if (host != mine)
        throw Error(
            ErrorCode::unsupported,
            "The members of this group run on several hosts or in several containers (" + name_of_host(host) +
                " and " + name_of_host(mine) +
                "). A group of Atoll's PyTorch backend has one host in this version; use gloo for it.");
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
    common::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd)
        throw Error(ErrorCode::system, system_text("Opening the group's memory at " + path) +
                                           " All members must be processes of one user, and the process that "
                                           "made the memory must live.");
    std::shared_ptr<Segment> segment(new Segment(n, std::move(fd)));
    struct stat status {};
    const bool fits = ::fstat(segment->fd_.get(), &status) == 0 &&
                      static_cast<std::size_t>(status.st_size) == segment_bytes(n);
    if (fits) segment->map();
    if (!fits || std::memcmp(segment->base_, &expected, sizeof expected) != 0)
        throw Error(ErrorCode::bootstrap,
                    path + " is not the group's memory; the process that made it has ended.");
    segment->address_ = address;
    return segment;
}

char* Segment::area(int member) const {
    return base_ + page_of_token + std::size_t(member) * Area::bytes(n_);
}

std::string Segment::end_of(int member) {
    const MemberState& state = Area(area(member), n_).head().state;
    const auto is_joined = [&] {
        return state.stage.load(std::memory_order_acquire) == static_cast<std::uint32_t>(Stage::joined);
    };
    if (!is_joined() || state.process == ::getpid()) return {};
    common::Fd& process = processes_[std::size_t(member)];
    bool ended = false;
    if (!process) {
        process = common::Fd(static_cast<int>(::syscall(SYS_pidfd_open, state.process, 0u)));
        ended = !process && errno == ESRCH;
    }
    pollfd readable{process.get(), POLLIN, 0};
    if (process) ended = ::poll(&readable, 1, 0) == 1;
    // It may have left in the meantime.
    if (!ended || !is_joined()) return {};
    return "(process " + std::to_string(state.process) + ") ended without leaving the group";
}

}  // namespace atl::requests
