// Segment: memory for a group whose members are processes of one host that no job connects, as in PyTorch.
#pragma once

#include "collective/requests/members.hpp"
#include "common/descriptors/fd.hpp"

#include <memory>
#include <string>

namespace atl::requests {

class Segment {
  public:
    /// Makes the memory of a group, and an address with which the other members join it. Throws Error(system,
    /// invalid_argument).
    static std::shared_ptr<Segment> create(int n);
    /// Maps the memory of the process that made it. Throws Error(unsupported) if that runs on another host.
    static std::shared_ptr<Segment> join(const std::string& address, int n);
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    const std::string& address() const { return address_; }
    char* area(int member) const;
    /// Why a member will do nothing more: its process has ended. Empty if it runs or has left. Calls must not
    /// overlap.
    std::string end_of(int member);

  private:
    Segment(int n, common::Fd fd);
    void map();

    int n_;
    common::Fd fd_;
    char* base_ = nullptr;
    std::string address_;
    std::vector<common::Fd> processes_;  ///< descriptors that become readable when a process ends
};

}  // namespace atl::requests
