// Measures one kernel a PE. The rows are mailboxes in one direction between two PEs, sync and barrier, an
// atomic, and small collectives. Bare flags between the same addresses are in flag.cu. PE 0 prints one line
// of JSON a row.
#include "harness.cuh"

#include "atoll/device/device.hpp"

namespace {

namespace device = atl::device;
using bench::Bench;
using bench::Word;
using device::Team;

template <class Scope, int Most>
__global__ void __launch_bounds__(Most, 1)
    mailboxes(Team team, device::Mailbox box, char* dst, const char* src, std::size_t bytes, int rounds) {
    const int peer = 1 - team.my_pe;
    const Scope scope{};
    device::Outbox<Scope> out(team, box, peer, scope);
    device::Inbox<Scope> in(team, box, peer, scope);
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) out.post(src, bytes);
        in.receive(dst, bytes);
        if (team.my_pe == 1) out.post(src, bytes);
    }
    out.close();
    in.close();
}

/// The same by the functions, whose counters are in memory between the calls.
__global__ void posts(Team team, device::Mailbox box, char* dst, const char* src, std::size_t bytes,
                      int rounds) {
    const int peer = 1 - team.my_pe;
    const device::Warp scope;
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) device::post(team, box, src, bytes, peer, scope);
        device::receive(team, box, dst, bytes, peer, scope);
        if (team.my_pe == 1) device::post(team, box, src, bytes, peer, scope);
    }
}

__global__ void syncs(Team team, device::Order order, int rounds) {
    device::Meeting<device::Block> meeting(team);
    for (int i = 0; i < rounds; ++i) meeting.sync(order);
    meeting.close();
}

__global__ void barriers(Team team, Word* data, int rounds) {
    device::Meeting<device::Block> meeting(team);
    for (int i = 0; i < rounds; ++i) {
        device::p(team, data + device::Block{}.rank(), static_cast<Word>(i), (team.my_pe + 1) % team.n_pes);
        meeting.sync();
    }
    meeting.close();
}

/// The same by the function, whose count is in memory between the calls.
__global__ void syncs_by_function(Team team, int rounds) {
    for (int i = 0; i < rounds; ++i) device::sync(team, device::Block{});
}

/// The time to reach a word depends on its address. So rounds use words at 16 places in turn.
__device__ Word* place(Word* words, int round) { return words + round % 16 * ((4096 + 64) / sizeof(Word)); }

__global__ void fetch_adds(Team team, Word* words, int rounds) {
    Word sum = 0;
    if (team.my_pe == 0)
        for (int i = 0; i < rounds; ++i)
            sum += device::atomic_fetch_add(team, place(words, i), 1 + (sum & 1), 1);
    if (sum == 1) *words = sum;
}

/// The same on an address that the host computed: the baseline.
__global__ void bare_fetch_adds(int me, Word* theirs, Word* out, int rounds) {
    Word sum = 0;
    if (me == 0)
        for (int i = 0; i < rounds; ++i) {
            Word before;
            asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], %2;"
                         : "=l"(before)
                         : "l"(place(theirs, i)), "l"(1 + (sum & 1))
                         : "memory");
            sum += before;
        }
    if (sum == 1) *out = sum;
}

__global__ void reduces(Team team, float* dst, const float* src, std::size_t count, int rounds) {
    for (int i = 0; i < rounds; ++i) device::reduce(team, dst, src, count, device::Sum{}, device::Block{});
}

/// Measures `launch`, a round of which makes `calls` calls. For times in one direction that is 2, because
/// both PEs take part in a round.
template <class Launch>
void each(Bench& b, const char* operation, std::size_t bytes, int calls, Launch launch,
          const char* side = "atoll") {
    std::vector<double> us;
    constexpr int rounds = 2000;
    for (int i = 0; i < bench::batches + 2; ++i) {
        b.job.world().barrier();
        const bool takes_part = calls == 1 || b.paired();
        const double total =
            takes_part ? b.timer.us([&](cudaStream_t stream) { launch(stream, rounds); }) : 0;
        if (i >= 2) us.push_back(total / rounds / calls);
    }
    if (b.job.my_pe() == 0) bench::report(side, operation, bytes, b.job.n_pes(), us);
}

