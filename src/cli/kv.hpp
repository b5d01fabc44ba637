// The store of small values through which PEs find each other, and their fences.
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
    /// `answer(pe, packet)` reaches a PE that waits.
    KeyValueStore(int n_pes, std::function<void(int, const std::string&)> answer);

    /// Forgets all values: the next job of the same PEs writes its own. Only while nobody waits.
    void forget() { values_.clear(); }
    void put(const std::string& key, const std::string& value);
    void get(int pe, const std::string& key);
    void fence(int pe);
    /// Answers all, once the last has come, in packets 'C' (bootstrap/launch_protocol.hpp).
    void collect(int pe, const std::string& value);
    /// This PE has ended: fences no longer wait for it, and it waits for nothing.
    void depart(int pe);
    /// PEs that wait for a value or in a fence.
    std::vector<int> waiting() const;

  private:
    void release_fences();
    void release_collection();

    std::function<void(int, const std::string&)> answer_;
    std::map<std::string, std::string> values_;
    std::multimap<std::string, int> getters_;  ///< who waits for a key
    std::vector<std::uint64_t> fences_;        ///< how often each PE has fenced
    std::vector<bool> departed_;
    std::uint64_t released_ = 0;  ///< fences that all have reached
    std::vector<std::optional<std::string>> collected_;
};

}  // namespace atl::cli
