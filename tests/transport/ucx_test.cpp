// The transport by UCX over TCP: three of them in one process, each with its thread.
#include "transport/ucx/ucx.hpp"

#include "transport/conformance.hpp"

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>

namespace atl::test {

/// What a bootstrap does for a transport.
class Directory {
  public:
    void publish(int pe, const std::string& value) {
        const std::lock_guard lock(mutex_);
        values_[pe] = value;
    }
    std::string find(int pe) {
        const std::lock_guard lock(mutex_);
        ++looked_up_;
        return values_.at(pe);
    }
    int looked_up() {
        const std::lock_guard lock(mutex_);
        return looked_up_;
    }

  private:
    std::mutex mutex_;
    std::map<int, std::string> values_;
    int looked_up_ = 0;
};

struct UcxWorld {
    static constexpr std::size_t heap_bytes = std::size_t{1} << 20;

    explicit UcxWorld(int n)
        : heaps(static_cast<std::size_t>(n), std::vector<std::uint64_t>(heap_bytes / 8)) {
        // Shared memory is UCX's choice within a host; what is tested is the network.
        ::setenv("UCX_TLS", "tcp,self", 1);
        for (int pe = 0; pe < n; ++pe) transports.push_back(transport::create_ucx(options(pe, n)));
    }
    ~UcxWorld() {
        for (auto& transport : transports) transport->expect_end();
        std::vector<std::thread> ends;
        for (auto& transport : transports) ends.emplace_back([&] { transport->close(); });
        for (std::thread& end : ends) end.join();
    }
    transport::UcxOptions options(int pe, int n) {
        transport::UcxOptions options;
        options.pe = pe;
        options.n_pes = n;
        options.base = heap(pe);
        options.bytes = heap_bytes;
        options.publish = [=, this](const std::string& value) { directory.publish(pe, value); };
        options.find = [this](int of) { return directory.find(of); };
        options.wait = [=, this](const char*, int, const std::function<bool()>& ready) {
            while (!ready())
                if (!transports[static_cast<std::size_t>(pe)]->progress()) std::this_thread::yield();
        };
        options.lost = [](int, const std::string& sentence) { ADD_FAILURE() << sentence; };
        return options;
    }
    Transport& transport(int pe) { return *transports[static_cast<std::size_t>(pe)]; }
    char* heap(int pe) { return reinterpret_cast<char*>(heaps[static_cast<std::size_t>(pe)].data()); }

    Directory directory;
    std::vector<std::vector<std::uint64_t>> heaps;
    std::vector<std::unique_ptr<Transport>> transports;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, TransportConformance, UcxWorld);

}  // namespace atl::test
