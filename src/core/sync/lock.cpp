// Locks: a queue of PEs (Mellor-Crummey and Scott), stored in the user's symmetric word alone.
//
// A lock's word has two halves of 32 bits. `tail` is used on one PE only, the lock's home: 1 + the last PE in
// the queue, 0 = free. `node` is every PE's own place in the queue: its state in the upper two bits, 1 + the
// next PE in the lower thirty. A PE enters by an exchange of the tail, links itself to the PE before it, and
// then polls its own node only. The PE before it sets that node to `held` when it leaves. So PEs acquire the
// lock in order of arrival and poll no shared word.
//
// A PE that stops waiting (a timeout, Ctrl-C) cannot leave the middle of the queue. It sets its own node to
// `held`. The PE that passes the lock on expects a waiting node, recognises the difference, and removes it
// from the queue.
//
// Words of PEs that share memory are accessed by window addresses, even if a transport is forced. All
// accesses are the library's own, so they cannot race with routed ones. Words of other hosts use the
// transport, whose atomics are atomic with loads and stores on the word's own host.
#include "atoll/lock.hpp"

#include "atoll/detail/measured.hpp"

#include "common/futex.hpp"
#include "core/hang/wait_graph.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/far_word.hpp"
#include "core/sync/poll_watch.hpp"
#include "core/sync/wait_on_board.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace atl {

namespace {

struct LockWords {
    std::atomic<std::uint32_t> tail;
    std::atomic<std::uint32_t> node;
};
static_assert(sizeof(LockWords) == sizeof(std::int64_t));

constexpr std::uint32_t waiting = 1u << 30;
constexpr std::uint32_t held = 2u << 30;
constexpr std::uint32_t sleeping = 3u << 30;  ///< waits in futex
constexpr std::uint32_t state_bits = 3u << 30;
constexpr std::uint32_t next_bits = ~state_bits;

/// One lock as seen by this PE during one call.
class LockQueue {
  public:
    LockQueue(Job& job, std::int64_t* lock, const char* operation);
    void enter(double timeout_s);
    bool try_enter();
    void leave();
    int home() const { return home_; }
    /// Shows a loop of attempts on the job board, with the PE that holds the lock.
    void note_attempt() const {
        detail::WaitReason why = reason();
        why.operation = core::loop_of_test_lock;
        core::note_attempt(job_, why);
    }
    /// Notes where this PE, which holds the lock, has acquired it.
    void note_holder(const void* caller) const {
        held_locks().note(core::word_offset(job_, mine_), caller, {});
    }

  private:
    common::HeldLocks& held_locks() const { return job_.board().stacks(job_.pe()).held; }
    core::FarWord node(int pe) const { return {job_, pe, offset_ + offsetof(LockWords, node)}; }
    core::FarWord tail() const { return {job_, home_, offset_ + offsetof(LockWords, tail)}; }
    std::uint32_t my_mark() const { return static_cast<std::uint32_t>(job_.pe()) + 1; }

    void claim_node(double timeout_s);
    void await_grant(int previous, double timeout_s);
    void sleep(detail::SlowWait& slow);
    bool free_if_last(int pe);
    int await_next(int pe);
    void hand_to(int pe);
    detail::WaitReason reason() const;
    static int missing(const void* queue, int* pes, int most);

    bool is_abandoned() const;
    void set_abandoned(bool abandoned) const;

