// Puts the messages of one PE into the order in which it sent them. UCX does not guarantee that order, and
// nearly always keeps it.
#pragma once

#include "transport/ucx/wire.hpp"

#include <cstring>
#include <map>
#include <vector>

namespace atl::transport::ucx {

class Inbox {
  public:
    /// Sequence number of the last message that was delivered.
    std::uint64_t delivered() const { return delivered_; }

    /// Calls `deliver(header, data, bytes)` for this message and for those that waited for it. Keeps the
    /// message if one before it is missing.
    template <class Deliver>
    void accept(const Header& header, const char* data, std::size_t bytes, Deliver&& deliver) {
        if (header.sequence != delivered_ + 1) return keep(header, data, bytes);
        deliver(header, data, bytes);
        ++delivered_;
        while (!early_.empty() && early_.begin()->first == delivered_ + 1) {
            const std::vector<char> kept = std::move(early_.begin()->second);
            early_.erase(early_.begin());
            Header next;
            std::memcpy(&next, kept.data(), sizeof next);
            deliver(next, kept.data() + sizeof next, kept.size() - sizeof next);
            ++delivered_;
        }
    }

  private:
    void keep(const Header& header, const char* data, std::size_t bytes) {
        if (header.sequence <= delivered_) return;
        std::vector<char>& kept = early_[header.sequence];
        kept.resize(sizeof header + bytes);
        std::memcpy(kept.data(), &header, sizeof header);
        if (bytes != 0) std::memcpy(kept.data() + sizeof header, data, bytes);
    }

    std::uint64_t delivered_ = 0;
    std::map<std::uint64_t, std::vector<char>> early_;  ///< with their headers
};

}  // namespace atl::transport::ucx
