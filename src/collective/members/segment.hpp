// Segment: memory for a group whose members are processes of one host without a job, as in PyTorch.
#pragma once

#include "collective/members/members.hpp"
#include "common/descriptors/process_watch.hpp"
#include "memory/shared_file.hpp"

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
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    const std::string& address() const { return file_.address(); }
    char* area(int member) const;
    /// Why a member will do nothing more: its process has ended. Empty if it runs or has left. Calls must not
    /// overlap.
    std::string end_of(int member);

  private:
    Segment(int n, memory::SharedFile file);

    int n_;
    memory::SharedFile file_;
    std::vector<common::ProcessWatch> processes_;
};

}  // namespace atl::requests
