// Frames on a stream socket: the protocol between the store's server and clients. Each side begins with
// `greeting`, by which foreign programs are recognized. Frames follow: a length, a type and a body. Both
// sides know a secret and prove it without sending it: each invents a number for the other's proof.
//
//   client → server                                  server → client
//                                                    'N' the server's number, at once.
//   'H' hello (encode_hello), with its proof.        'O' the server's proof: welcome. For an agent of
//                                                    several hosts the protocol of
//                                                    cli/hosts/trace_wire.hpp follows.
//   'P' key NUL value.
//   'G' key.                                         'V' value, once a PE has put it.
//   'F' fence.                                       'F' once all PEs have sent equally many.
//   'C' value: collect.                              'C' all values (pack), once all PEs have sent theirs.
//   'S' segment.                                     'S' with two descriptors: board, heap.
//   'W' which PEs are missing?                       'W' a sentence.
//   'A' status NUL sentence: abort.
//   'B' goodbye, "f" finalized or "l" not.
//       After 'B' the end of the connection is not a death.
//   'M' the monitor watches: this PE is set up.
//                                                    'E' error code NUL sentence: init of the job failed.
//                                                    'D' "PE STATE": a PE has gone (PeState).
//                                                    'X' "PE STATUS" NUL sentence: the job is over.
//   'T' this PE's activity (encode_doing).           'T' a request for the PE's activity.
//                                                    With a body also for its calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/board/board.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::bootstrap {

inline constexpr std::string_view greeting = "ATOLL/1\n";
inline constexpr std::size_t most_from_strangers = 2048;   ///< bytes of a hello
inline constexpr std::size_t most_frame_bytes = 16 << 20;  ///< bytes of any frame

struct Frame {
    char type = 0;
    std::string body;
};

std::string encode(char type, std::string_view body = {});

/// The data by which a PE identifies itself.
struct Hello {
    int pe = 0, n_pes = 1, pid = 0;
    std::string release;   ///< release of its library
    std::string host;      ///< that it runs on
    std::string number;    ///< for the server's proof
    std::string settings;  ///< settings that must be equal on all PEs
};

/// Encodes a hello with the proof for the server's `number`.
std::string encode_hello(const Hello& hello, const std::string& secret, const std::string& number);
/// Decodes a hello; empty if malformed. `proven` is set to true if it was made with this secret.
std::optional<Hello> decode_hello(const std::string& body, const std::string& secret,
                                  const std::string& number, bool& proven);
/// The server's answer to a hello.
std::string server_proof(const Hello& hello, const std::string& secret);

std::string encode_doing(const common::PeDoing& doing);
common::PeDoing decode_doing(const std::string& body);

/// Splits a stream of bytes into frames.
class FrameReader {
  public:
    void append(const char* data, std::size_t bytes) { buffer_.append(data, bytes); }
    std::optional<Frame> next();
    /// True if the bytes cannot come from a process of ours.
    bool broken() const { return broken_; }
    void set_limit(std::size_t bytes) { limit_ = bytes; }

  private:
    bool take_greeting();

    std::string buffer_;
    std::size_t limit_ = most_from_strangers;
    bool greeted_ = false;
    bool broken_ = false;
};

/// Packs strings into one, and unpacks them. Equal strings are stored once, so a value that all PEs of a host
/// share costs once a host. Throws Error(bootstrap) if `packed` is not made of `count` strings.
std::string pack(const std::vector<std::string>& values);
std::vector<std::string> unpack(const std::string& packed, int count);

/// Splits at the first NUL.
std::pair<std::string, std::string> split(const std::string& body);

}  // namespace atl::bootstrap
