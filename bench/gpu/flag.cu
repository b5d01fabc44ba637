// Measures flags and put_signal in one direction between the kernels of two PEs. The baseline is bare stores
// and loads between the same addresses in the same run. PE 0 prints one line of JSON a row.
#include "harness.cuh"

#include "atoll/device/device.hpp"

namespace {

namespace device = atl::device;
using bench::Bench;
using bench::most;
using bench::Word;
using device::Team;

enum class Loads { relaxed, acquiring, of_library };

/// A ping-pong. Each half is bare, or a function of the library.
template <bool BareStore, Loads By>
__global__ void flags(Team team, Word* mine, Word* theirs, Word from, int rounds) {
    const auto send = [&](Word i) {
        if (BareStore)
            asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(theirs), "l"(i) : "memory");
        else
            device::p(team, mine, i, 1 - team.my_pe);
    };
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) send(i);
        Word seen = 0;
        if (By == Loads::relaxed) {
            do asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(mine) : "memory");
            while (seen < i);
        } else if (By == Loads::acquiring) {
            do asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(mine) : "memory");
            while (seen < i);
        } else {
            device::signal_wait_until(team, mine, device::Compare::ge, i);
        }
        if (team.my_pe == 1) send(i);
    }
}

__global__ void put_signals(Team team, char* dst, const char* src, std::size_t bytes, Word* flag, Word from,
                            int rounds) {
    const int peer = 1 - team.my_pe;
    const device::Block block;
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) device::put_signal(team, dst, src, bytes, flag, i, peer, block);
        device::signal_wait_until(team, flag, device::Compare::ge, i, block);
        if (team.my_pe == 1) device::put_signal(team, dst, src, bytes, flag, i, peer, block);
    }
}

/// A put_signal written by hand: stores, a fence by one thread, a flag.
__global__ void fenced_flags(Team team, char* dst, const char* src, std::size_t bytes, Word* flag, Word from,
                             int rounds) {
    const int peer = 1 - team.my_pe;
    const device::Block block;
    const auto send = [&](Word i) {
        device::put(team, dst, src, bytes, peer, block);
        if (block.rank() == 0) {
            __threadfence_system();
            device::p(team, flag, i, peer);
        }
    };
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) send(i);
        device::signal_wait_until(team, flag, device::Compare::ge, i, block);
        if (team.my_pe == 1) send(i);
    }
}

/// Sends data of shared memory: by stores of threads and put_signal, or by a bulk copy, its completion and a
/// flag.
template <bool Bulk>
__global__ void shared_signals(Team team, char* dst, std::size_t bytes, Word* flag, Word from, int rounds) {
    extern __shared__ __align__(16) char staged[];
    const int peer = 1 - team.my_pe;
    const device::Block block;
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) staged[i] = static_cast<char>(i);
    const auto send = [&](Word i) {
        if (!Bulk) return device::put_signal(team, dst, staged, bytes, flag, i, peer, block);
        device::async_put(team, dst, staged, bytes, peer, block);
        device::detail::complete_bulk();
        if (block.rank() == 0) device::signal_set(team, flag, i, peer);
    };
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) send(i);
        device::signal_wait_until(team, flag, device::Compare::ge, i, block);
        if (team.my_pe == 1) send(i);
    }
}

/// Sends each block's shared memory repeatedly, without other loads.
template <bool Bulk> __global__ void shared_puts(Team team, char* dst, std::size_t bytes, unsigned part) {
    extern __shared__ __align__(16) char staged[];
    const device::Block block;
    for (std::size_t at = blockIdx.x * std::size_t{part}; at + part <= bytes;
         at += gridDim.x * std::size_t{part})
        if (Bulk)
            device::async_put(team, dst + at, staged, part, 1 - team.my_pe, block);
        else
            device::put(team, dst + at, staged, part, 1 - team.my_pe, block);
    device::quiet(team, block);
}

__global__ void puts(Team team, char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x;
    device::put(team, dst + blockIdx.x * part, src + blockIdx.x * part, part, 1 - team.my_pe,
                device::Block{});
}

