// The descriptor on which a launcher answers PMI requests, and the parts that both versions of PMI share.
#pragma once

#include <cstddef>
#include <string>

#include "common/settings/job_environment.hpp"

namespace atl::bootstrap {

/// Parses a number of the launcher, from a variable or an answer. Throws Error(bootstrap).
int pmi_number(const std::string& text, const std::string& name);

/// Values of PMI may hold no space, semicolon or line end, and may not be empty; digits avoid these.
std::string to_digits(const std::string& bytes);
std::string from_digits(const std::string& text);

/// Sends requests and receives answers, as bytes. Throws Error(bootstrap) or Error(system).
class PmiSocket {
  public:
    PmiSocket(const common::JobEnvironment& environment, double timeout_s);

    /// PMI_RANK and PMI_SIZE.
    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    void send(const std::string& bytes);
    std::string receive_line();
    std::string receive(std::size_t bytes);
    /// Offers to speak this version; false where the launcher does not.
    bool agree_on(int version, int subversion);
    /// Encodes a value as text of fewer than `most` characters. Throws Error(bootstrap) that tells how to
    /// make it shorter.
    static std::string to_value(const std::string& value, std::size_t most);

  private:
    void read_more(const std::string& what);

    const int fd_, pe_, n_pes_;
    const double timeout_s_;
    std::string buffer_;
};

/// Reports an answer of the launcher other than the expected one.
[[noreturn]] void throw_pmi_answer(const std::string& answer, const std::string& request);

}  // namespace atl::bootstrap
