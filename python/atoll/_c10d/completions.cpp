#include "completions.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <pthread.h>
#include <set>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace atoll_c10d {
namespace {

/// Number of threads of a group for operations that callbacks begin. A chain of callbacks, each of which
/// begins the next operation, takes them in turn.
constexpr int most_depths = 64;

thread_local int depth_of_thread = 0;
thread_local const void* served_here = nullptr;  ///< the queue that this thread serves
std::atomic<bool> python_ends{false};

}  // namespace

struct Completions::Entry {
    std::shared_ptr<Queue> queue;
    std::function<void()> complete;
};

struct Completions::Queue {
    explicit Queue(std::size_t its_depth) : depth(static_cast<int>(its_depth)) {}

    const int depth;
    std::mutex mutex;
    std::condition_variable call;  // a place was filled, or the group has ended
    std::condition_variable rest;  // the thread has done what was ready
    std::deque<EntryPtr> entries;
    bool has_thread = false;
    int busy = 0;  ///< places that are being completed, one in another
    bool has_group = true;
    int next_turn = 0;
    std::set<int> turns;  ///< those that have not ended

    bool is_turn(int turn) const { return turns.empty() || *turns.begin() >= turn; }

    bool is_ready() const { return !entries.empty() && entries.front()->complete; }
    void serve();
    void complete_first(std::unique_lock<std::mutex>& lock);
    bool start_thread(const std::shared_ptr<Queue>& self);
};

/// The queues of all groups. Never destroyed: threads may use it while the process ends.
struct Completions::Registry {
    std::mutex mutex;
    std::vector<std::weak_ptr<Queue>> queues;

    static Registry& get() {
        static auto* made = new Registry;
        return *made;
    }
    void add(const std::shared_ptr<Queue>& queue) {
        const std::lock_guard lock(mutex);
        std::erase_if(queues, [](const auto& one) { return one.expired(); });
        queues.push_back(queue);
    }
    std::vector<std::shared_ptr<Queue>> alive() {
        const std::lock_guard lock(mutex);
        std::vector<std::shared_ptr<Queue>> found;
        for (const auto& one : queues)
            if (auto queue = one.lock()) found.push_back(std::move(queue));
        return found;
    }
};

Completions::Completions() : owner_(::getpid()) {}

Completions::~Completions() {
    if (::getpid() != owner_) return;  // another thread may have held a mutex during the fork
    for (const auto& queue : queues_) {
        const std::lock_guard lock(queue->mutex);
        queue->has_group = false;
        queue->call.notify_all();
    }
}

int Completions::depth_here() { return depth_of_thread; }
int Completions::enter(int depth) { return std::exchange(depth_of_thread, depth % most_depths + 1); }
void Completions::leave(int before) { depth_of_thread = before; }

int Completions::add_turn(int depth) {
    Queue& queue = *queue_of(static_cast<std::size_t>(depth));
    const std::lock_guard lock(queue.mutex);
    queue.turns.insert(queue.turns.end(), queue.next_turn);
    return queue.next_turn++;
}

void Completions::end_turn(int depth, int turn) {
    Queue& queue = *queue_of(static_cast<std::size_t>(depth));
    const std::lock_guard lock(queue.mutex);
    queue.turns.erase(turn);
    queue.call.notify_all();
}

bool Completions::await_turn(int depth, int turn) {
    constexpr std::chrono::milliseconds slice(50);
    Queue& queue = *queue_of(static_cast<std::size_t>(depth));
    const bool serves = served_here == &queue;
    std::unique_lock lock(queue.mutex);
    queue.call.wait_for(lock, slice, [&] { return queue.is_turn(turn) || (serves && queue.is_ready()); });
    if (!queue.is_turn(turn) && serves && queue.is_ready()) queue.complete_first(lock);
    return queue.is_turn(turn);
}

std::shared_ptr<Completions::Queue> Completions::queue_of(std::size_t depth) {
    const std::lock_guard lock(mutex_);
    while (queues_.size() <= depth) {
        queues_.push_back(std::make_shared<Queue>(queues_.size()));
        Registry::get().add(queues_.back());
    }
    return queues_[depth];
}

Completions::EntryPtr Completions::reserve(int depth) {
    auto entry = std::make_shared<Entry>();
    entry->queue = queue_of(static_cast<std::size_t>(depth));
    const std::lock_guard lock(entry->queue->mutex);
    entry->queue->entries.push_back(entry);
    return entry;
}

void Completions::fill(const EntryPtr& entry, std::function<void()> complete) {
    Queue& queue = *entry->queue;
    {
        const std::lock_guard lock(queue.mutex);
        if (queue.has_thread || queue.start_thread(entry->queue)) {
            entry->complete = std::move(complete);
            queue.call.notify_all();
            return;
        }
        std::erase(queue.entries, entry);
    }
    complete();
    std::unique_lock lock(queue.mutex);
    while (!queue.has_thread && queue.is_ready()) queue.complete_first(lock);
}

/// Under the mutex. The thread shares the queue and is never joined: it may run a callback that destroys the
/// group.
bool Completions::Queue::start_thread(const std::shared_ptr<Queue>& self) {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([self] { self->serve(); }).detach();
        has_thread = true;
    } catch (const std::system_error&) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return has_thread;
}

void Completions::Queue::serve() {
    constexpr std::chrono::seconds longest_rest(10);
    Completions::enter(depth);
    served_here = this;
    std::unique_lock lock(mutex);
    for (;;) {
        call.wait_for(lock, longest_rest, [&] { return is_ready() || !has_group; });
        if (!is_ready() || python_ends.load()) break;
        complete_first(lock);
    }
    has_thread = false;
}

void Completions::Queue::complete_first(std::unique_lock<std::mutex>& lock) {
    auto complete = std::move(entries.front()->complete);
    entries.pop_front();
    ++busy;
    lock.unlock();
    complete();
    complete = nullptr;  // destroys what it holds without the mutex
    lock.lock();
    --busy;
    rest.notify_all();
}

void Completions::end_with_python() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto wait_for_all = [end](bool also_ready) {
        for (const auto& queue : Registry::get().alive()) {
            std::unique_lock lock(queue->mutex);
            queue->rest.wait_until(lock, end,
                                   [&] { return queue->busy == 0 && !(also_ready && queue->is_ready()); });
        }
    };
    wait_for_all(true);
    python_ends.store(true);
    wait_for_all(false);  // a thread may have taken a place before it saw that
    for (auto& queue : Registry::get().alive())
        new std::shared_ptr<Queue>(std::move(queue));  // its places may hold objects of Python
}

}  // namespace atoll_c10d