    core::JobState& job_;
    const detail::Window& window_;
    LockWords* mine_;
    std::uint64_t offset_;
    const char* operation_;
    int home_;
    int previous_ = -1;  ///< the PE before this one in the queue, while waiting
};

LockQueue::LockQueue(Job& job, std::int64_t* lock, const char* operation)
    : job_(job.state()),
      window_(job_.window()),
      mine_(reinterpret_cast<LockWords*>(lock)),
      operation_(operation) {
    if (!window_.shares(lock, sizeof *lock)) detail::throw_not_symmetric(job_, lock, sizeof *lock);
    if (!detail::aligned_to(lock, sizeof *lock)) detail::throw_misaligned(lock, sizeof *lock);
    offset_ = window_.offset_of(lock);
    // Any function of the offset that spreads both adjacent words and blocks: here upper bits of a product.
    home_ = static_cast<int>(((offset_ >> 3) * 0x9e3779b97f4a7c15u >> 33) %
                             static_cast<std::uint64_t>(job_.n_pes()));
}

void LockQueue::claim_node(double timeout_s) {
    std::uint32_t idle = 0;
    if (mine_->node.compare_exchange_strong(idle, waiting, std::memory_order_acq_rel)) return;
    if (!is_abandoned())
        throw Error(
            ErrorCode::invalid_argument,
            (idle & state_bits) == held
                ? "This PE holds the lock already; locks are not recursive, so " + std::string(operation_) +
                      " would never return."
                : "Another thread of this PE waits for the same lock. Locks are held by PEs, not threads: "
                  "guard the calls of this PE's threads by a mutex.");
    // An earlier wait of this PE was given up, and its node is still in the queue. The node leaves when the
    // lock reaches it.
    const auto why = reason();
    detail::wait(job_, job_.pace().spins, why, timeout_s, [&] {
        idle = 0;
        return mine_->node.compare_exchange_strong(idle, waiting, std::memory_order_acq_rel);
    });
}

void LockQueue::enter(double timeout_s) {
    claim_node(timeout_s);
    set_abandoned(false);
    const std::uint32_t last = tail().exchange(my_mark());
    if (last == 0) {
        mine_->node.fetch_add(held - waiting, std::memory_order_acq_rel);
        return;
    }
    const int previous = static_cast<int>(last) - 1;
    node(previous).fetch_or(my_mark());
    await_grant(previous, timeout_s);
}

void LockQueue::await_grant(int previous, double timeout_s) {
    const auto granted = [&] { return (mine_->node.load(std::memory_order_acquire) & state_bits) == held; };
    for (int i = 0, spins = job_.pace().spins; i < spins; ++i) {
        if (granted()) return;
        if (i >= detail::tight_spins) detail::cpu_pause();
    }
    previous_ = previous;
    const auto why = reason();
    try {
        detail::SlowWait slow(job_, why, timeout_s);
        while (!granted())
            if (slow.must_sleep()) sleep(slow);
    } catch (const Error& error) {
        std::uint32_t node = mine_->node.load(std::memory_order_acquire);
        while ((node & state_bits) != held) {
            set_abandoned(true);
            if (mine_->node.compare_exchange_weak(node, held | (node & next_bits), std::memory_order_acq_rel))
                throw;
        }
        // The lock was granted in the last moment, so a timeout is ignored. An interrupted caller, or one in
        // an ending job, must not hold a lock that it does not know of.
        set_abandoned(false);
        if (error.code() == ErrorCode::timeout) return;
        leave();
        throw;
    }
}

void LockQueue::sleep(detail::SlowWait& slow) {
    std::uint32_t node = mine_->node.load(std::memory_order_acquire);
    while ((node & state_bits) == waiting && !mine_->node.compare_exchange_weak(node, node | sleeping)) {
    }
    if ((node & state_bits) == waiting) node |= sleeping;
    if ((node & state_bits) == sleeping) slow.sleep_on(mine_->node, node);
}

bool LockQueue::try_enter() {
    if (tail().load() != 0) return false;
    std::uint32_t idle = 0;
    if (!mine_->node.compare_exchange_strong(idle, held, std::memory_order_acq_rel)) return false;
    std::uint32_t unlocked = 0;
    if (tail().compare_exchange(unlocked, my_mark())) {
        set_abandoned(false);
        return true;
    }
    mine_->node.store(0, std::memory_order_release);  // it was never queued, so no PE has linked to it
    return false;
}

void LockQueue::leave() {
    const std::uint32_t node = mine_->node.load(std::memory_order_acquire);
    if ((node & state_bits) != held || is_abandoned())
        throw Error(ErrorCode::invalid_argument,
                    std::string(operation_) + " on a lock that PE " + std::to_string(job_.pe()) +
                        " does not hold; call it once, on the PE that holds the lock.");
    job_.world_state().context().quiet();
    held_locks().forget(core::word_offset(job_, mine_));
    int next = static_cast<int>(node & next_bits) - 1;
    if (next < 0) {
        if (free_if_last(job_.pe())) return;
        next = await_next(job_.pe());
    }
    mine_->node.store(0, std::memory_order_release);
    hand_to(next);
}

/// Empties the queue if the leaving `pe` is the last in it.
bool LockQueue::free_if_last(int pe) {
    std::uint32_t last = static_cast<std::uint32_t>(pe) + 1;
    if (!tail().compare_exchange(last, 0)) return false;
    node(pe).store(0);  // no PE can link to it any more
    return true;
}

/// Returns the PE after `pe`. It has entered, but may not yet have linked itself to `pe`.
int LockQueue::await_next(int pe) {
    std::uint32_t next = 0;
    auto why = reason();
    why.to_its_end = true;  // an error here would leave the queue half changed, and the lock lost
    detail::wait(job_, job_.pace().spins, why, -1, [&] { return (next = node(pe).load() & next_bits) != 0; });
    return static_cast<int>(next) - 1;
}

/// Makes `pe` the holder; if it no longer waits, the next PE that does.
void LockQueue::hand_to(int pe) {
    for (;;) {
        const core::FarWord theirs = node(pe);
        std::uint32_t word = theirs.load();
        while ((word & state_bits) != held)
            if (theirs.compare_exchange(word, held | (word & next_bits))) {
                // Sleepers on other hosts poll by themselves.
                if ((word & state_bits) == sleeping && theirs.here()) common::futex_wake_all(*theirs.here());
                return;
            }
        int next = static_cast<int>(word & next_bits) - 1;
        if (next < 0) {
            if (free_if_last(pe)) return;
            next = await_next(pe);
        }
        theirs.store(0);
        pe = next;
    }
}

detail::WaitReason LockQueue::reason() const {
    detail::WaitReason why;
    why.operation = operation_;
    why.word = mine_;
    why.missing = &LockQueue::missing;
    why.argument = this;
    why.missing_as = "before this PE in the queue";
    return why;
}

/// The PEs on which this PE's wait depends: the holder of the lock, the PE before this one, and queued PEs
/// that have ended.
int LockQueue::missing(const void* argument, int* pes, int most) {
    const auto& queue = *static_cast<const LockQueue*>(argument);
    // Asks PEs of other hosts only if there are few: each costs a round trip, and only a report needs the
    // answer.
    constexpr int most_asked = 64;
    const auto node_of = [&](int pe) {
        const core::FarWord node = queue.node(pe);
        const bool asked = node.here() || (queue.job_.n_pes() <= most_asked &&
                                           queue.job_.board().state(pe) < common::PeState::finalized);
        return asked ? node.load() : 0;
    };
    int count = 0;
    const auto add = [&](int pe) {
        if (pe != queue.job_.pe() && count < most && std::find(pes, pes + count, pe) == pes + count)
            pes[count++] = pe;
    };
    // A predecessor links to a PE that gave up; no PE links to the holder.
    const int n = queue.job_.n_pes();
    std::vector<bool> linked(static_cast<std::size_t>(n) + 1);
    for (int pe = 0; pe < n; ++pe)
        if (const std::uint32_t next = node_of(pe) & next_bits; next <= static_cast<std::uint32_t>(n))
            linked[next] = true;
    for (int pe = 0; pe < n; ++pe)
        if ((node_of(pe) & state_bits) == held && !linked[static_cast<std::size_t>(pe) + 1]) add(pe);
    if (queue.previous_ >= 0) add(queue.previous_);
    for (int pe = 0; pe < n; ++pe)
        if (node_of(pe) != 0 && queue.job_.board().state(pe) >= common::PeState::finalized) add(pe);
    return count;
}

// Uses offsets rather than addresses, and first a count: abandoned locks are very rare.
bool LockQueue::is_abandoned() const {
    core::AbandonedLocks& locks = job_.abandoned_locks();
    if (locks.count.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard guard(locks.mutex);
    return locks.offsets.contains(offset_);
}

void LockQueue::set_abandoned(bool abandoned) const {
    core::AbandonedLocks& locks = job_.abandoned_locks();
    if (!abandoned && locks.count.load(std::memory_order_acquire) == 0) return;
    const std::lock_guard guard(locks.mutex);
    if (abandoned)
        locks.offsets.insert(offset_);
    else
        locks.offsets.erase(offset_);
    locks.count.store(static_cast<int>(locks.offsets.size()), std::memory_order_release);
}

/// Measures a call of a lock; its peer is the PE that has the lock's queue.
class MeasuredLock {
  public:
    MeasuredLock(const Job& job, const LockQueue& queue, const std::int64_t* lock, const char* operation)
        : measured_(job.state(), job.state().window().counts, detail::Measured::Kind::call, operation,
                    sizeof *lock, queue.home()) {
        measured_.set_subject(lock);
    }

  private:
    detail::Measured measured_;
};

}  // namespace

namespace {

void acquire(Job& job, std::int64_t* lock, double timeout_s, const char* called, const void* caller) {
    LockQueue queue(job, lock, called);
    const MeasuredLock measured(job, queue, lock, called);
    queue.enter(timeout_s);
    queue.note_holder(caller);
}

bool try_acquire(Job& job, std::int64_t* lock, const void* caller) {
    LockQueue queue(job, lock, "test_lock");
    const MeasuredLock measured(job, queue, lock, "test_lock");
    if (!queue.try_enter()) {
        if (core::polls_are_watched.load(std::memory_order_relaxed)) [[unlikely]]
            queue.note_attempt();
        return false;
    }
    queue.note_holder(caller);
    return true;
}

}  // namespace

void detail::note_holder(const Job& job, const std::int64_t* lock, const void* caller,
                         std::string_view site) noexcept {
    const core::JobState& state = job.state();
    state.board().stacks(state.pe()).held.note(core::word_offset(state, lock), caller, site);
}

void set_lock(Job& job, std::int64_t* lock, double timeout_s, const char* called) {
    acquire(job, lock, timeout_s, called, __builtin_return_address(0));
}
bool test_lock(Job& job, std::int64_t* lock) { return try_acquire(job, lock, __builtin_return_address(0)); }
void clear_lock(Job& job, std::int64_t* lock, const char* called) {
    LockQueue queue(job, lock, called);
    const MeasuredLock measured(job, queue, lock, called);
    queue.leave();
}

Lock::Lock(Job& job) : job_(job.handle()) {
    const Allocation block = job.allocate_zeroed(sizeof(std::int64_t));
    word_ = static_cast<std::int64_t*>(block.address);
    serial_ = block.serial;
}

Lock::~Lock() {
    if (word_) Job(job_.lock()).drop(serial_);
}

void Lock::lock() {
    Job job(job_.lock());
    acquire(job, word_, -1, "Lock::lock", __builtin_return_address(0));
}
bool Lock::try_lock() {
    Job job(job_.lock());
    return try_acquire(job, word_, __builtin_return_address(0));
}
void Lock::unlock() {
    Job job(job_.lock());
    clear_lock(job, word_, "Lock::unlock");
}

void Lock::free() {
    if (word_) Job(job_.lock()).free(word_);
    word_ = nullptr;
}

}  // namespace atl