void measure_mailboxes(Bench& b) {
    constexpr std::size_t room = 16384;
    const std::size_t needed = device::mailbox_bytes(b.job.n_pes(), room);
    const device::Mailbox box{static_cast<char*>(b.job.calloc(1, needed, atl::Memory::device)), room};
    char* to = b.target();
    const char* from = b.target() + bench::most;
    each(b, "mailbox, thread", 8, 2, [&](cudaStream_t s, int rounds) {
        mailboxes<device::Thread, 32><<<1, 1, 0, s>>>(b.team, box, to, from, 8, rounds);
    });
    each(b, "post and receive, warp", 8, 2,
         [&](cudaStream_t s, int rounds) { posts<<<1, 32, 0, s>>>(b.team, box, to, from, 8, rounds); });
    each(b, "mailbox, warp", 8, 2, [&](cudaStream_t s, int rounds) {
        mailboxes<device::Warp, 32><<<1, 32, 0, s>>>(b.team, box, to, from, 8, rounds);
    });
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, room}) {
        const unsigned threads = bytes == 8 ? 32 : bytes == 1024 ? 128 : 1024;
        each(b, "mailbox, block", bytes, 2, [&](cudaStream_t s, int rounds) {
            mailboxes<device::Block, 1024><<<1, threads, 0, s>>>(b.team, box, to, from, bytes, rounds);
        });
    }
    b.job.free(box.block);
}

void measure(Bench& b) {
    measure_mailboxes(b);
    each(b, "sync, block", 0, 1, [&](cudaStream_t s, int rounds) {
        syncs<<<1, 32, 0, s>>>(b.team, device::Order::acquire_release, rounds);
    });
    each(b, "sync by the function, block", 0, 1,
         [&](cudaStream_t s, int rounds) { syncs_by_function<<<1, 32, 0, s>>>(b.team, rounds); });
    each(b, "sync relaxed, block", 0, 1,
         [&](cudaStream_t s, int rounds) { syncs<<<1, 32, 0, s>>>(b.team, device::Order::relaxed, rounds); });
    each(b, "barrier after 8 B a thread, block", 0, 1, [&](cudaStream_t s, int rounds) {
        barriers<<<1, 32, 0, s>>>(b.team, reinterpret_cast<Word*>(b.target()), rounds);
    });
    each(b, "atomic_fetch_add", 8, 1, [&](cudaStream_t s, int rounds) {
        fetch_adds<<<1, 1, 0, s>>>(b.team, reinterpret_cast<Word*>(b.target()), rounds);
    });
    Word* const theirs = b.job.context().ptr(reinterpret_cast<Word*>(b.target()), b.team.my_pe == 0 ? 1 : 0);
    each(
        b, "atomic_fetch_add", 8, 1,
        [&](cudaStream_t s, int rounds) {
            bare_fetch_adds<<<1, 1, 0, s>>>(b.team.my_pe, theirs, b.flag(), rounds);
        },
        "bare");
    auto* sum = reinterpret_cast<float*>(b.target());
    const auto* part = reinterpret_cast<const float*>(b.target() + bench::most);
    for (const std::size_t count : {std::size_t{2}, std::size_t{512}, std::size_t{16384}}) {
        const unsigned threads = count < 1024 ? 256 : 1024;
        each(b, "reduce float, block", 4 * count, 1, [&](cudaStream_t s, int rounds) {
            reduces<<<1, threads, 0, s>>>(b.team, sum, part, count, rounds);
        });
    }
}

}  // namespace

int main() { return bench::run(measure); }
