// Frames on a stream socket: how the store's server and clients talk. Each side begins with `greeting`, so
// that whoever else comes to the socket is told apart by its first bytes; then frames of a length, a type and
// a body. Both know a secret and prove it without sending it: each makes up a number for the other's proof.
//
//   client → server                                  server → client
//                                                    'N' the server's number, at once
//   'H' hello (encode_hello), with its proof         'O' the server's proof: welcome
//   'P' key NUL value
//   'G' key                                          'V' value, once somebody has put it
//   'F' fence                                        'F' once all PEs have fenced as often
//   'C' value: collect                               'C' all values (pack), once all PEs have sent theirs
//   'S' segment                                      'S' with two descriptors: board, heap
//   'W' who is missing?                              'W' a sentence
//   'A' status NUL sentence: abort
//   'B' goodbye, "f" finalized or "l" not: closing is no
//       death from now on
//   'M' the monitor watches: this PE is set up
//                                                    'E' error code NUL sentence: setting up the job has
//                                                    failed
//                                                    'D' "PE STATE": a PE has gone (PeState)
//                                                    'X' "PE STATUS" NUL sentence: the job is over
//   'T' what this PE does (encode_doing)             'T' what do you do?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/board.hpp"
#include "common/fd.hpp"

namespace atl::bootstrap {

inline constexpr std::string_view greeting = "ATOLL/1\n";
inline constexpr std::size_t most_from_strangers = 2048;   ///< of a hello
inline constexpr std::size_t most_frame_bytes = 16 << 20;  ///< of anything

struct Frame {
    char type = 0;
    std::string body;
};

std::string encode(char type, std::string_view body = {});

/// What a PE says of itself.
struct Hello {
    int pe = 0, n_pes = 1, pid = 0;
    std::string release;   ///< of its library
    std::string host;      ///< that it runs on
    std::string number;    ///< for the server's proof
    std::string settings;  ///< those that must be alike for all PEs
};

/// With the proof for the server's `number`.
std::string encode_hello(const Hello& hello, const std::string& secret, const std::string& number);
/// Nothing if it was not made so; `proven` says whether it was with this secret.
std::optional<Hello> decode_hello(const std::string& body, const std::string& secret,
                                  const std::string& number, bool& proven);
/// What the server answers to a hello.
std::string server_proof(const Hello& hello, const std::string& secret);

std::string encode_doing(const common::PeDoing& doing);
common::PeDoing decode_doing(const std::string& body);

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

/// Strings as one, and as they were; equal ones are held once, so that what all PEs of a host say alike costs
/// once a host. Throws Error(bootstrap) if `packed` was not made so of `count` strings.
std::string pack(const std::vector<std::string>& values);
std::vector<std::string> unpack(const std::string& packed, int count);

/// Splits at the first NUL.
std::pair<std::string, std::string> split(const std::string& body);

}  // namespace atl::bootstrap
