#include "bootstrap/pmi/pmi_socket.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>

#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"

namespace atl::bootstrap {

int pmi_number(const std::string& text, const std::string& name) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < 0 || value > 1'000'000'000)
        throw_bootstrap(name + "=" + text +
                        " is not a number, though PMI_FD says that a launcher started this program by PMI.");
    return static_cast<int>(value);
}

std::string to_digits(const std::string& bytes) {
    std::string text = "x";  // not empty
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string from_digits(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 1; i + 1 < text.size(); i += 2)
        bytes += static_cast<char>(std::strtol(text.substr(i, 2).c_str(), nullptr, 16));
    return bytes;
}

void throw_pmi_answer(const std::string& answer, const std::string& request) {
    throw_bootstrap("PMI answered \"" + answer + "\" to \"" + request +
                    "\". If this program uses MPI too, initialise MPI first and pass its communicator.");
}

PmiSocket::PmiSocket(const common::JobEnvironment& environment, double timeout_s)
    : fd_(pmi_number(environment.pmi_fd, "PMI_FD")),
      pe_(pmi_number(environment.pmi_rank, "PMI_RANK")),
      n_pes_(pmi_number(environment.pmi_size, "PMI_SIZE")),
      timeout_s_(timeout_s) {
    if (pe_ >= n_pes_)
        throw_bootstrap("PMI_RANK=" + environment.pmi_rank +
                        " is not below PMI_SIZE=" + environment.pmi_size + ".");
}

bool PmiSocket::agree_on(int version, int subversion) {
    const std::string version_text = "pmi_version=" + std::to_string(version);
    const std::string request = "cmd=init " + version_text + " pmi_subversion=" + std::to_string(subversion);
    send(request + "\n");
    const std::string answer = receive_line();
    if (!answer.starts_with("cmd=response_to_init")) throw_pmi_answer(answer, request);
    const std::string words = answer + " ";
    return words.find(" rc=0 ") != std::string::npos &&
           words.find(" " + version_text + " ") != std::string::npos;
}

std::string PmiSocket::to_value(const std::string& value, std::size_t most) {
    std::string text = to_digits(value);
    if (text.size() >= most)
        throw_bootstrap("A value of " + std::to_string(text.size()) +
                        " characters is too long for the launcher's PMI, which takes " +
                        std::to_string(most) + "; set ATOLL_INTERFACE, so that a PE has fewer addresses.");
    return text;
}

void PmiSocket::send(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t sent = ::write(fd_, bytes.data() + done, bytes.size() - done);
        if (sent < 0 && errno != EINTR)
            throw_system("PMI_FD, by which the launcher is asked, cannot be written");
        if (sent > 0) done += static_cast<std::size_t>(sent);
    }
}

std::string PmiSocket::receive_line() {
    std::size_t end = 0;
    while ((end = buffer_.find('\n')) == std::string::npos) read_more("the others in a barrier of PMI");
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
}

std::string PmiSocket::receive(std::size_t bytes) {
    while (buffer_.size() < bytes) read_more("the others in a fence of PMI");
    std::string taken = buffer_.substr(0, bytes);
    buffer_.erase(0, bytes);
    return taken;
}

void PmiSocket::read_more(const std::string& what) {
    Deadline deadline(timeout_s_);
    pollfd readable{fd_, POLLIN, 0};
    while (::poll(&readable, 1, deadline.poll_ms(50)) <= 0) {
        if (deadline.passed())
            throw_bootstrap("PE " + std::to_string(pe_) + " of " + std::to_string(n_pes_) + " waited " +
                            seconds_text(timeout_s_) + " (ATOLL_INIT_TIMEOUT) for " + what +
                            ", which does not say who is missing; does every process of the job call init?");
        deadline.answer_ctrl_c("the other PEs");
    }
    char bytes[2048];
    const ssize_t got = ::read(fd_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0)
        throw_bootstrap(
            "The launcher that started this program closed PMI_FD. PMI serves once in a process, and MPI may "
            "have used it before: then pass its communicator to init.");
    buffer_.append(bytes, static_cast<std::size_t>(got));
}

}  // namespace atl::bootstrap
