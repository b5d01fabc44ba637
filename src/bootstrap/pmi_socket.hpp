// The descriptor by which a launcher that speaks PMI is asked, and what both versions of PMI do alike.
#pragma once

#include <cstddef>
#include <string>

#include "common/job_environment.hpp"

namespace atl::bootstrap {

/// A number that the launcher gave in a variable or an answer. Throws Error(bootstrap).
int pmi_number(const std::string& text, const std::string& name);

/// Values may hold no space, semicolon or line's end, nor be empty.
std::string to_digits(const std::string& bytes);
std::string from_digits(const std::string& text);

/// Requests and answers, as bytes. Its errors are Error(bootstrap), or Error(system).
class PmiSocket {
  public:
    PmiSocket(const common::JobEnvironment& environment, double timeout_s);

    /// What PMI_RANK and PMI_SIZE say.
    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    void send(const std::string& bytes);
    std::string receive_line();
    std::string receive(std::size_t bytes);
    /// Offers to speak this version; false where the launcher does not.
    bool agree_on(int version, int subversion);
    /// A value as text of fewer than `most` characters. Throws Error(bootstrap) saying what makes it shorter.
    static std::string to_value(const std::string& value, std::size_t most);

  private:
    void read_more(const std::string& what);

    const int fd_, pe_, n_pes_;
    const double timeout_s_;
    std::string buffer_;
};

/// What the launcher answered where something else was expected.
[[noreturn]] void throw_pmi_answer(const std::string& answer, const std::string& request);

}  // namespace atl::bootstrap
