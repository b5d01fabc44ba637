// Endpoint: the connection of this process to processes of other hosts. Groups with the same processes share
// it.
#pragma once

#include "transport/ucx/ucx.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace atl::far {

/// Memory into which other processes put. Called with the endpoint's lock held.
class Target {
  public:
    virtual ~Target() = default;
    virtual void put(std::uint64_t offset, const char* data, std::size_t bytes) = 0;
    virtual void set(std::uint64_t offset, std::uint64_t value) = 0;
    /// Called after each message.
    virtual void arrived() noexcept = 0;
};

class Endpoint final : public transport::Parts {
  public:
    /// A target's number is above these bits of an offset.
    static constexpr unsigned offset_shift = 40;

    /// Makes the endpoint of process `number` of `n` that have made one of this name together. Throws
    /// Error(unsupported, system).
    static std::shared_ptr<Endpoint> make(std::string name, int number, int n);
    /// The usable endpoints of this process.
    static std::vector<std::shared_ptr<Endpoint>> all();
    ~Endpoint() override;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    const std::string& name() const { return name_; }
    int number() const { return number_; }
    /// The text by which the others connect to this process.
    const std::string& address() const { return address_; }
    /// Sets the others' addresses. Call it before the first use. Other groups may use the endpoint from then
    /// on.
    void set_addresses(std::vector<std::string> addresses);
    transport::Transport& transport() { return *transport_; }

    /// Adds a target, and returns the offset of its first byte for other processes.
    std::uint64_t add(Target& target);
    void remove(std::uint64_t offset);
    /// Keeps memory until no message is sent from it any more.
    void retire(std::shared_ptr<const void> memory);
    /// Why a process cannot be reached any more; empty if it can.
    std::string end_of(int number);

    void put(std::uint64_t offset, const char* data, std::size_t bytes,
             const transport::Signal* signal) override;

  private:
    Endpoint(std::string name, int number, int n);

    const std::string name_;
    const int number_;
    const pid_t process_ = ::getpid();
    std::string address_;
    std::vector<std::string> addresses_;
    std::mutex mutex_;  ///< guards targets; taken within the transport's own lock
    std::unordered_map<std::uint64_t, Target*> targets_;
    std::uint64_t last_target_ = 0;
    std::mutex ends_mutex_;
    std::unordered_map<int, std::string> ends_;
    bool is_open_ = false;  ///< has addresses; under ends_mutex_
    std::mutex retired_mutex_;
    std::vector<std::shared_ptr<const void>> retired_;
    std::unique_ptr<transport::Transport> transport_;  // last: it uses the others
};

}  // namespace atl::far
