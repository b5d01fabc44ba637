// PMI-2, which Slurm's --mpi=pmi2 speaks.
#include <algorithm>

#include "bootstrap/fail.hpp"
#include "bootstrap/pmi/pmi_client.hpp"

namespace atl::bootstrap {
namespace {

constexpr std::size_t length_characters = 6, most_bytes = 1024;  // PMI2_MAX_VALLEN

/// Returns a field of an answer. PMI-2 doubles a semicolon within a value; our values have none, and a job's
/// name is not parsed.
std::string answer_field(const std::string& answer, const std::string& name) {
    const std::size_t at = answer.find(";" + name + "=");
    if (at == std::string::npos)
        throw_bootstrap("PMI-2 answered \"" + answer + "\", which lacks " + name + ".");
    std::size_t end = at + name.size() + 2;
    const std::size_t begin = end;
    while (end < answer.size() && (answer[end] != ';' || answer.compare(end, 2, ";;") == 0))
        end += answer[end] == ';' ? 2 : 1;
    return answer.substr(begin, end - begin);
}

std::string framed(const std::string& text) {
    constexpr std::size_t width = 6;
    const std::string length = std::to_string(text.size());
    return std::string(width - std::min(width, length.size()), ' ') + length + text;
}

/// Parses the length. Hydra aligns the digits to the right, Slurm to the left.
std::size_t length_of(const std::string& characters) {
    const std::size_t begin = characters.find_first_not_of(' ');
    const std::size_t end = characters.find_last_not_of(' ');
    const std::string digits =
        begin == std::string::npos ? characters : characters.substr(begin, end - begin + 1);
    return static_cast<std::size_t>(pmi_number(digits, "the length of PMI-2's answer"));
}

}  // namespace

Pmi2Client::Pmi2Client(PmiSocket socket, const std::string& job) : socket_(std::move(socket)) {
    const std::string welcome = ask("fullinit", (job.empty() ? "" : "pmijobid=" + job + ";") + "pmirank=" +
                                                    std::to_string(socket_.pe()) + ";threaded=FALSE;");
    pe_ = pmi_number(answer_field(welcome, "rank"), "rank");
    n_pes_ = pmi_number(answer_field(welcome, "size"), "size");
    job_ = answer_field(ask("job-getid"), "jobid");
}

Pmi2Client::~Pmi2Client() {
    try {
        ask("finalize");
    } catch (const Error&) {  // the launcher has gone
    }
}

void Pmi2Client::publish(const std::string& value) {
    key_ = "atoll-" + std::to_string(rounds_++) + "-";
    ask("kvs-put",
        "key=" + key_ + std::to_string(pe_) + ";value=" + PmiSocket::to_value(value, most_bytes) + ";");
    ask("kvs-fence");
}

std::string Pmi2Client::value_of(int pe) {
    constexpr const char* any_source = "srcid=-1;";
    return from_digits(answer_field(
        ask("kvs-get", "jobid=" + job_ + ";" + any_source + "key=" + key_ + std::to_string(pe) + ";"),
        "value"));
}

std::string Pmi2Client::ask(const std::string& command, const std::string& arguments) {
    const std::string request = "cmd=" + command + ";" + arguments;
    socket_.send(framed(request));
    std::string answer = socket_.receive(length_of(socket_.receive(length_characters)));
    if (!answer.starts_with("cmd=" + command + "-response;") || answer_field(answer, "rc") != "0")
        throw_pmi_answer(answer, request);
    return answer;
}

}  // namespace atl::bootstrap
