// One of the launcher's own output streams, written to without waiting for its reader.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/fd.hpp"

namespace atl::cli {

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
    /// To be polled for room.
    int fd() const { return own_ ? own_.get() : fd_; }
    /// Both lead to one file, pipe or terminal.
    bool is_same_as(const Sink& other) const;

    /// Writes `first` and `second`, one behind the other, and keeps what finds no room.
    void write(std::string_view first, std::string_view second = {});
    /// Goes on with what was kept.
    void go_on();
    /// Waits for room until all is written.
    void finish();

    /// Bytes that are kept.
    std::size_t backlog() const { return pending_.size() - done_; }
    /// The errno of the first write that failed, after which all is dropped; 0 = none.
    int error() const { return error_; }

  private:
    /// Writes what there is room for; returns the bytes written.
    std::size_t write_some(std::string_view first, std::string_view second);
    /// Keeps whatever writes would wait for their reader from being tried.
    bool has_room() const;

    int fd_;
    common::Fd own_;  ///< the same pipe or terminal opened a second time, so that it alone does not block
    Kind kind_ = Kind::file;
    bool is_socket_ = false;
    std::string pending_;
    std::size_t done_ = 0;  ///< of `pending_`, already written
    int error_ = 0;
};

}  // namespace atl::cli
