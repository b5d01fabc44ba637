// The store of small values by which PEs find each other, and their fences.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atl::cli {

class KeyValueStore {
  public:
    /// `answer(pe, packet)` sends a packet to a PE that waits.
    KeyValueStore(int n_pes, std::function<void(int, const std::string&)> answer);

    /// Forgets all values, because the next job of the same PEs writes new ones. Only call it while no PE
    /// waits.
    void forget() { values_.clear(); }
    void put(const std::string& key, const std::string& value);
    void get(int pe, const std::string& key);
    void fence(int pe);
    /// Answers all PEs, once the last value has arrived, in packets 'C'
    /// (bootstrap/launcher/launch_protocol.hpp).
    void collect(int pe, const std::string& value);
    /// Records that this PE has ended: fences no longer wait for it, and its own waits are dropped.
    void depart(int pe);
    /// PEs that wait for a value or in a fence.
    std::vector<int> waiting() const;

  private:
    void release_fences();
    void release_collection();

    std::function<void(int, const std::string&)> answer_;
    std::map<std::string, std::string> values_;
    std::multimap<std::string, int> getters_;  ///< key → PE that waits for it
    std::vector<std::uint64_t> fences_;        ///< how often each PE has fenced
    std::vector<bool> departed_;
    std::uint64_t released_ = 0;  ///< fences that all have reached
    std::vector<std::optional<std::string>> collected_;
};

}  // namespace atl::cli
