// Groups over hosts whose members are threads of the test.
#pragma once

#include "collective/members/endpoint.hpp"
#include "collective/members/meeting.hpp"
#include "collective/requests.hpp"
#include "collective/requests/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace atl::requests {

using Values = std::vector<std::int32_t>;

/// A store in memory, whose `get` waits.
class Store {
  public:
    JobOptions::Store of_members() {
        JobOptions::Store store;
        store.put = [this](const std::string& key, const std::string& value) {
            const std::lock_guard lock(mutex_);
            values_[key] = value;
            changed_.notify_all();
        };
        store.get = [this](const std::string& key) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return values_.contains(key); });
            return values_[key];
        };
        return store;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> values_;
};

class FarSetup : public ::testing::Test {
  protected:
    ~FarSetup() override { ::unsetenv("ATOLL_HOST_ID"); }

    /// Runs `body` as each member, in a separate thread. `hosts` has a name for each, as in "a,a,b". A body
    /// that takes the group itself may leave it in any state; after others a barrier follows.
    template <class Body> static void as_members(const std::string& hosts, Body&& body) {
        ::setenv("ATOLL_HOST_ID", hosts.c_str(), 1);
        const int n = 1 + static_cast<int>(std::count(hosts.begin(), hosts.end(), ','));
        Store store;
        std::vector<std::thread> threads;
        for (int rank = 0; rank < n; ++rank)
            threads.emplace_back([&, rank] {
                auto group = std::make_unique<Group>(join({store.of_members(), rank, n}));
                if constexpr (std::is_invocable_v<Body, Group&, int>) {
                    body(*group, rank);
                    group->run(Call{}, 0);
                } else {
                    body(group, rank);
                }
            });
        for (std::thread& thread : threads) thread.join();
    }
};

}  // namespace atl::requests
