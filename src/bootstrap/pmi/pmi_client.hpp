// Clients of the two versions of PMI that launchers speak. Each has the functions that exchange_through
// needs.
#pragma once

#include <string>
#include <utility>

#include "bootstrap/pmi/pmi_socket.hpp"

namespace atl::bootstrap {

/// The client of PMI-1: lines of "cmd=NAME key=value ...". The socket has agreed on version 1.
class Pmi1Client {
  public:
    explicit Pmi1Client(PmiSocket socket);
    ~Pmi1Client();
    Pmi1Client(const Pmi1Client&) = delete;
    Pmi1Client& operator=(const Pmi1Client&) = delete;

    int pe() const { return socket_.pe(); }
    int n_pes() const { return socket_.n_pes(); }
    void publish(const std::string& value);
    std::string value_of(int pe);

  private:
    std::string ask(const std::string& request, const std::string& expected);

    PmiSocket socket_;
    int most_bytes_ = 0, rounds_ = 0;
    std::string space_, key_;
};

/// The client of PMI-2: six characters of length, then "cmd=NAME;key=value;...". The socket has agreed on
/// version 2.
class Pmi2Client {
  public:
    Pmi2Client(PmiSocket socket, const std::string& job);
    ~Pmi2Client();
    Pmi2Client(const Pmi2Client&) = delete;
    Pmi2Client& operator=(const Pmi2Client&) = delete;

    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    void publish(const std::string& value);
    std::string value_of(int pe);

  private:
    std::string ask(const std::string& command, const std::string& arguments = {});

    PmiSocket socket_;
    int pe_ = 0, n_pes_ = 1, rounds_ = 0;
    std::string job_, key_;
};

}  // namespace atl::bootstrap
