// Servers: threads for one task, such as to move the data of a group's requests for which no thread waits.
// One of them serves at a time. There is a second one only if a callback may wait in the first.
#pragma once

#include "common/quiet_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace atl::common {

class Servers {
  public:
    /// `serve` works until it calls rest(), is_ending() is true or is_serving() is false.
    explicit Servers(std::function<void()> serve) : serve_(std::move(serve)) {}
    ~Servers() { end(); }
    Servers(const Servers&) = delete;
    Servers& operator=(const Servers&) = delete;

    /// Tells that there is work.
    void call();
    /// Tells, from the thread that serves, that there is no work.
    void rest();
    /// Lets another thread serve until come_back(). Call them in the thread that serves.
    void step_aside(bool is_work_left);
    /// Serves again, unless another thread does now.
    void come_back();
    /// True in the thread that serves.
    bool is_serving() const { return server_.load() == std::this_thread::get_id(); }
    /// True in all of these threads.
    bool is_own_thread() const { return of_this_thread_ == this; }

    /// Makes is_ending() true. The caller wakes the thread that serves.
    void begin_end();
    bool is_ending() const { return ending_.load(); }
    /// Joins the threads.
    void end();

  private:
    void run();
    void find_server();
    void take_over();

    inline static thread_local const Servers* of_this_thread_ = nullptr;

    std::function<void()> serve_;
    std::mutex mutex_;
    std::condition_variable call_;
    std::vector<std::unique_ptr<QuietThread>> threads_;
    int idle_threads_ = 0;
    bool is_coming_ = false;  ///< a thread was woken or made to serve
    std::atomic<std::thread::id> server_{};
    bool called_ = false;
    std::atomic<bool> ending_{false};
};

}  // namespace atl::common
