#include "common/threads/servers.hpp"

#include <chrono>

namespace atl::common {

void Servers::call() {
    const std::lock_guard lock(mutex_);
    called_ = true;
    find_server();
}

/// Under the mutex.
void Servers::find_server() {
    if (server_.load() != std::thread::id() || is_coming_ || ending_.load()) return;
    is_coming_ = true;
    if (idle_threads_ > 0) {
        call_.notify_one();
    } else {
        ++idle_threads_;
        threads_.push_back(std::make_unique<QuietThread>([this] { run(); }));
    }
}

void Servers::rest() {
    const std::lock_guard lock(mutex_);
    called_ = false;
}

void Servers::step_aside(bool is_work_left) {
    const std::lock_guard lock(mutex_);
    server_ = std::thread::id();
    if (is_work_left) find_server();
}

void Servers::come_back() {
    const std::lock_guard lock(mutex_);
    if (server_.load() == std::thread::id()) take_over();
}

/// Under the mutex.
void Servers::take_over() {
    server_ = std::this_thread::get_id();
    is_coming_ = false;
}

void Servers::run() {
    of_this_thread_ = this;
    const auto is_wanted = [this] {
        return (called_ && server_.load() == std::thread::id()) || ending_.load();
    };
    std::unique_lock lock(mutex_);
    while (true) {
        // The symbol of wait() is newer than the libstdc++ of RHEL 9, which a wheel supports; wait_for is
        // inline.
        while (!call_.wait_for(lock, std::chrono::hours(1), is_wanted)) {
        }
        if (ending_.load()) return;
        --idle_threads_;
        take_over();
        lock.unlock();
        serve_();
        lock.lock();
        ++idle_threads_;
        if (is_serving()) server_ = std::thread::id();
    }
}

void Servers::begin_end() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    call_.notify_all();
}

void Servers::end() {
    begin_end();
    threads_.clear();
}

}  // namespace atl::common
