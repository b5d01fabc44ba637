#include "collective/requests/servers.hpp"

#include <chrono>

namespace atl::requests {

void Servers::call() {
    const std::lock_guard lock(mutex_);
    if (called_) return;
    called_ = true;
    find_server();
}

/// Under the mutex.
void Servers::find_server() {
    if (server_.load() != std::thread::id() || ending_.load()) return;
    if (idle_threads_ > 0)
        call_.notify_one();
    else
        threads_.push_back(std::make_unique<common::QuietThread>([this] { run(); }));
}

void Servers::rest() {
    const std::lock_guard lock(mutex_);
    called_ = false;
}

void Servers::step_aside() {
    if (!is_serving()) return;
    const std::lock_guard lock(mutex_);
    server_ = std::thread::id();
    find_server();
}

void Servers::run() {
    of_this_thread_ = this;
    const auto is_wanted = [this] {
        return (called_ && server_.load() == std::thread::id()) || ending_.load();
    };
    std::unique_lock lock(mutex_);
    while (true) {
        ++idle_threads_;
        // The symbol of wait() is newer than the libstdc++ of RHEL 9, which a wheel supports; wait_for is
        // inline.
        while (!call_.wait_for(lock, std::chrono::hours(1), is_wanted)) {
        }
        --idle_threads_;
        if (ending_.load()) return;
        server_ = std::this_thread::get_id();
        lock.unlock();
        serve_();
        lock.lock();
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

}  // namespace atl::requests
