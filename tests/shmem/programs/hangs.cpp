// Programs that hang; the first argument is the fault. tests/shmem/test_hangs.py reads the marked lines.
#include <atoll/atoll.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

int me, n;

/// A ring of signals; PE 1 signals the PE before it.
void ring(atoll::Job& job) {
    atoll::SymmetricArray<double> x(job, 8);
    atoll::SymmetricArray<std::uint64_t> sig(job, 1);
    const std::vector<double> mine(8, me);
    const int next = me == 1 ? 0 : (me + 1) % n;
    atoll::put_signal(&x[0], mine.data(), 8, &sig[0], 1, atoll::SignalOp::set, next);
    atoll::signal_wait_until(&sig[0], atoll::Compare::ge, 1);  // LINE ring
    atoll::barrier_all();
}

/// PE 1 forgets its flag in the last step.
void steps(atoll::Job& job) {
    atoll::SymmetricArray<long> flag(job, 1);
    for (long step = 1; step <= 3; ++step) {
        if (me != 1 || step != 3) atoll::p(&flag[0], step, (me + 1) % n);
        atoll::wait_until(&flag[0], atoll::Compare::ge, step);  // LINE steps
    }
    atoll::barrier_all();
}

/// A handler fails on PE 1 before it signals.
void handler(atoll::Job& job) {
    atoll::SymmetricArray<std::uint64_t> sig(job, 1);
    const std::vector<int> routes(static_cast<std::size_t>(me == 1 ? 0 : n), 1);
    try {
        atoll::signal_add(&sig[0], 1, (me + routes.at(0)) % n);
    } catch (const std::out_of_range&) {
    }
    atoll::signal_wait_until(&sig[0], atoll::Compare::ge, 1);  // LINE handler
    atoll::barrier_all();
}

/// A thread of PE 1 waits for PE 1's own main thread, which waits for PE 0.
void thread(atoll::Job& job) {
    atoll::SymmetricArray<std::uint64_t> sig(job, 1);
    std::promise<void> loaded;
    const auto load = [&] {
        loaded.get_future().wait();  // LINE thread
    };
    std::thread loader;
    if (me == 1) loader = std::thread(load);
    if (me == 1) atoll::signal_wait_until(&sig[0], atoll::Compare::ge, 1);
    atoll::barrier_all();
    loaded.set_value();
    if (loader.joinable()) loader.join();
}

/// PE 0 receives fewer messages than are posted.
void mailbox(atoll::Job& job) {
    atoll::Mailbox box(job, sizeof me, 2);
    int word = me;
    for (int i = 0; me == 1 && i < 4; ++i) box.post(&word, sizeof word, 0);  // LINE post
    if (me == 0) box.receive(&word, sizeof word, 1);
    atoll::barrier_all();  // LINE barrier
}

/// PE 2 returns early from a function with a collective call.
void early(atoll::Job&) {
    std::vector<double> sum(1, me);
    if (me != 2) atoll::sum_reduce(std::span(sum), std::span(sum));  // LINE reduce
    atoll::barrier_all();                                            // LINE early
}

/// Each PE waits first for the request that the other one starts last.
void swapped(atoll::Job& job) {
    const atl::Team pair = job.world().split_strided(0, 1, 2);
    std::vector<double> one(3, me), sum(3), largest(3);
    atl::Requests of_all(job.world()), of_pair(pair);
    if (me == 0) {
        of_all.sum_reduce(std::span(sum), std::span(one));
        of_all.wait();  // LINE all
        of_pair.max_reduce(std::span(largest), std::span(one));
    } else {
        of_pair.max_reduce(std::span(largest), std::span(one));
        of_pair.wait();  // LINE pair
        of_all.sum_reduce(std::span(sum), std::span(one));
    }
}

/// The PEs start the requests of one team in another order.
void started(atoll::Job& job) {
    std::vector<double> one(3, me), sum(3), largest(3);
    atl::Requests requests(job.world());
    if (me == 0) requests.sum_reduce(std::span(sum), std::span(one));      // LINE sum
    if (me == 1) requests.max_reduce(std::span(largest), std::span(one));  // LINE max
    requests.wait();
}

bool is_less(int a, int b) {
    if (me == 1) throw std::out_of_range("a bad element");  // LINE thrown
    return a < b;
}

/// A function that a library calls throws on PE 1, and nothing catches it.
void thrown(atoll::Job&) {
    std::vector<int> values{4, 3, 2, 1};
    std::sort(values.begin(), values.end(), is_less);
}

int compare(const void*, const void*) {
    if (me == 1) *static_cast<volatile int*>(nullptr) = 1;  // LINE crash
    return 0;
}

/// A function that a library calls stores to address 0.
void crash(atoll::Job&) {
    std::vector<int> values{4, 3, 2, 1};
    std::qsort(values.data(), values.size(), sizeof(int), compare);
}

/// Divides by 0 beside a local array, where a return address would lie without it.
int quotient(int divisor) {
    volatile int room[64] = {divisor, 7};
    return room[1] / room[0];  // LINE divided
}

void divided(atoll::Job&) {
    if (quotient(1 - me) < 0) throw std::out_of_range("no such quotient");
}

// NOLINTNEXTLINE(misc-no-recursion)
int depth(int level) {
    volatile int room[1024] = {level};
    if (level == 0) return 0;
    return depth(level - 1) + room[0];  // LINE deep
}

/// PE 1 uses up its stack.
void deep(atoll::Job&) {
    if (me == 1 && depth(-1) == 0) throw std::out_of_range("it has ended");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string fault = argc == 2 ? argv[1] : "";
    atoll::Job& job = atoll::init();
    me = atoll::my_pe();
    n = atoll::n_pes();
    if (fault == "ring") ring(job);
    if (fault == "steps") steps(job);
    if (fault == "handler") handler(job);
    if (fault == "thread") thread(job);
    if (fault == "mailbox") mailbox(job);
    if (fault == "early") early(job);
    if (fault == "swapped") swapped(job);
    if (fault == "started") started(job);
    if (fault == "thrown") thrown(job);
    if (fault == "crash") crash(job);
    if (fault == "deep") deep(job);
    if (fault == "divided") divided(job);
    if (fault != "early") atoll::barrier_all();
    atoll::finalize();
    return 0;
}
