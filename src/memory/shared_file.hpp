// SharedFile: memory of one process that other processes of its host and user map. They find it by its
// address, a text that any store can carry.
#pragma once

#include "common/descriptors/fd.hpp"

#include <cstddef>
#include <string>

namespace atl::memory {

/// A text, equal for processes that can map each other's files: those of one host and container. The
/// name of the host follows its last colon.
std::string host_text();
std::string name_of_host(const std::string& text);

class SharedFile {
  public:
    /// Bytes at the start of the memory that identify it. The rest is zero in a new file.
    static constexpr std::size_t token_bytes = 64;

    /// Makes memory of `bytes`, of which only touched pages take space. `purpose`, such as "a group", is for
    /// errors. Throws Error(system, out_of_memory).
    static SharedFile create(std::size_t bytes, const std::string& purpose);
    /// Maps the memory that has this address. Throws Error(unsupported) if it is on another host, and
    /// Error(bootstrap, system) if it cannot be found.
    static SharedFile join(const std::string& address, const std::string& purpose);
    SharedFile(SharedFile&& other) noexcept;
    SharedFile& operator=(SharedFile&& other) = delete;
    ~SharedFile();

    char* base() const { return base_; }
    std::size_t bytes() const { return bytes_; }
    const std::string& address() const { return address_; }
    /// The process that made it.
    int process() const { return process_; }

  private:
    SharedFile(common::Fd fd, std::size_t bytes, int process);
    void map(const std::string& purpose);

    common::Fd fd_;
    std::size_t bytes_;
    int process_;
    char* base_ = nullptr;
    std::string address_;
};

}  // namespace atl::memory
