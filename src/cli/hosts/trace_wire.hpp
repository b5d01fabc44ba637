// The events of PEs on their way from an agent of `atoll run --hosts` to the launcher, which writes the
// trace. The agent connects as a guest of the store (bootstrap/store). Frames of bootstrap/store/wire.hpp
// follow.
//
//   agent → launcher                                 launcher → agent
//   'I' identity of the agent's clock.               'I' "1" if it is the launcher's own clock.
//   'P' a question for the clock: its number         'P' this number, and the launcher's time
//       (8 bytes).                                       (8 bytes each).
//   'S' status: the PEs have ended.
//   'C' error of the clock in ns (8 bytes).
//   'N' a PE (4 bytes) whose host has no room for
//       its log.
//   'p' a PE: begin of its events.
//   'e' events of this PE.    't' titles of its kernels' tracks.    'k' slices of them.
//   'Z' that was all.                                'Z' it has come.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/job_trace.hpp"

namespace atl::cli {

/// Numbers and texts in one string. Both ends are little-endian. `pass` of a Packer and of an Unpacker do the
/// same in both directions, so that one list of fields serves both.
class Packer {
  public:
    template <class T> Packer& number(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Packer& text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        bytes_.append(text);
        return *this;
    }
    template <class T> void pass(const T& field) { number(field); }
    void pass(bool field) { number(std::uint8_t{field}); }
    void pass(const std::string& field) { text(field); }
    void pass(const std::vector<std::string>& fields) {
        number(static_cast<std::uint32_t>(fields.size()));
        for (const std::string& field : fields) text(field);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// Reads what a Packer wrote. After the end of the bytes all values are 0, and is_good() is false.
class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
    template <class T> T number() {
        T value{};
        const std::string_view bytes = take(sizeof value);
        bytes.copy(reinterpret_cast<char*>(&value), bytes.size());
        return value;
    }
    std::string text() { return std::string(take(number<std::uint32_t>())); }
    template <class T> void pass(T& field) { field = number<T>(); }
    void pass(bool& field) { field = number<std::uint8_t>() != 0; }
    void pass(std::string& field) { field = text(); }
    void pass(std::vector<std::string>& fields) {
        for (auto left = number<std::uint32_t>(); left > 0 && is_good_; --left) fields.push_back(text());
    }
    bool is_good() const { return is_good_; }
    bool at_end() const { return rest_.empty(); }

  private:
    std::string_view take(std::size_t bytes) {
        is_good_ = is_good_ && bytes <= rest_.size();
        const std::string_view taken = is_good_ ? rest_.substr(0, bytes) : std::string_view();
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest_;
    bool is_good_ = true;
};

/// Passes the frames of a PE, each well below the limit of frames. False once `send` has returned false.
bool send_pe(const PeTrace& pe, const std::function<bool(char type, const std::string& body)>& send);

/// Adds a frame of send_pe() to the PEs that have come. False if it is malformed.
bool add_frame(char type, const std::string& body, std::vector<PeTrace>& pes);

}  // namespace atl::cli
