// PMI-1, which Hydra speaks: the mpiexec of MPICH and of Intel MPI.
#include "bootstrap/fail.hpp"
#include "bootstrap/pmi/pmi_client.hpp"

namespace atl::bootstrap {
namespace {

std::string field(const std::string& line, const std::string& name) {
    const std::size_t at = line.find(" " + name + "=");
    if (at == std::string::npos) throw_bootstrap("PMI answered \"" + line + "\", which lacks " + name + ".");
    const std::size_t begin = at + name.size() + 2;
    return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

Pmi1Client::Pmi1Client(PmiSocket socket) : socket_(std::move(socket)) {
    most_bytes_ = pmi_number(field(ask("cmd=get_maxes", "maxes"), "vallen_max"), "vallen_max");
    space_ = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
}

Pmi1Client::~Pmi1Client() {
    try {
        ask("cmd=finalize", "finalize_ack");
    } catch (const Error&) {  // the launcher has gone
    }
}

void Pmi1Client::publish(const std::string& value) {
    key_ = "atoll-" + std::to_string(rounds_++) + "-";
    const std::string text = PmiSocket::to_value(value, static_cast<std::size_t>(most_bytes_));
    ask("cmd=put kvsname=" + space_ + " key=" + key_ + std::to_string(pe()) + " value=" + text, "put_result");
    ask("cmd=barrier_in", "barrier_out");
}

std::string Pmi1Client::value_of(int pe) {
    return from_digits(
        field(ask("cmd=get kvsname=" + space_ + " key=" + key_ + std::to_string(pe), "get_result"), "value"));
}

/// The answer, which is one line.
std::string Pmi1Client::ask(const std::string& request, const std::string& expected) {
    socket_.send(request + "\n");
    std::string answer = socket_.receive_line();
    if (!answer.starts_with("cmd=" + expected)) throw_pmi_answer(answer, request);
    return answer;
}

}  // namespace atl::bootstrap
