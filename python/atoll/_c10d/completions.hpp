// Completions: the threads of a group that complete futures, apart from those that move data.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <vector>

namespace atoll_c10d {

/// Completes the futures of a group, which runs their callbacks. A callback may wait for other operations of
/// its group, also for those that it begins: each depth has a separate thread. An operation begun outside
/// callbacks has depth 0; one begun in a callback of depth d has depth d + 1.
///
/// The callbacks of one depth run one after another, in the order of their places. So the operations that
/// they begin have one order on all ranks. A callback must not wait for the future of an operation that has
/// its own depth, since the thread comes to that after it. It may wait for the work instead: a thread that
/// waits for a work completes its future itself, unless that has begun.
///
/// A callback that is added late runs in its caller's thread. So callbacks of `then` also have turns
/// (turns.hpp): they begin operations in the order in which they were added, in whatever thread they run.
class Completions {
    struct Entry;
    struct Registry;

  public:
    struct Queue;
    using EntryPtr = std::shared_ptr<Entry>;

    Completions();
    /// Futures with a place are still completed. Does not wait for them.
    ~Completions();
    Completions(const Completions&) = delete;
    Completions& operator=(const Completions&) = delete;

    /// The depth of operations that this thread begins.
    static int depth_here();
    /// Sets it to that of operations which a callback of this depth begins. Returns the value before.
    static int enter(int depth);
    static void leave(int before);

    /// The turns of a depth's callbacks. All functions take the number of one.
    int add_turn(int depth);
    void end_turn(int depth, int turn);
    /// Waits until the turns before it have ended, 50 ms at most. Meanwhile the thread of the depth runs
    /// callbacks. Returns true once they have ended.
    bool await_turn(int depth, int turn);

    /// Takes the next place in the order of a depth.
    EntryPtr reserve(int depth);
    /// Lets the place's thread call `complete`, which must not throw, after those of the places before it.
    /// Each place needs it. If the system refuses a thread, this calls it.
    static void fill(const EntryPtr& entry, std::function<void()> complete);

    /// Waits until the threads of all groups have done what is ready, 10 s at most. Then they call no
    /// callbacks any more: a thread that needs the GIL of an ending Python would abort the process. Called
    /// once, without the GIL, before Python ends.
    static void end_with_python();

  private:
    std::shared_ptr<Queue> queue_of(std::size_t depth);

    const pid_t owner_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Queue>> queues_;  // by depth
};

}  // namespace atoll_c10d
