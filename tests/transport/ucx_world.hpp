// UCX transports of several PEs in one process.
#pragma once

#include "transport/conformance.hpp"
#include "transport/ucx/ucx.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace atl::test {

/// The tests may use another UCX than the system's.
inline std::string given_library() {
    const char* given = std::getenv("ATOLL_UCX_LIBRARY");
    return given ? given : "";
}

/// The part of a bootstrap that a transport needs.
class Directory {
  public:
    void publish(int pe, const std::string& value) {
        const std::lock_guard lock(mutex_);
        values_[pe] = value;
    }
    std::string find(int pe) {
        const std::lock_guard lock(mutex_);
        ++n_lookups_;
        return values_.at(pe);
    }
    int looked_up() {
        const std::lock_guard lock(mutex_);
        return n_lookups_;
    }

  private:
    std::mutex mutex_;
    std::map<int, std::string> values_;
    int n_lookups_ = 0;
};

/// Networks for UCX (UCX_TLS): one host as if it were several, and shared memory.
inline constexpr const char *over_tcp = "tcp,self", *over_shared_memory = "posix,cma,self";

struct UcxWorld {
    static constexpr std::size_t heap_bytes = std::size_t{1} << 20;

    explicit UcxWorld(int n) : UcxWorld(n, over_tcp, transport::UcxRma::off, true) {}
    /// UCX uses shared memory within a host unless `networks` (UCX_TLS) excludes it.
    UcxWorld(int n, const char* networks, transport::UcxRma own, bool with_threads)
        : heaps(static_cast<std::size_t>(n), std::vector<std::uint64_t>(heap_bytes / 8)),
          rma(own),
          threads(with_threads) {
        ::setenv("UCX_TLS", networks, 1);
        for (int pe = 0; pe < n; ++pe) transports.push_back(transport::create_ucx(options(pe, n)));
    }
    virtual ~UcxWorld() {
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
        options.rma = rma;
        options.rma_bytes = 1;
        options.progress_thread = threads;
        options.library = given_library();
        options.publish = [=, this](const std::string& value) { directory.publish(pe, value); };
        options.find = [this](int of) { return directory.find(of); };
        options.wait = [=, this](const char* operation, int of, const std::function<bool()>& ready) {
            wait(pe, operation, of, ready);
        };
        options.lost = [](int, const std::string& sentence) { ADD_FAILURE() << sentence; };
        return options;
    }
    /// Waits as PE `pe`.
    virtual void wait(int pe, const char*, int, const std::function<bool()>& ready) {
        while (!ready())
            if (!transport(pe).progress()) std::this_thread::yield();
    }
    Transport& transport(int pe) { return *transports[static_cast<std::size_t>(pe)]; }
    char* heap(int pe) { return reinterpret_cast<char*>(heaps[static_cast<std::size_t>(pe)].data()); }

    Directory directory;
    std::vector<std::vector<std::uint64_t>> heaps;
    const transport::UcxRma rma;
    const bool threads;
    std::vector<std::unique_ptr<Transport>> transports;
};

}  // namespace atl::test
