#include "process_memory.hpp"

#include <c10/util/Exception.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/uio.h>
#include <unistd.h>

namespace atoll_c10d {
namespace {

/// Linux asks its security modules first. Yama refuses all processes but a parent's children if this is not
/// 0.
int yama_scope() {
    int scope = 0;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
    return scope;
}

std::string cure_of(int error) {
    if (error == ESRCH || error == 0)
        return "It is of another host, or of another container, whose processes have other numbers.";
    if (const int scope = yama_scope(); scope > 0)
        return c10::str("The setting kernel.yama.ptrace_scope is ", scope,
                        "; the administrator can allow it by sysctl kernel.yama.ptrace_scope=0.");
    if (error == EPERM || error == ENOSYS)
        return "In a container it needs docker run --cap-add SYS_PTRACE. Outside, both processes must be of "
               "one "
               "user and allow it (prctl PR_SET_DUMPABLE).";
    return "";
}

iovec remote_part(std::uintptr_t address, std::size_t bytes) {
    return {reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr): another process's
}

}  // namespace

ProcessMemory::ProcessMemory(pid_t process, std::string name)
    : process_(process),
      name_(std::move(name)),
      folder_(::open(c10::str("/proc/", process).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

ProcessMemory::~ProcessMemory() {
    if (folder_ >= 0) ::close(folder_);
}

std::string ProcessMemory::refusal(std::uintptr_t address, const std::string& expected) const {
    std::string found(expected.size(), '\0');
    const iovec local{found.data(), found.size()}, remote = remote_part(address, found.size());
    const ssize_t got = ::process_vm_readv(process_, &local, 1, &remote, 1, 0);
    const int error = got < 0 ? errno : 0;
    if (folder_ >= 0 && error == 0 && found == expected) return "";
    return c10::str("this process cannot access the memory of ", name_, " (process ", process_,
                    "): ", error != 0 ? std::strerror(error) : "that process is another one", ". ",
                    cure_of(error));
}

void ProcessMemory::write(std::uintptr_t address, const void* data, std::size_t bytes) const {
    const bool is_alive = ::faccessat(folder_, "status", F_OK, 0) == 0;
    std::size_t done = 0;
    int error = is_alive ? 0 : ESRCH;
    while (error == 0 && done < bytes) {
        const iovec local{const_cast<char*>(static_cast<const char*>(data)) + done, bytes - done};
        const iovec remote = remote_part(address + done, bytes - done);
        const ssize_t written = ::process_vm_writev(process_, &local, 1, &remote, 1, 0);
        if (written <= 0)
            error = written < 0 ? errno : EFAULT;
        else
            done += static_cast<std::size_t>(written);
    }
    if (error == ESRCH)
        C10_THROW_ERROR(DistBackendError, c10::str("put: ", name_, " (process ", process_, ") has ended."));
    if (error != 0)
        C10_THROW_ERROR(DistBackendError, c10::str("put: writing to the tensor of ", name_, " (process ",
                                                   process_, ") failed: ", std::strerror(error),
                                                   ". That rank keeps its tensor until tensor_deregister."));
}

}  // namespace atoll_c10d
