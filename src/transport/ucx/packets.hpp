// Buffers for messages that UCX has not sent yet.
#pragma once

#include "transport/ucx/wire.hpp"

#include <memory>
#include <vector>

namespace atl::transport::ucx {

/// Messages up to this size are copied into a packet; longer ones are sent from the caller's memory.
inline constexpr std::size_t packet_data_bytes = 4096;

/// Counts messages in flight from a caller's memory.
struct Flight {
    int left = 0;
    bool abandoned = false;  ///< the owner no longer waits, so the last message deletes it
};

class Worker;

struct Packet {
    Header header;
    char data[packet_data_bytes];
    Worker* home = nullptr;
    Flight* flight = nullptr;
};

/// A pool of packets. Not thread-safe.
class Packets {
  public:
    Packet& take() {
        ++taken_;
        if (free_.empty()) {
            all_.push_back(std::make_unique_for_overwrite<Packet>());
            free_.push_back(all_.back().get());
        }
        Packet& packet = *free_.back();
        free_.pop_back();
        packet.flight = nullptr;
        return packet;
    }
    void release(Packet& packet) {
        --taken_;
        free_.push_back(&packet);
        Flight* flight = packet.flight;
        if (!flight) return;
        --flight->left;
        if (flight->left == 0 && flight->abandoned) delete flight;
    }
    /// Messages in flight.
    std::size_t taken() const { return taken_; }

  private:
    std::vector<std::unique_ptr<Packet>> all_;
    std::vector<Packet*> free_;
    std::size_t taken_ = 0;
};

}  // namespace atl::transport::ucx
