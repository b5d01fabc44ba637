// The common base of all bootstraps that use a store: the connection, this PE's entry on its host's board,
// goodbye.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/store_client.hpp"
#include "bootstrap/store/store_server.hpp"

namespace atl::bootstrap {

/// A PE's connection to the store, and the store itself where it is in this process.
struct Link {
    int pe = 0, n_pes = 1;
    std::unique_ptr<StoreServer> server;
    std::unique_ptr<StoreClient> client;  ///< last: it goes first
};

class StoreLink : public Bootstrap {
  public:
    std::string_view name() const override { return name_; }
    int pe() const override { return pe_; }
    int n_pes() const override { return n_pes_; }
    void put(const std::string& key, const std::string& value) override { client_->put(key, value); }
    std::string get(const std::string& key) override { return client_->get(key); }
    void fence() override { client_->fence(); }
    std::vector<std::string> allgather(const std::string& value) override {
        return client_->allgather(value);
    }
    void goodbye(bool finalized) noexcept override;
    void abort(int status, const std::string& sentence) noexcept override;

  protected:
    StoreLink(Link link, std::string_view name);
    ~StoreLink() override;
    /// The last step of host_segment: enters this PE on `board_`. When it returns, all PEs are entered.
    void sign_in(HostSegment& segment);
    /// True in a forked child, which must not send in its parent's name.
    bool is_child() const noexcept;

    const std::string_view name_;
    const int pe_;
    const int n_pes_;
    MappedBoard board_;
    std::unique_ptr<StoreServer> server_;  ///< in PE 0, where no launcher has it
    std::unique_ptr<StoreClient> client_;

  private:
    const pid_t process_;
};

}  // namespace atl::bootstrap
