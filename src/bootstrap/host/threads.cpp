// PEs as threads of one process, for tests and sanitizers. They share one mapping: ThreadSanitizer needs each
// word of the window at one address.
#include <condition_variable>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "common/reserve.hpp"

namespace atl::bootstrap {

class ThreadHub {
  public:
    ThreadHub(int n_pes, std::size_t heap_bytes)
        : n_pes_(n_pes),
          heap_bytes_(heap_bytes),
          board_(MappedBoard::create_private(n_pes)),
          fenced_(static_cast<std::size_t>(n_pes)),
          collected_(static_cast<std::size_t>(n_pes)) {
        heap_ = common::reserve_aligned(heap_bytes, common::window_alignment);
        // Shared as between processes, so that freed pages go back in the same way.
        if (!heap_ || ::mmap(heap_, heap_bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            throw_system("The heaps of " + std::to_string(n_pes) + " PEs (" + std::to_string(heap_bytes) +
                         " bytes) could not be mapped");
    }
    ~ThreadHub() { ::munmap(heap_, heap_bytes_); }
    ThreadHub(const ThreadHub&) = delete;
    ThreadHub& operator=(const ThreadHub&) = delete;

    int n_pes() const { return n_pes_; }
    char* heap() const { return heap_; }
    const common::BoardView& board() const { return board_.view(); }

    void put(const std::string& key, const std::string& value) {
        const std::lock_guard lock(mutex_);
        values_[key] = value;
        changed_.notify_all();
    }
    std::string get(const std::string& key, double timeout_s) {
        std::unique_lock lock(mutex_);
        wait(lock, timeout_s, "the value of \"" + key + "\", which no PE has put",
             [&] { return values_.contains(key); });
        return values_[key];
    }
    std::vector<std::string> allgather(int pe, const std::string& value, double timeout_s) {
        int round = 0;
        {
            const std::lock_guard lock(mutex_);
            round = ++collected_[static_cast<std::size_t>(pe)];
        }
        const std::string key = "collected " + std::to_string(round) + " ";
        put(key + std::to_string(pe), value);
        std::vector<std::string> values;
        for (int other = 0; other < n_pes_; ++other)
            values.push_back(get(key + std::to_string(other), timeout_s));
        return values;
    }
    void fence(int pe, double timeout_s) {
        std::unique_lock lock(mutex_);
        const int mine = ++fenced_[static_cast<std::size_t>(pe)];
        changed_.notify_all();
        for (int other = 0; other < n_pes_; ++other)
            wait(lock, timeout_s, "PE " + std::to_string(other) + " to reach fence " + std::to_string(mine),
                 [&] { return fenced_[static_cast<std::size_t>(other)] >= mine; });
    }

  private:
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, double timeout_s, const std::string& awaited,
              Ready&& ready) {
        const Deadline deadline(timeout_s);
        while (!ready()) {
            throw_if_aborted(board());
            if (deadline.passed())
                throw_bootstrap("Setting up the job took longer than ATOLL_INIT_TIMEOUT (" +
                                seconds_text(timeout_s) + "), waiting for " + awaited + ".");
            changed_.wait_for(lock, std::chrono::milliseconds(deadline.poll_ms(100)));
        }
    }

    const int n_pes_;
    const std::size_t heap_bytes_;
    char* heap_ = nullptr;
    MappedBoard board_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::string> values_;
    std::vector<int> fenced_, collected_;  // number of fences and of collections of each PE
};

namespace {

class Thread final : public Bootstrap {
  public:
    Thread(std::shared_ptr<ThreadHub> hub, int pe, double timeout_s)
        : hub_(std::move(hub)), pe_(pe), timeout_s_(timeout_s) {
        hub_->board().sign_in(pe);
    }

    std::string_view name() const override { return "threads"; }
    int pe() const override { return pe_; }
    int n_pes() const override { return hub_->n_pes(); }
    void put(const std::string& key, const std::string& value) override { hub_->put(key, value); }
    std::string get(const std::string& key) override { return hub_->get(key, timeout_s_); }
    void fence() override { hub_->fence(pe_, timeout_s_); }
    std::vector<std::string> allgather(const std::string& value) override {
        return hub_->allgather(pe_, value, timeout_s_);
    }

    HostSegment host_segment() override {
        HostSegment segment;
        segment.pes = all_pes(n_pes());
        segment.board = hub_->board();
        segment.heap_memory = hub_->heap();
        return segment;
    }
    std::unique_ptr<Monitor> monitor(const common::BoardView&) override { return nullptr; }
    void goodbye(bool) noexcept override {}
    void abort(int status, const std::string& sentence) noexcept override {
        hub_->board().abort(pe_, status, sentence);
    }

  private:
    std::shared_ptr<ThreadHub> hub_;
    int pe_;
    double timeout_s_;
};

}  // namespace

std::shared_ptr<ThreadHub> create_hub(int n_pes, std::size_t heap_bytes) {
    if (n_pes < 1)
        throw Error(ErrorCode::invalid_argument,
                    "A job needs at least 1 PE; this hub was asked for " + std::to_string(n_pes) + ".");
    return std::make_shared<ThreadHub>(n_pes, heap_bytes);
}

std::unique_ptr<Bootstrap> create_thread(std::shared_ptr<ThreadHub> hub, int pe) {
    if (pe < 0 || pe >= hub->n_pes())
        throw Error(ErrorCode::pe, "PE " + std::to_string(pe) + " is not one of this hub's " +
                                       std::to_string(hub->n_pes()) + ".");
    constexpr double init_timeout_s = 60;  // tests have no settings of their own here
    return std::make_unique<Thread>(std::move(hub), pe, init_timeout_s);
}

}  // namespace atl::bootstrap
