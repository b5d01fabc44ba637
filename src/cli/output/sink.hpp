// One of the launcher's own output streams, written without waiting for its reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/descriptors/fd.hpp"

namespace atl::cli {

class LastSignals;

class Sink {
  public:
    enum class Kind {
        file,  ///< always ready: a regular file, /dev/null
        pipe,  ///< a pipe or a socket
        terminal,
    };

    /// Borrows `fd`, which must stay open.
    explicit Sink(int fd);
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    Kind kind() const { return kind_; }
    /// The descriptor to poll for room.
    int fd() const { return own_ ? own_.get() : fd_; }
    /// True if both lead to one file, pipe or terminal.
    bool is_same_as(const Sink& other) const;

    /// Writes `first`, then `second`, and keeps the bytes for which there is no room.
    void write(std::string_view first, std::string_view second = {});
    /// Writes kept bytes.
    void go_on();
    /// Waits for room until everything is written.
    void finish(const LastSignals& signals);

    /// The number of kept bytes.
    std::size_t backlog() const { return pending_.size() - done_; }
    /// The errno of the first failed write, after which all output is dropped; 0: none.
    int error() const { return error_; }

  private:
    /// Writes as much as there is room for; returns the number of bytes.
    std::size_t write_some(std::string_view first, std::string_view second);
    /// False if a write would wait for the reader.
    bool has_room() const;

    int fd_;
    common::Fd own_;  ///< the same pipe or terminal opened a second time, so that it alone does not block
    Kind kind_ = Kind::file;
    bool is_socket_ = false;
    std::string pending_;
    std::size_t done_ = 0;  ///< bytes of `pending_` that are already written
    int error_ = 0;
};

}  // namespace atl::cli
