// Doorbell: a socket by which processes of one host wake another, from its sleep on descriptors.
#pragma once

#include "common/descriptors/fd.hpp"

#include <string>

namespace atl::far {

class Doorbell {
  public:
    /// Throws Error(system).
    Doorbell();
    /// The name by which other processes ring it: shorter than requests::doorbell_bytes, unique on the host.
    const std::string& name() const { return name_; }
    /// Readable once it was rung.
    int fd() const { return fd_.get(); }
    /// Makes it unreadable. Returns true if it was rung.
    bool clear() const noexcept;
    /// Rings another process's. Returns false if it cannot be reached.
    bool ring(const char* name) const noexcept;

  private:
    std::string name_;
    common::Fd fd_;
};

}  // namespace atl::far
