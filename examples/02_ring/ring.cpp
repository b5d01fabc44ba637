// Every PE puts a message into the next PE's memory; no PE calls a receive function.
#include <atoll/atoll.hpp>

#include <cstdio>

int main() {
    atoll::Job& job = atoll::init();
    const int me = atoll::my_pe(), n = atoll::n_pes();
    const int next = (me + 1) % n, previous = (me + n - 1) % n;

    // Eight numbers on every PE, at the same offset of each symmetric heap, zero when this returns.
    atoll::SymmetricArray<double> x(job, 8);
    const double message[8] = {1.0 * me, 1.0 * me, 1.0 * me, 1.0 * me,
                               1.0 * me, 1.0 * me, 1.0 * me, 1.0 * me};

    atoll::put(x.span(), message, next);  // my `x` names the target: the same offset on `next`
    atoll::barrier_all();                 // all puts have arrived, everywhere

    std::printf("PE %d: my x holds %.0f, put there by PE %d; PE 0's holds %.0f\n", me, x[0], previous,
                atoll::g(&x[0], 0));
    const bool right = x[0] == previous && x[7] == previous;
    atoll::finalize();
    return right ? 0 : 1;
}
