// Programs that hang; the first argument is the fault. tests/shmem/test_hangs.py reads the marked lines.
#include <atoll/atoll.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
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

}  // namespace

int main(int argc, char** argv) {
    const std::string fault = argc == 2 ? argv[1] : "";
    atoll::Job& job = atoll::init();
    me = atoll::my_pe();
    n = atoll::n_pes();
    if (fault == "ring") ring(job);
    if (fault == "steps") steps(job);
    if (fault == "handler") handler(job);
    if (fault == "mailbox") mailbox(job);
    if (fault == "early") early(job);
    atoll::finalize();
    return 0;
}
