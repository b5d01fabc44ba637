// Every PE puts its number into the next one's array, and says what it received.
#include <atoll/atoll.hpp>
#include <atoll/version.hpp>

#include <cstdio>

int main() {
    atl::Job job;
    atl::SymmetricArray<long> box(job, 1);
    const int next = (job.my_pe() + 1) % job.n_pes();
    const long mine = job.my_pe();
    job.context().put(box.data(), &mine, 1, next);
    job.world().barrier();
    std::printf("Atoll %s: PE %d of %d got %ld\n", ATOLL_VERSION, job.my_pe(), job.n_pes(), box[0]);
    job.finalize();
}
