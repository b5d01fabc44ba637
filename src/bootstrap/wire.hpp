// Frames on a stream socket: how the store's server and clients talk. Each side begins with `greeting`, so
// that whoever else comes to the socket is told apart by its first bytes; then frames of a length, a type and
// a body.
//
//   client → server                                  server → client
//   'H' "PE N_PES PID TOKEN"                         'O' welcome
//   'P' key NUL value
//   'G' key                                          'V' value, once somebody has put it
//   'F' fence                                        'F' once all PEs have fenced as often
//   'C' value: collect                               'C' all values (pack), once all PEs have sent theirs
//   'S' segment                                      'S' with two descriptors: board, heap
//   'W' who is missing?                              'W' a sentence
//   'A' status NUL sentence: abort
//   'B' goodbye: closing is no death from now on
//                                                    'E' error code NUL sentence: setting up the job has
//                                                    failed
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fd.hpp"

namespace atl::bootstrap {

inline constexpr std::string_view greeting = "ATOLL/1\n";
inline constexpr std::size_t most_from_strangers = 512;    ///< of a hello
inline constexpr std::size_t most_frame_bytes = 16 << 20;  ///< of anything

struct Frame {
    char type = 0;
    std::string body;
};

std::string encode(char type, std::string_view body = {});

/// Takes bytes as they come and gives frames.
class FrameReader {
  public:
    void append(const char* data, std::size_t bytes) { buffer_.append(data, bytes); }
    std::optional<Frame> next();
    /// What came cannot be from one of us.
    bool broken() const { return broken_; }
    void set_limit(std::size_t bytes) { limit_ = bytes; }

  private:
    bool take_greeting();

    std::string buffer_;
    std::size_t limit_ = most_from_strangers;
    bool greeted_ = false;
    bool broken_ = false;
};

/// Strings as one, and as they were. Throws Error(bootstrap) if `packed` was not made so of `count` strings.
std::string pack(const std::vector<std::string>& values);
std::vector<std::string> unpack(const std::string& packed, int count);

/// Splits at the first NUL.
std::pair<std::string, std::string> split(const std::string& body);

}  // namespace atl::bootstrap
