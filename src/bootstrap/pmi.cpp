// A job started by what speaks PMI-1 over an inherited descriptor: Hydra (mpiexec of MPICH and of Intel MPI),
// and Slurm's --mpi=pmi2, which answers PMI-1 too. Lines of "cmd=NAME key=value ...".
#include <cstdlib>
#include <poll.h>
#include <unistd.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/rendezvous.hpp"
#include "common/job_environment.hpp"

namespace atl::bootstrap {
namespace {

/// Values may hold no space or line's end.
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

int number(const std::string& text, const char* variable) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < 0 || value > 1'000'000'000)
        throw_bootstrap(std::string(variable) + "=" + text +
                        " is not a number, though PMI_FD says that a launcher started this program by PMI.");
    return static_cast<int>(value);
}

class Client {
  public:
    Client(const common::JobEnvironment& environment, double timeout_s)
        : fd_(number(environment.pmi_fd, "PMI_FD")),
          pe_(number(environment.pmi_rank, "PMI_RANK")),
          n_pes_(number(environment.pmi_size, "PMI_SIZE")),
          timeout_s_(timeout_s) {
        if (ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init").find(" rc=0") ==
            std::string::npos)
            throw_bootstrap("The launcher speaks another PMI than version 1.1.");
        most_bytes_ = number(field(ask("cmd=get_maxes", "maxes"), "vallen_max"), "vallen_max");
        space_ = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
    }
    ~Client() {
        try {
            ask("cmd=finalize", "finalize_ack");
        } catch (const Error&) {  // then it has gone
        }
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }

    void publish(const std::string& value) {
        static int rounds = 0;
        key_ = "atoll-" + std::to_string(rounds++) + "-";
        const std::string text = to_digits(value);
        if (text.size() >= static_cast<std::size_t>(most_bytes_))
            throw_bootstrap("A value of " + std::to_string(text.size()) +
                            " characters is too long for the launcher's "
                            "PMI, which takes " +
                            std::to_string(most_bytes_) +
                            "; set ATOLL_INTERFACE, so that fewer addresses are told.");
        ask("cmd=put kvsname=" + space_ + " key=" + key_ + std::to_string(pe_) + " value=" + text,
            "put_result");
        ask("cmd=barrier_in", "barrier_out");
    }
    std::string value_of(int pe) {
        return from_digits(field(
            ask("cmd=get kvsname=" + space_ + " key=" + key_ + std::to_string(pe), "get_result"), "value"));
    }

  private:
    static std::string field(const std::string& line, const std::string& name) {
        const std::size_t at = line.find(" " + name + "=");
        if (at == std::string::npos)
            throw_bootstrap("PMI answered \"" + line + "\", which lacks " + name + ".");
        const std::size_t begin = at + name.size() + 2;
        return line.substr(begin, line.find(' ', begin) - begin);
    }

    /// The answer, which is one line.
    std::string ask(const std::string& request, const std::string& expected) {
        const std::string line = request + "\n";
        for (std::size_t done = 0; done < line.size();) {
            const ssize_t sent = ::write(fd_, line.data() + done, line.size() - done);
            if (sent < 0 && errno != EINTR)
                throw_system("PMI_FD, by which the launcher is asked, cannot be written");
            if (sent > 0) done += static_cast<std::size_t>(sent);
        }
        std::string answer = receive();
        if (!answer.starts_with("cmd=" + expected))
            throw_bootstrap(
                "PMI answered \"" + answer + "\" to \"" + request +
                "\". If this program uses MPI too, initialise MPI first and pass its communicator.");
        return answer;
    }

    std::string receive() {
        const Deadline deadline(timeout_s_);
        for (;;) {
            if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
                std::string line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return line;
            }
            pollfd readable{fd_, POLLIN, 0};
            if (::poll(&readable, 1, deadline.poll_ms(50)) <= 0) {
                if (deadline.passed())
                    throw_bootstrap(
                        "PE " + std::to_string(pe_) + " of " + std::to_string(n_pes_) + " waited " +
                        seconds_text(timeout_s_) +
                        " (ATOLL_INIT_TIMEOUT) for the others in a barrier of PMI, which does not say who "
                        "is missing; does every process of the job call init?");
                deadline.answer_ctrl_c("the other PEs");
                continue;
            }
            char bytes[2048];
            const ssize_t got = ::read(fd_, bytes, sizeof bytes);
            if (got <= 0)
                throw_bootstrap(
                    "The launcher that started this program closed PMI_FD; PMI serves once in a process, "
                    "and MPI may have used it before: then pass its communicator to init.");
            buffer_.append(bytes, static_cast<std::size_t>(got));
        }
    }

    const int fd_, pe_, n_pes_;
    const double timeout_s_;
    int most_bytes_ = 0;
    std::string space_, key_, buffer_;
};

}  // namespace

std::unique_ptr<Bootstrap> create_pmi(const common::Settings& settings) {
    const common::JobEnvironment environment = common::read_job_environment();
    if (!environment.has_pmi())
        throw_bootstrap(
            "ATOLL_BOOTSTRAP=pmi needs PMI_FD, PMI_RANK and PMI_SIZE, as mpiexec of MPICH sets them.");
    Client client(environment, settings.init_timeout_s);
    return meet(settings, exchange_through(client), "PMI");
}

}  // namespace atl::bootstrap
