// Guests of the store: processes that know the secret and are not PEs, such as a launcher's agents.
#include "atoll/error.hpp"
#include "bootstrap/store/store_client.hpp"
#include "bootstrap/store/store_server.hpp"
#include "bootstrap/store/tcp_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atl::bootstrap {
namespace {

class Guests : public ::testing::Test {
  protected:
    Guests() {
        common::Fd listener = listen_anywhere(0, "a test");
        port_ = port_of(listener.get());
        StoreServer::Options options;
        options.secret = "right";
        std::vector<StoreServer::Listener> listeners;
        listeners.push_back({std::move(listener), false});
        server_ = std::make_unique<StoreServer>(std::move(listeners), common::Fd(), options);
        server_->serve_guests([this](int number, common::ProcessFd connection) {
            const std::lock_guard lock(mutex_);
            number_ = number;
            connection_ = std::move(connection);
            changed_.notify_all();
        });
    }

    common::ProcessFd come(int number, const std::string& secret) const {
        const StoreClient::Identity identity{-1 - number, 1, secret, "", 3};
        const HostPort address{"127.0.0.1", std::to_string(port_)};
        StoreClient client([&] { return connect_to(resolve(address, "this host").get()); }, "here", identity,
                           10);
        return client.take_connection();
    }

    int port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    int number_ = -1;
    common::ProcessFd connection_;
    std::unique_ptr<StoreServer> server_;  ///< last: its thread uses the others
};

TEST_F(Guests, HaveAConnectionOfTheirOwn) {
    const common::ProcessFd mine = come(3, "right");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return number_ >= 0; });
    EXPECT_EQ(number_, 3);
    EXPECT_EQ(::send(mine.get(), "hello", 5, 0), 5);
    char bytes[8] = {};
    while (::recv(connection_.get(), bytes, sizeof bytes, 0) < 0 && errno == EAGAIN) {
    }
    EXPECT_STREQ(bytes, "hello");
    EXPECT_EQ(::send(connection_.get(), "you", 3, 0), 3);
    char answer[8] = {};
    EXPECT_EQ(::recv(mine.get(), answer, sizeof answer, 0), 3);
    EXPECT_STREQ(answer, "you");
}

TEST_F(Guests, AreNoPes) {
    const common::ProcessFd mine = come(0, "right");
    EXPECT_EQ(server_->came(), std::vector<bool>{false});
    EXPECT_TRUE(server_->failure().sentence.empty());
}

TEST_F(Guests, WithAnotherSecretAreRefused) {
    try {
        come(0, "wrong");
        FAIL() << "it was let in";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("its secret is another"), std::string::npos) << error.what();
    }
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(number_, -1);
}

}  // namespace
}  // namespace atl::bootstrap