__global__ void gets(Team team, char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x;
    device::get(team, dst + blockIdx.x * part, src + blockIdx.x * part, part, 1 - team.my_pe,
                device::Block{});
}

void measure(Bench& b) {
    const int peer = b.team.my_pe == 0 ? 1 : 0;
    const auto flags_by = [&](auto kernel) {
        return [&b, peer, kernel](cudaStream_t s, std::size_t offset, Word from, int rounds) {
            Word* mine = reinterpret_cast<Word*>(b.block + offset);
            kernel<<<1, 1, 0, s>>>(b.team, mine, b.job.context().ptr(mine, peer), from, rounds);
        };
    };
    b.one_way_of_flags("bare", "flag one way", flags_by(flags<true, Loads::relaxed>));
    b.one_way_of_flags("bare", "flag one way (acquiring loads)", flags_by(flags<true, Loads::acquiring>));
    b.one_way_of_flags("atoll", "flag one way (p, signal_wait_until)",
                       flags_by(flags<false, Loads::of_library>));
    b.one_way_of_flags("atoll", "flag one way (p, bare loads)", flags_by(flags<false, Loads::relaxed>));
    b.one_way_of_flags("atoll", "flag one way (bare store, signal_wait_until)",
                       flags_by(flags<true, Loads::of_library>));
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{16384}}) {
        const unsigned threads = bytes < 1024 ? 32 : bytes == 1024 ? 64 : 1024;
        b.one_way("bare", "store, fence, flag, block", bytes, [&](cudaStream_t s, Word from, int rounds) {
            fenced_flags<<<1, threads, 0, s>>>(b.team, b.target(), b.target() + most, bytes, b.flag(), from,
                                               rounds);
        });
        b.one_way("atoll", "put_signal, block", bytes, [&](cudaStream_t s, Word from, int rounds) {
            put_signals<<<1, threads, 0, s>>>(b.team, b.target(), b.target() + most, bytes, b.flag(), from,
                                              rounds);
        });
    }
    for (const std::size_t bytes : {std::size_t{1024}, std::size_t{16384}}) {
        const unsigned threads = bytes == 1024 ? 64 : 1024;
        b.one_way("atoll", "put_signal from shared memory, block", bytes,
                  [&](cudaStream_t s, Word from, int rounds) {
                      shared_signals<false>
                          <<<1, threads, bytes, s>>>(b.team, b.target(), bytes, b.flag(), from, rounds);
                  });
        b.one_way("atoll", "async_put, its end, signal_set, block", bytes,
                  [&](cudaStream_t s, Word from, int rounds) {
                      shared_signals<true>
                          <<<1, threads, bytes, s>>>(b.team, b.target(), bytes, b.flag(), from, rounds);
                  });
    }
    constexpr std::size_t large = std::size_t{64} << 20;
    for (const unsigned blocks : {8u, 16u, 32u, 132u}) {
        constexpr unsigned part = 32768;
        const std::string where = " of shared memory, " + std::to_string(blocks) + " blocks";
        b.bandwidth(("put" + where).c_str(), large, [&](cudaStream_t s) {
            shared_puts<false><<<blocks, 1024, part, s>>>(b.team, b.target(), large, part);
        });
        b.bandwidth(("async_put" + where).c_str(), large, [&](cudaStream_t s) {
            shared_puts<true><<<blocks, 1024, part, s>>>(b.team, b.target(), large, part);
        });
    }
    for (const unsigned blocks : {8u, 16u, 32u}) {
        const std::string put = "put in a kernel, " + std::to_string(blocks) + " blocks";
        const std::string get = "get in a kernel, " + std::to_string(blocks) + " blocks";
        b.bandwidth(put.c_str(), large, [&](cudaStream_t s) {
            puts<<<blocks, 1024, 0, s>>>(b.team, b.target(), b.target() + large, large);
        });
        b.bandwidth(get.c_str(), large, [&](cudaStream_t s) {
            gets<<<blocks, 1024, 0, s>>>(b.team, b.target() + large, b.target(), large);
        });
    }
}

}  // namespace

int main() { return bench::run(measure); }
